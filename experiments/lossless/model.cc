#include "experiments/lossless/model.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/model/partial_model.h"
#include "core/verify/registry.h"
#include "drafters/registry.h"
#include "experiments/base/progress.h"
#include "experiments/lossless/faulty_rules.h"
#include "experiments/lossless/plain_law.h"
#include "experiments/run/machine.h"

namespace forerun {
namespace {

// After these digits a model's few likeliest words are digits again, none of them far ahead.
constexpr char kPrompt[] = "0.11";
constexpr int kPlaces = 3;

Sampling SamplingOf(uint64_t seed) { return {.temperature = 1, .top_k = 8, .top_p = 0.9f, .seed = seed}; }
constexpr char kSamplingName[] = "temperature 1, top_k 8, top_p 0.9";

struct Drafting {
  std::string name;
  Json options;
  bool chain = true;
  int num_speculative_tokens = 2;
};

std::vector<Drafting> Draftings(int layers, const HeadsOf& heads) {
  const Json tree = {{"type", "static"}, {"widths", {2, 1}}};
  std::vector<Drafting> all = {
      {"early_exit sampled",
       {{"type", "early_exit"}, {"sample", "sampled"}, {"early_exit", {{"layers", layers}}}}},
      {"ngram", {{"type", "ngram"}}}};
  for (const char* sample : {"greedy", "sampled", "sampled_without_replacement"}) {
    all.push_back({absl::StrCat("draft_tree ", sample),
                   {{"type", "draft_tree"}, {"sample", sample}, {"tree", tree}},
                   /*chain=*/false,
                   /*num_speculative_tokens=*/4});
  }
  for (const auto& [drafter, folder] : heads) {
    all.push_back({drafter + " sampled",
                   {{"type", drafter},
                    {"heads", folder},
                    {"sample", "sampled"},
                    {"tree", {{"type", "static"}, {"widths", {1, 1}}}}}});
  }
  return all;
}

// Those that were made for such drafts; the laboratory on tables tries the others too.
std::vector<const char*> RulesFor(const Drafting& drafting) {
  if (drafting.chain) return {"rejection", "block", "exact_match"};
  return {"tree_target_only", "tree_recursive", "k_seq", "traversal"};
}

class Laboratory {
 public:
  Laboratory(const ModelLawPlan& plan, Machine& machine, ModelPair models)
      : plan_(plan),
        machine_(machine),
        models_(std::move(models)),
        layers_((5 * target().num_layers() + 5) / 6),
        first_layers_(target(), LayerSubset::First(target().num_layers(), layers_)) {}

  absl::StatusOr<SampledReport> Run() {
    FORERUN_ASSIGN_OR_RETURN(request_.prompt,
                             models_.target.tokenizer->Encode(kPrompt, {.add_special = true}));
    request_.sampling = SamplingOf(plan_.seed);
    request_.max_new_tokens = kPlaces;
    FORERUN_ASSIGN_OR_RETURN(
        const std::vector<std::vector<double>> laws,
        PlainTokenLaws(target(), machine_.pool(), request_.prompt, request_.sampling, kPlaces));
    report_.texts = plan_.texts;
    report_.seed = plan_.seed;
    for (int place = 0; place < kPlaces; ++place) {
      const int cells = static_cast<int>(
          std::count_if(laws[place].begin(), laws[place].end(), [](double p) { return p > 0; }));
      report_.cells = std::max(report_.cells, cells);
      laws_.push_back({place, laws[place]});
    }
    FORERUN_ASSIGN_OR_RETURN(const std::unique_ptr<Verifier> exact_match, MakeRule("exact_match"));
    FORERUN_RETURN_IF_ERROR(Measure({.drafter = "none", .rule = "exact_match"}, nullptr, *exact_match, 0));
    const std::vector<Drafting> draftings = Draftings(layers_, plan_.heads);
    for (std::size_t i = 0; i < draftings.size(); ++i) {
      FORERUN_RETURN_IF_ERROR(RunDrafting(draftings[i]));
      progress_.Show(static_cast<double>(i + 1) / static_cast<double>(draftings.size() + 1));
    }
    FORERUN_RETURN_IF_ERROR(RunControls(draftings));
    progress_.Finish();
    return std::move(report_);
  }

 private:
  Model& target() { return *models_.target.model; }

  absl::StatusOr<std::unique_ptr<Drafter>> Make(const Json& options) {
    return MakeDrafter(
        options,
        {.target = &target(),
         .draft = models_.draft ? static_cast<Model*>(models_.draft->model.get()) : &first_layers_,
         .pool = &machine_.pool(),
         .target_tokenizer = models_.target.tokenizer.get(),
         .draft_tokenizer = models_.draft ? models_.draft->tokenizer.get() : models_.target.tokenizer.get()});
  }

  absl::Status RunDrafting(const Drafting& drafting) {
    if (!plan_.drafter.empty() && drafting.options["type"] != plan_.drafter) return absl::OkStatus();
    FORERUN_ASSIGN_OR_RETURN(const std::unique_ptr<Drafter> drafter, Make(drafting.options));
    for (const char* name : RulesFor(drafting)) {
      if (!plan_.rule.empty() && plan_.rule != name) continue;
      FORERUN_ASSIGN_OR_RETURN(const std::unique_ptr<Verifier> rule, MakeRule(name));
      if (!rule->KeepsLaw(KindOfDrafts(drafter.get(), request_.sampling), request_.sampling)) continue;
      FORERUN_RETURN_IF_ERROR(Measure({.drafter = drafting.name, .rule = name}, drafter.get(), *rule,
                                      drafting.num_speculative_tokens));
    }
    return absl::OkStatus();
  }

  absl::Status RunControls(const std::vector<Drafting>& draftings) {
    FORERUN_ASSIGN_OR_RETURN(const std::unique_ptr<Drafter> chain, Make(draftings[0].options));
    FORERUN_ASSIGN_OR_RETURN(const std::unique_ptr<Drafter> tree, Make(draftings[2].options));
    FORERUN_ASSIGN_OR_RETURN(const std::unique_ptr<Drafter> oracle, Make({{"type", "oracle"}}));
    FaultyRejection from_p, unwarped;
    from_p.draws_correction_from_p = true;
    unwarped.unwarped_bonus = true;
    const RedrawnTarget redrawn;
    FORERUN_RETURN_IF_ERROR(MeasureMistake("rejection, correction drawn from p", *chain, from_p, 2));
    FORERUN_RETURN_IF_ERROR(MeasureMistake("rejection, bonus not warped", *oracle, unwarped, 1));
    return MeasureMistake("tree_target_only, next token redrawn", *tree, redrawn, 4);
  }

  absl::Status MeasureMistake(const char* name, Drafter& drafter, const Verifier& rule,
                              int num_speculative_tokens) {
    return Measure({.drafter = std::string(drafter.name()), .rule = name, .control = true}, &drafter, rule,
                   num_speculative_tokens);
  }

  absl::Status Measure(SampledRow row, Drafter* drafter, const Verifier& rule, int num_speculative_tokens) {
    row.sampling = kSamplingName;
    request_.drafter = drafter;
    request_.verifier = &rule;
    request_.num_speculative_tokens = num_speculative_tokens;
    FORERUN_ASSIGN_OR_RETURN(const std::vector<RequestResult> results,
                             WriteTexts(target(), machine_.pool(), request_, plan_.texts));
    CountTokens(results, laws_, row);
    report_.rows.push_back(std::move(row));
    return absl::OkStatus();
  }

  const ModelLawPlan& plan_;
  Machine& machine_;
  ModelPair models_;
  int layers_;  // of the drafts that the target makes for itself
  PartialModel first_layers_;
  Request request_;
  std::vector<PlaceLaw> laws_;
  SampledReport report_;
  ShareProgress progress_{"counts on the model"};
};

}  // namespace

absl::StatusOr<SampledReport> RunModelLaws(const ModelLawPlan& plan) {
  FORERUN_ASSIGN_OR_RETURN(const std::unique_ptr<Machine> machine, Machine::Create(plan.engine));
  FORERUN_ASSIGN_OR_RETURN(ModelPair models, LoadModelPair(*machine, plan.target, plan.draft));
  return Laboratory(plan, *machine, std::move(models)).Run();
}

}  // namespace forerun
