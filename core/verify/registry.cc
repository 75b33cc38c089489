// A rule's parameters are those of its defaults: options are laid over them and read strictly.
#include "core/verify/registry.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "core/verify/rules.h"

namespace forerun {
namespace {

struct Entry {
  RuleInfo info;
  std::unique_ptr<Verifier> (*make)(ObjectReader& options);
};

constexpr Entry kEntries[] = {
    {{"greedy", "accepts what equals the target's best token; any draft, temperature 0", "{}"}, MakeGreedy},
    {{"exact_match", "draws the target's token and accepts what equals it; keeps plain sampling's text",
      "{}"},
     MakeExactMatch},
    {{"rejection", "speculative sampling: accepts with min(1, p/q), else draws from the residual; chains",
      "{}"},
     MakeRejection},
    {{"block", "judges a whole chain at once: accepts at least as much as rejection; chains", "{}"},
     MakeBlock},
    {{"tree_target_only", "draws the target's token among the children of each node; q is never read", "{}"},
     MakeTreeTargetOnly},
    {{"tree_recursive", "tries the children of a node one by one, each against what the ones before left",
      "{}"},
     MakeTreeRecursive},
    {{"k_seq", "tries independent draws against p / rho, with the best rho; sampled drafts", "{}"}, MakeKSeq},
    {{"traversal", "judges a tree from its leaves to its root; on chains the same as block", "{}"},
     MakeTraversal},
    {{"typical", "lossy: accepts what the target finds likely enough for its entropy (Medusa)",
      R"({"epsilon": 0.09, "delta": 0.3})"},
     MakeTypical},
    {{"relaxed", "lossy: accepts what is among the target's top_k and within a ratio of its best",
      R"({"top_k": 5, "ratio": 0.3})"},
     MakeRelaxed},
    {{"synthetic", "for timing only: accepts by depth with the given probabilities, whatever was drafted",
      R"({"acceptance": [0.7]})"},
     MakeSynthetic},
};

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const Entry& entry : kEntries) names.emplace_back(entry.info.name);
  return names;
}

// The options with every parameter of their rule; parameters that the rule does not have stay, to be refused.
absl::StatusOr<Json> WithDefaults(const Json& options, absl::string_view where) {
  const Json given = options.is_string() ? Json{{"rule", options}} : options;
  const Json name =
      given.is_object() && given.contains("rule") ? Json{{"rule", given["rule"]}} : Json::object();
  ObjectReader reader(given.is_object() ? name : given, where);
  const std::string rule = reader.Choice("rule", "", Names());
  if (!reader.Has("rule")) reader.Fail("rule", "the name of a rule (see `forerun list rules`)");
  FORERUN_RETURN_IF_ERROR(reader.Finish());
  Json all = {{"rule", rule}};
  for (const Entry& entry : kEntries) {
    if (rule == entry.info.name) all.update(*ParseJson(entry.info.parameters, rule));
  }
  all.update(given);
  return all;
}

std::string Refusal(const Verifier& rule, absl::string_view draft, const Sampling& sampling) {
  return absl::StrCat("rule \"", rule.name(), "\" keeps the target's law for ", rule.kept_for(), ", not for ",
                      draft, " at temperature ", sampling.temperature);
}

// The names, quoted, of the rules that keep the law here.
std::vector<std::string> RulesFor(const DraftKind& kind, const Sampling& sampling) {
  std::vector<std::string> names;
  for (const Entry& entry : kEntries) {
    const absl::StatusOr<std::unique_ptr<Verifier>> rule = MakeRule(entry.info.name);
    FORERUN_CHECK(rule.ok());
    if ((*rule)->KeepsLaw(kind, sampling)) names.push_back(absl::StrCat("\"", entry.info.name, "\""));
  }
  return names;
}

}  // namespace

const std::vector<RuleInfo>& ListRules() {
  static const std::vector<RuleInfo>& list = *[] {
    auto* infos = new std::vector<RuleInfo>;
    for (const Entry& entry : kEntries) infos->push_back(entry.info);
    return infos;
  }();
  return list;
}

absl::StatusOr<std::unique_ptr<Verifier>> MakeRule(const Json& options, absl::string_view where) {
  FORERUN_ASSIGN_OR_RETURN(const Json all, WithDefaults(options, where));
  ObjectReader reader(all, where);
  const std::string name = reader.RequiredString("rule");
  for (const Entry& entry : kEntries) {
    if (name != entry.info.name) continue;
    std::unique_ptr<Verifier> rule = entry.make(reader);
    FORERUN_RETURN_IF_ERROR(reader.Finish());
    return rule;
  }
  FORERUN_CHECK(false);  // WithDefaults knows the same names
}

absl::StatusOr<Json> ResolveRule(const Json& options, absl::string_view where) {
  FORERUN_RETURN_IF_ERROR(MakeRule(options, where).status());
  return WithDefaults(options, where);
}

std::string DefaultRule(const DraftKind& kind, const Sampling& sampling) {
  for (const char* name : {"greedy", "rejection", "tree_recursive"}) {
    const absl::StatusOr<std::unique_ptr<Verifier>> rule = MakeRule(name);
    FORERUN_CHECK(rule.ok());
    if ((*rule)->KeepsLaw(kind, sampling)) return name;
  }
  FORERUN_CHECK(false);  // tree_recursive fits every draft
}

absl::Status CheckPairing(const Verifier& rule, const DraftKind& kind, const Sampling& sampling) {
  if (rule.aim() != Law::kExact || rule.KeepsLaw(kind, sampling)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(Refusal(rule, absl::StrCat("a ", Describe(kind)), sampling),
                                                 "; use one of ",
                                                 absl::StrJoin(RulesFor(kind, sampling), ", ")));
}

absl::Status CheckFitsSome(const Verifier& rule, const Sampling& sampling) {
  for (const Proposal proposal :
       {Proposal::kDeterministic, Proposal::kSampled, Proposal::kSampledWithoutReplacement}) {
    if (CheckPairing(rule, {.proposal = proposal}, sampling).ok()) return absl::OkStatus();
  }
  return absl::InvalidArgumentError(Refusal(rule, "any", sampling));
}

}  // namespace forerun
