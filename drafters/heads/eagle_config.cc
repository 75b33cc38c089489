#include "drafters/heads/eagle_config.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace forerun {
namespace {

constexpr int64_t kMost = int64_t{1} << 24;

// Reads what it knows of an object and passes over the rest: a model's config.json holds much that says
// nothing about its shape.
class ConfigReader {
 public:
  ConfigReader(const Json& config, absl::string_view where) : config_(config), where_(where) {}

  const Json* Find(absl::string_view key) const {
    const auto found = config_.find(std::string(key));
    return found == config_.end() || found->is_null() ? nullptr : &*found;
  }
  int Count(absl::string_view key, int64_t otherwise) {
    const Json* value = Find(key);
    if (value == nullptr && otherwise > 0) return static_cast<int>(otherwise);
    const bool good = value != nullptr && value->is_number_integer() && *value >= 1 && *value <= kMost;
    if (!good) Fail(key, absl::StrCat("a whole number from 1 to ", kMost), value);
    return good ? value->get<int>() : 1;
  }
  double Number(absl::string_view key, double otherwise) {
    const Json* value = Find(key);
    if (value == nullptr) return otherwise;
    const bool good = value->is_number() && value->get<double>() > 0 && value->get<double>() < 1e12;
    if (!good) Fail(key, "a number above 0", value);
    return good ? value->get<double>() : otherwise;
  }
  bool Bool(absl::string_view key, bool otherwise) {
    const Json* value = Find(key);
    if (value == nullptr) return otherwise;
    if (!value->is_boolean()) Fail(key, "true or false", value);
    return value->is_boolean() ? value->get<bool>() : otherwise;
  }
  void Fail(absl::string_view key, absl::string_view expected, const Json* found) {
    if (!status_.ok()) return;
    status_ = absl::InvalidArgumentError(absl::StrCat(where_, ".", key, ": expected ", expected, ", found ",
                                                      found == nullptr ? "none" : DumpJson(*found)));
  }
  const absl::Status& status() const { return status_; }

 private:
  const Json& config_;
  std::string where_;
  absl::Status status_;
};

const Json& ObjectOr(const ConfigReader& reader, absl::string_view key, const Json& otherwise) {
  const Json* found = reader.Find(key);
  return found != nullptr && found->is_object() ? *found : otherwise;
}

void ReadRope(ConfigReader& reader, absl::string_view where, EagleConfig* config) {
  const Json none = Json::object();
  ConfigReader parameters(ObjectOr(reader, "rope_parameters", none), where);
  config->rope_base = static_cast<float>(reader.Number("rope_theta", parameters.Number("rope_theta", 10000)));
  const Json* scaling = reader.Find("rope_scaling");
  if (scaling == nullptr) scaling = reader.Find("rope_parameters");
  if (scaling == nullptr) return;
  const ConfigReader scaling_reader(scaling->is_object() ? *scaling : none, where);
  const Json* type = scaling_reader.Find("rope_type");
  if (type == nullptr) type = scaling_reader.Find("type");
  if (type == nullptr && scaling->is_object()) return;
  if (type != nullptr && *type == "linear") {
    config->rope_scale = static_cast<float>(1 / ConfigReader(*scaling, where).Number("factor", 1));
  } else if (type == nullptr || *type != "default") {
    reader.Fail("rope_scaling", "none or linear", scaling);
  }
}

void ReadTaps(ConfigReader& reader, const Json& own, int layers, EagleConfig* config) {
  constexpr char kIds[] = "eagle_aux_hidden_state_layer_ids";
  const Json* ids = reader.Find(kIds);
  if (ids == nullptr && own.contains(kIds)) ids = &own[kIds];
  if (ids == nullptr) {
    config->taps = {2, layers / 2, layers - 3};
    if (layers < 3) reader.Fail(kIds, "three layers, as the target has fewer than three", nullptr);
    return;
  }
  const bool good =
      ids->is_array() && ids->size() == 3 && std::all_of(ids->begin(), ids->end(), [&](const Json& id) {
        return id.is_number_integer() && id >= 0 && id < layers;
      });
  if (!good) return reader.Fail(kIds, absl::StrCat("three layers of ", layers), ids);
  for (const Json& id : *ids) config->taps.push_back(id.get<int>() + (config->from_speculators ? 0 : 1));
}

}  // namespace

absl::StatusOr<EagleConfig> ReadEagleConfig(const Json& json, absl::string_view where, bool is_eagle3,
                                            int target_layers) {
  const Json none = Json::object();
  ConfigReader outer(json, where);
  EagleConfig config;
  config.from_speculators = json.contains("speculators_model_type");
  const std::string inner_where =
      config.from_speculators ? absl::StrCat(where, ".transformer_layer_config") : std::string(where);
  const Json& layer = config.from_speculators ? ObjectOr(outer, "transformer_layer_config", none) : json;
  ConfigReader reader(layer, inner_where);
  config.width = reader.Count("hidden_size", 0);
  config.ffn_width = reader.Count("intermediate_size", 0);
  config.heads = reader.Count("num_attention_heads", 0);
  config.kv_heads = reader.Count("num_key_value_heads", config.heads);
  config.head_size = reader.Count("head_dim", std::max(1, config.width / std::max(1, config.heads)));
  config.norm_epsilon = static_cast<float>(reader.Number("rms_norm_eps", 1e-6));
  ReadRope(reader, inner_where, &config);
  const Json* activation = reader.Find("hidden_act");
  if (activation != nullptr && *activation != "silu") reader.Fail("hidden_act", "silu", activation);
  if (config.heads % config.kv_heads != 0) {
    reader.Fail("num_key_value_heads", absl::StrCat("a divisor of ", config.heads),
                reader.Find("num_key_value_heads"));
  }
  if (config.head_size % 16 != 0) {
    reader.Fail("head_dim", "a multiple of 16", reader.Find("head_dim"));
  }
  FORERUN_RETURN_IF_ERROR(reader.status());

  const Json& own = ObjectOr(outer, "eagle_config", none);
  if (outer.Find("draft_vocab_size") != nullptr) config.draft_vocab = outer.Count("draft_vocab_size", 0);
  ConfigReader inner(own, absl::StrCat(where, ".eagle_config"));
  config.norm_before_residual = outer.Bool("norm_before_residual", inner.Bool("norm_before_residual", false));
  const bool norm_output = outer.Bool("norm_output", inner.Bool("norm_output", !config.from_speculators));
  (config.from_speculators ? config.feed_back_normed : config.norm_before_head) = norm_output;
  if (!inner.Bool("use_aux_hidden_state", true)) {
    inner.Fail("use_aux_hidden_state", "true", inner.Find("use_aux_hidden_state"));
  }
  FORERUN_RETURN_IF_ERROR(inner.status());
  if (is_eagle3) {
    ReadTaps(outer, own, target_layers, &config);
  } else {
    config.taps = {target_layers + 1};
  }
  FORERUN_RETURN_IF_ERROR(outer.status());
  return config;
}

}  // namespace forerun
