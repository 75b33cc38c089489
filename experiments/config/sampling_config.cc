#include "experiments/config/sampling_config.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace forerun {
namespace {

constexpr double kMany = 1e6;

// Shortest decimal that reads back as the same float: 0.8, not 0.800000011920929.
Json FloatJson(float value) {
  char text[64];
  for (int digits = 1; digits <= 9; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, static_cast<double>(value));
    if (std::strtof(text, nullptr) == value) break;
  }
  return std::strtod(text, nullptr);
}

// {"50256": -100} -> pairs of id and bias.
absl::Status ReadLogitBias(const Json* object, absl::string_view where, Sampling* sampling) {
  if (object == nullptr) return absl::OkStatus();
  for (const auto& member : object->items()) {
    TokenId token = -1;
    const bool is_id = absl::SimpleAtoi(member.key(), &token) && token >= 0;
    // "05" and "5" would be one token twice.
    if (!is_id || absl::StrCat(token) != member.key() || !member.value().is_number()) {
      return absl::InvalidArgumentError(absl::StrCat(where,
                                                     ".logit_bias: expected {\"token id\": number}, found \"",
                                                     member.key(), "\": ", DumpJson(member.value())));
    }
    sampling->logit_bias.emplace_back(token, member.value().get<float>());
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Sampling> ReadSampling(const Json& json, absl::string_view where) {
  Sampling sampling;
  ObjectReader reader(json, where);
  sampling.temperature = static_cast<float>(reader.Number("temperature", 0, 0, 100));
  sampling.top_k = static_cast<int>(reader.Int("top_k", 0, 0, 1 << 30));
  sampling.top_p = static_cast<float>(reader.Number("top_p", 1, 0, 1));
  sampling.min_p = static_cast<float>(reader.Number("min_p", 0, 0, 1));
  sampling.repetition_penalty = static_cast<float>(reader.Number("repetition_penalty", 1, 0, kMany));
  sampling.presence_penalty = static_cast<float>(reader.Number("presence_penalty", 0, -kMany, kMany));
  sampling.frequency_penalty = static_cast<float>(reader.Number("frequency_penalty", 0, -kMany, kMany));
  const Json* bias = reader.Object("logit_bias");
  sampling.seed = static_cast<uint64_t>(reader.Int("seed", 0, 0, std::numeric_limits<int64_t>::max()));
  FORERUN_RETURN_IF_ERROR(reader.Finish());
  FORERUN_RETURN_IF_ERROR(ReadLogitBias(bias, where, &sampling));
  return sampling;
}

Json SamplingJson(const Sampling& sampling) {
  Json json;
  json["temperature"] = FloatJson(sampling.temperature);
  json["top_k"] = sampling.top_k;
  json["top_p"] = FloatJson(sampling.top_p);
  json["min_p"] = FloatJson(sampling.min_p);
  json["repetition_penalty"] = FloatJson(sampling.repetition_penalty);
  json["presence_penalty"] = FloatJson(sampling.presence_penalty);
  json["frequency_penalty"] = FloatJson(sampling.frequency_penalty);
  json["logit_bias"] = Json::object();
  for (const auto& [token, bias] : sampling.logit_bias)
    json["logit_bias"][std::to_string(token)] = FloatJson(bias);
  json["seed"] = sampling.seed;
  return json;
}

}  // namespace forerun
