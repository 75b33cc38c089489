#include "drafters/heads/head_config.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace forerun {
namespace {

constexpr int kMost = 1 << 24;

void ReadRope(ConfigReader& reader, DraftLayerShape* shape) {
  const Json none = Json::object();
  const Json& parameters = reader.ObjectOr("rope_parameters", none);
  ConfigReader inner(parameters, "");
  const double base = inner.Number("rope_theta", 10000);
  if (!inner.status().ok()) reader.Fail("rope_parameters", "a rope_theta above 0", &parameters);
  shape->rope_base = static_cast<float>(reader.Number("rope_theta", base));
  const Json* scaling = reader.Find("rope_scaling");
  if (scaling == nullptr) scaling = reader.Find("rope_parameters");
  if (scaling == nullptr) return;
  ConfigReader scaling_reader(scaling->is_object() ? *scaling : none, "");
  const Json* type = scaling_reader.Find("rope_type");
  if (type == nullptr) type = scaling_reader.Find("type");
  if (type == nullptr && scaling->is_object()) return;
  if (type != nullptr && *type == "linear") {
    shape->rope_scale = static_cast<float>(1 / scaling_reader.Number("factor", 1));
    if (!scaling_reader.status().ok()) reader.Fail("rope_scaling", "a factor above 0", scaling);
  } else if (type == nullptr || *type != "default") {
    reader.Fail("rope_scaling", "none or linear", scaling);
  }
}

}  // namespace

const Json* ConfigReader::Find(absl::string_view key) const {
  const auto found = config_.find(std::string(key));
  return found == config_.end() || found->is_null() ? nullptr : &*found;
}

const Json& ConfigReader::ObjectOr(absl::string_view key, const Json& otherwise) const {
  const Json* found = Find(key);
  return found != nullptr && found->is_object() ? *found : otherwise;
}

int ConfigReader::Int(absl::string_view key, int otherwise, int least, int most) {
  const Json* value = Find(key);
  if (value == nullptr && otherwise >= least) return otherwise;
  const bool good = value != nullptr && value->is_number_integer() && *value >= least && *value <= most;
  if (!good) Fail(key, absl::StrCat("a whole number from ", least, " to ", most), value);
  return good ? value->get<int>() : least;
}

int ConfigReader::Count(absl::string_view key, int otherwise) { return Int(key, otherwise, 1, kMost); }

double ConfigReader::Number(absl::string_view key, double otherwise) {
  const Json* value = Find(key);
  if (value == nullptr) return otherwise;
  const bool good = value->is_number() && value->get<double>() > 0 && value->get<double>() < 1e12;
  if (!good) Fail(key, "a number above 0", value);
  return good ? value->get<double>() : otherwise;
}

bool ConfigReader::Bool(absl::string_view key, bool otherwise) {
  const Json* value = Find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_boolean()) Fail(key, "true or false", value);
  return value->is_boolean() ? value->get<bool>() : otherwise;
}

void ConfigReader::Expect(absl::string_view key, const Json& value) {
  const Json* found = Find(key);
  if (found == nullptr || *found == value) return;
  Fail(key, value.is_string() ? value.get<std::string>() : DumpJson(value), found);
}

void ConfigReader::Fail(absl::string_view key, absl::string_view expected, const Json* found) {
  if (!status_.ok()) return;
  status_ = absl::InvalidArgumentError(absl::StrCat(where_, ".", key, ": expected ", expected, ", found ",
                                                    found == nullptr ? "none" : DumpJson(*found)));
}

DraftLayerShape ReadLayerShape(ConfigReader& reader) {
  DraftLayerShape shape;
  shape.width = reader.Count("hidden_size", 0);
  shape.input_width = shape.width;
  shape.ffn_width = reader.Count("intermediate_size", 0);
  shape.heads = reader.Count("num_attention_heads", 0);
  shape.kv_heads = reader.Count("num_key_value_heads", shape.heads);
  shape.head_size = reader.Count("head_dim", std::max(1, shape.width / std::max(1, shape.heads)));
  shape.rotary = shape.head_size;
  shape.norm_epsilon = static_cast<float>(reader.Number("rms_norm_eps", 1e-6));
  ReadRope(reader, &shape);
  reader.Expect("hidden_act", "silu");
  if (shape.heads % shape.kv_heads != 0) {
    reader.Fail("num_key_value_heads", absl::StrCat("a divisor of ", shape.heads),
                reader.Find("num_key_value_heads"));
  }
  if (shape.head_size % 16 != 0) reader.Fail("head_dim", "a multiple of 16", reader.Find("head_dim"));
  return shape;
}

}  // namespace forerun
