#include "experiments/lossless/sampled.h"

#include <cmath>
#include <map>
#include <memory>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/model/table_model.h"
#include "core/verify/registry.h"
#include "drafters/registry.h"
#include "experiments/base/progress.h"
#include "experiments/lossless/faulty_rules.h"

namespace forerun {
namespace {

constexpr int kVocab = 6, kTokens = 6, kDraftTokens = 3;
constexpr int kCounted[] = {0, 1, kTokens - 1};
// The tables are the same whatever the seed of the draws: on these the controls' mistakes are large enough.
constexpr uint64_t kTables = 20231;
const std::vector<TokenId>& Prompt() {
  static const std::vector<TokenId>& prompt = *new std::vector<TokenId>{1, 3};
  return prompt;
}

struct NamedSampling {
  const char* name;
  Sampling sampling;
};

std::vector<NamedSampling> Samplings(uint64_t seed) {
  return {{"temperature 1", {.temperature = 1, .seed = seed}},
          {"warped", {.temperature = 0.7f, .top_k = 4, .top_p = 0.9f, .seed = seed}}};
}

// The target's law of each emitted token: the table depends on the last two tokens, so laws over pairs go on
// from token to token.
std::vector<std::vector<double>> TokenLaws(const ContextTable& table, const Sampling& sampling) {
  std::vector<std::vector<double>> laws;
  std::map<std::vector<TokenId>, double> contexts = {{Prompt(), 1.0}};
  for (int index = 0; index < kTokens; ++index) {
    std::vector<double> law(kVocab, 0.0);
    std::map<std::vector<TokenId>, double> next_contexts;
    for (const auto& [context, mass] : contexts) {
      std::vector<float> logits;
      for (const double p : table.Row(context)) logits.push_back(static_cast<float>(std::log(p)));
      const Distribution p = Distribution::FromLogits(logits, sampling, {});
      for (const TokenId token : p.tokens()) {
        law[token] += mass * p[token];
        next_contexts[{context.back(), token}] += mass * p[token];
      }
    }
    laws.push_back(std::move(law));
    contexts = std::move(next_contexts);
  }
  return laws;
}

std::vector<PlaceLaw> CountedLaws(const ContextTable& table, const Sampling& sampling) {
  const std::vector<std::vector<double>> laws = TokenLaws(table, sampling);
  std::vector<PlaceLaw> counted;
  for (const int place : kCounted) counted.push_back({place, laws[place]});
  return counted;
}

class Laboratory {
 public:
  Laboratory(const SampledPlan& plan, std::unique_ptr<KvPool> pool)
      : plan_(plan),
        pool_(std::move(pool)),
        target_(*pool_, ContextTable::Random(kVocab, 2, kTables, /*zeros=*/true)),
        draft_(*pool_, ContextTable::Random(kVocab, 1, kTables + 1)) {}

  absl::Status Run() {
    ShareProgress progress("counts on tables");
    double done = 0;
    for (const DrafterInfo& info : ListDrafters()) {
      progress.Show(done++ / static_cast<double>(ListDrafters().size()));
      if (plan_.drafter.empty() || plan_.drafter == info.key) FORERUN_RETURN_IF_ERROR(RunDrafter(info));
    }
    FORERUN_RETURN_IF_ERROR(RunControls());
    progress.Finish();
    return absl::OkStatus();
  }

  SampledReport TakeReport() {
    report_.texts = plan_.texts;
    report_.seed = plan_.seed;
    report_.cells = kVocab;
    return std::move(report_);
  }

 private:
  absl::StatusOr<std::unique_ptr<Drafter>> Make(const char* key, const char* sample) {
    Json options = {{"type", key}};
    if (*sample != '\0') options["sample"] = sample;
    return MakeDrafter(options, {.target = &target_, .draft = &draft_, .pool = pool_.get()});
  }

  // Every kind of draft sampling that the drafter knows, under every rule that keeps the law for it.
  absl::Status RunDrafter(const DrafterInfo& info) {
    if (info.needs_files()) {  // tables have no such thing
      report_.left_out.push_back(absl::StrCat(info.key, " (needs ", NeedsText(info.needs), ")"));
      return absl::OkStatus();
    }
    for (const char* sample : {"", "sampled", "coupled"}) {
      const absl::StatusOr<std::unique_ptr<Drafter>> drafter = Make(info.key, sample);
      if (!drafter.ok() && *sample != '\0') continue;  // it has no such option
      FORERUN_RETURN_IF_ERROR(drafter.status());
      const std::string name = absl::StrCat(info.key, *sample == '\0' ? "" : " ", sample);
      for (const RuleInfo& rule_info : ListRules()) {
        if (!plan_.rule.empty() && plan_.rule != rule_info.name) continue;
        FORERUN_ASSIGN_OR_RETURN(const std::unique_ptr<Verifier> rule, MakeRule(rule_info.name));
        for (const NamedSampling& named : Samplings(plan_.seed)) {
          if (!rule->KeepsLaw(KindOfDrafts(drafter->get(), named.sampling), named.sampling)) continue;
          FORERUN_RETURN_IF_ERROR(Measure({.drafter = name, .rule = rule_info.name, .sampling = named.name},
                                          **drafter, *rule, named.sampling));
        }
      }
    }
    return absl::OkStatus();
  }

  // The oracle's drafts all stand, so that every second token is a bonus.
  absl::Status RunControls() {
    FORERUN_ASSIGN_OR_RETURN(const std::unique_ptr<Drafter> model, Make("draft_model", "sampled"));
    FORERUN_ASSIGN_OR_RETURN(const std::unique_ptr<Drafter> oracle, Make("oracle", ""));
    FaultyRejection from_p, unwarped;
    from_p.draws_correction_from_p = true;
    unwarped.unwarped_bonus = true;
    FaultyBlock token_wise;
    token_wise.token_wise = token_wise.unscaled_residual = true;
    const RedrawnTarget redrawn;
    struct Mistake {
      const char* name;
      const Verifier* rule;
      Drafter* drafter;
      int draft_tokens;
    };
    const NamedSampling warped = Samplings(plan_.seed)[1];
    for (const Mistake& mistake :
         {Mistake{"rejection, correction drawn from p", &from_p, model.get(), kDraftTokens},
          Mistake{"rejection, bonus not warped", &unwarped, oracle.get(), 1},
          Mistake{"block, token-wise and unscaled", &token_wise, model.get(), kDraftTokens},
          Mistake{"tree_target_only, next token redrawn", &redrawn, model.get(), kDraftTokens}}) {
      SampledRow row = {.drafter = std::string(mistake.drafter->name()),
                        .rule = mistake.name,
                        .sampling = warped.name,
                        .control = true};
      draft_tokens_ = mistake.draft_tokens;
      FORERUN_RETURN_IF_ERROR(Measure(std::move(row), *mistake.drafter, *mistake.rule, warped.sampling));
    }
    return absl::OkStatus();
  }

  absl::Status Measure(SampledRow row, Drafter& drafter, const Verifier& rule, const Sampling& sampling) {
    Request request;
    request.prompt = Prompt();
    request.drafter = &drafter;
    request.verifier = &rule;
    request.num_speculative_tokens = draft_tokens_;
    request.sampling = sampling;
    request.max_new_tokens = kTokens;
    FORERUN_ASSIGN_OR_RETURN(const std::vector<RequestResult> results,
                             WriteTexts(target_, *pool_, request, plan_.texts));
    CountTokens(results, CountedLaws(target_.table(), sampling), row);
    report_.rows.push_back(std::move(row));
    return absl::OkStatus();
  }

  SampledPlan plan_;
  std::unique_ptr<KvPool> pool_;
  TableModel target_, draft_;
  int draft_tokens_ = kDraftTokens;
  SampledReport report_;
};

}  // namespace

absl::StatusOr<SampledReport> RunSampledLaws(const SampledPlan& plan) {
  FORERUN_ASSIGN_OR_RETURN(std::unique_ptr<KvPool> pool,
                           KvPool::Create({.budget_bytes = 8 << 20, .slab_bytes = 1 << 16}));
  Laboratory laboratory(plan, std::move(pool));
  FORERUN_RETURN_IF_ERROR(laboratory.Run());
  return laboratory.TakeReport();
}

}  // namespace forerun
