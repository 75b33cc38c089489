#include "experiments/config/arm_config.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/verify/registry.h"
#include "drafters/registry.h"
#include "experiments/config/sampling_config.h"

namespace forerun {
namespace {

constexpr char kLength[] = "num_speculative_tokens";

std::vector<std::string> DrafterTypes() {
  std::vector<std::string> types;
  for (const DrafterInfo& info : ListDrafters()) types.emplace_back(info.key);
  return types;
}

// The engine's part of the "drafter" object; the drafter reads the rest itself. `none` has no rest.
absl::Status ReadDrafter(const Json& json, const std::string& where, ArmConfig* arm) {
  Json engine_part = Json::object();
  for (const auto& member : json.items()) {
    const bool is_ours = member.key() == "type" || !Nearest(member.key(), {kLength}).empty();
    if (is_ours || arm->drafter_type == "none") engine_part[member.key()] = member.value();
  }
  ObjectReader reader(engine_part, where);
  reader.Has("type");
  arm->num_speculative_tokens =
      static_cast<int>(reader.Int(kLength, arm->drafter_type == "none" ? 0 : 4, 0, 256));
  if (arm->drafter_type == "none" && arm->num_speculative_tokens > 0)
    reader.Fail(kLength, "0, as type is none");
  arm->drafter = json;
  arm->drafter.erase(kLength);
  return reader.Finish();
}

absl::Status ReadDrafterType(const Json& json, const std::string& where, ArmConfig* arm) {
  const Json type = json.contains("type") ? Json{{"type", json["type"]}} : Json::object();
  ObjectReader reader(type, where);
  arm->drafter_type = reader.Choice("type", "", DrafterTypes());
  if (!reader.Has("type")) reader.Fail("type", "the name of a drafter (see `forerun list drafters`)");
  return reader.Finish();
}

absl::Status ReadRule(const Json* json, const std::string& where, ArmConfig* arm) {
  Json options = json == nullptr ? Json::object() : *json;
  arm->rule_named = !options.is_object() || options.contains("rule");
  // Plain decoding at a temperature is exact_match over nothing: the keyed draws of plain sampling.
  const bool plain = !arm->sampling.greedy() && !arm->drafts();
  if (!arm->rule_named) options["rule"] = plain ? "exact_match" : DefaultRule({}, arm->sampling);
  FORERUN_ASSIGN_OR_RETURN(arm->verifier, ResolveRule(options, where));
  arm->rule = arm->verifier["rule"].get<std::string>();
  FORERUN_ASSIGN_OR_RETURN(const std::unique_ptr<Verifier> rule, MakeRule(arm->verifier, where));
  // Which drafts the arm's drafter will make is known only once it is made.
  const absl::Status fits = CheckFitsSome(*rule, arm->sampling);
  if (fits.ok()) return fits;
  return absl::InvalidArgumentError(absl::StrCat(where, ".rule: ", fits.message()));
}

}  // namespace

absl::StatusOr<ArmConfig> ReadArm(const Json& json, const std::string& where, const Sampling& sampling) {
  ArmConfig arm;
  ObjectReader reader(json, where);
  arm.name = reader.RequiredString("name");
  const Json* drafter = reader.Object("drafter");
  const Json* verifier = reader.Has("verifier") ? &json["verifier"] : nullptr;
  const Json* own_sampling = reader.Object("sampling");
  if (arm.name.find('/') != std::string::npos)
    reader.Fail("name", "a name without /");  // units: <prompt>/<arm>/<n>
  if (std::any_of(arm.name.begin(), arm.name.end(), absl::ascii_iscntrl))
    reader.Fail("name", "a name without control characters");
  if (drafter == nullptr) reader.Fail("drafter", "an object with \"type\"");
  FORERUN_RETURN_IF_ERROR(reader.Finish());

  Json merged = SamplingJson(sampling);
  if (own_sampling != nullptr) {
    for (const auto& member : own_sampling->items()) merged[member.key()] = member.value();
  }
  FORERUN_ASSIGN_OR_RETURN(arm.sampling, ReadSampling(merged, where + ".sampling"));
  arm.own_sampling = SamplingJson(arm.sampling) != SamplingJson(sampling);
  FORERUN_RETURN_IF_ERROR(ReadDrafterType(*drafter, where + ".drafter", &arm));
  FORERUN_RETURN_IF_ERROR(ReadDrafter(*drafter, where + ".drafter", &arm));
  FORERUN_RETURN_IF_ERROR(ReadRule(verifier, where + ".verifier", &arm));
  return arm;
}

Json ArmJson(const ArmConfig& arm) {
  Json json;
  json["name"] = arm.name;
  json["drafter"] = arm.drafter;
  json["drafter"][kLength] = arm.num_speculative_tokens;
  json["verifier"] = arm.verifier;
  if (arm.own_sampling) json["sampling"] = SamplingJson(arm.sampling);
  return json;
}

void ChooseRuleFor(const DraftKind& kind, ArmConfig* arm) {
  if (arm->rule_named || !arm->drafts()) return;
  const std::string rule = DefaultRule(kind, arm->sampling);
  if (rule == arm->rule) return;
  arm->rule = rule;
  arm->verifier["rule"] = rule;
}

bool NeedsDraftModel(const Json& drafter) {
  if (!drafter.is_object()) return false;
  const Json type = drafter.value("type", Json()), parts = drafter.value("parts", Json::array());
  for (const DrafterInfo& info : ListDrafters()) {
    if (type == info.key && info.needs_draft_model()) return true;
  }
  return std::any_of(parts.begin(), parts.end(), NeedsDraftModel);
}

}  // namespace forerun
