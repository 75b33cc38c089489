// A draft model with another vocabulary (Timor et al. 2025, arXiv:2502.05202). It reads the committed text in
// its own tokens. Method "text" (their string-level exact match): what it writes is encoded anew for the
// target, a deterministic chain. Method "intersection" (their token-level intersection): it may say only
// tokens that both vocabularies have, so that its q is one over the target's tokens, and may be sampled from.
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "drafters/models/model_chain.h"
#include "drafters/models/vocabulary_bridge.h"
#include "drafters/reading/chain_reader.h"
#include "drafters/registry.h"

namespace forerun {
namespace {

struct UniversalState final : DrafterState {
  TranslatedText text;
  std::unique_ptr<DrafterState> chain;
};

// The same task in the draft model's words.
struct Translated {
  DraftTask* task = nullptr;
  std::vector<TokenId> ids;  // at least one
  TokenTree tree{0};
  DraftTask inner;
};

class UniversalDrafter : public Drafter {
 public:
  UniversalDrafter(const DrafterResources& resources, VocabularyBridge bridge)
      : resources_(resources), bridge_(std::move(bridge)) {}
  absl::string_view name() const override { return "universal"; }

  absl::Status Propose(std::span<DraftTask> tasks) override {
    std::vector<Translated> all(tasks.size());
    std::vector<Translated*> drafting;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      all[i].task = &tasks[i];
      if (Translate(all[i])) drafting.push_back(&all[i]);
    }
    FORERUN_RETURN_IF_ERROR(Draft(drafting));
    for (Translated* at : drafting) at->task->status = at->inner.status;
    return absl::OkStatus();
  }

 protected:
  virtual absl::Status Draft(const std::vector<Translated*>& tasks) = 0;

  absl::StatusOr<std::unique_ptr<DrafterState>> Wrap(std::unique_ptr<DrafterState> chain) const {
    auto state = std::make_unique<UniversalState>();
    state->chain = std::move(chain);
    return state;
  }

  const DrafterResources resources_;
  const VocabularyBridge bridge_;

 private:
  // False where the draft model has no words for the text: it is silent.
  bool Translate(Translated& at) const {
    auto& state = *static_cast<UniversalState*>(at.task->state);
    absl::StatusOr<std::vector<TokenId>> ids = bridge_.Translate(at.task->committed, state.text);
    if (!ids.ok() || ids->empty()) return false;
    at.ids = *std::move(ids);
    at.tree = TokenTree(at.ids.back());
    at.inner = *at.task;
    at.inner.state = state.chain.get();
    at.inner.committed = at.ids;
    at.inner.prompt_length = static_cast<int>(at.ids.size());
    at.inner.sampling = &greedy_;
    at.inner.tree = &at.tree;
    return true;
  }

  const Sampling greedy_;  // penalties and biases are of the target's words
};

class TextDrafter final : public UniversalDrafter {
 public:
  TextDrafter(const DrafterResources& resources, VocabularyBridge bridge, ModelChainOptions options)
      : UniversalDrafter(resources, std::move(bridge)),
        chain_(MakeModelChainDrafter(*resources.draft, *resources.pool, std::move(options))) {}
  Proposal proposal(const Sampling&) const override { return Proposal::kDeterministic; }
  std::string note() const override { return "by text"; }
  absl::StatusOr<std::unique_ptr<DrafterState>> Open() override {
    FORERUN_ASSIGN_OR_RETURN(std::unique_ptr<DrafterState> chain, chain_->Open());
    return Wrap(std::move(chain));
  }

 private:
  absl::Status Draft(const std::vector<Translated*>& tasks) override {
    std::vector<DraftTask> inner;
    for (const Translated* at : tasks) inner.push_back(at->inner);
    FORERUN_RETURN_IF_ERROR(chain_->Propose(inner));
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      Translated& at = *tasks[i];
      at.inner.status = inner[i].status;
      TokenTree& tree = *at.task->tree;
      for (const TokenId token : bridge_.EncodeDrafted(at.tree.PathTokens(at.tree.size() - 1))) {
        if (tree.num_drafted() < at.task->budget) tree.Add(tree.size() - 1, token);
      }
    }
    return absl::OkStatus();
  }

  std::unique_ptr<Drafter> chain_;
};

class IntersectionDrafter final : public UniversalDrafter {
 public:
  IntersectionDrafter(const DrafterResources& resources, VocabularyBridge bridge, ModelChainOptions options)
      : UniversalDrafter(resources, std::move(bridge)),
        options_(std::move(options)),
        reader_(*resources.draft, *resources.pool, options_.shortlist) {}
  Proposal proposal(const Sampling& sampling) const override {
    return options_.sampling == DraftSampling::kGreedy || sampling.greedy() ? Proposal::kDeterministic
                                                                            : Proposal::kSampled;
  }
  bool coupled(const Sampling& sampling) const override {
    return options_.sampling == DraftSampling::kCoupled && !sampling.greedy();
  }
  std::string note() const override { return absl::StrCat("by shared tokens, ", reader_.Note()); }
  absl::StatusOr<std::unique_ptr<DrafterState>> Open() override { return Wrap(reader_.Open()); }

 private:
  absl::Status Draft(const std::vector<Translated*>& tasks) override {
    std::vector<Translated*> live;
    for (Translated* at : tasks) {
      if (at->inner.budget == 0) {
        reader_.CatchUp(at->inner);
      } else if (reader_.HasRoom(at->inner)) {
        live.push_back(at);
      }
    }
    while (!live.empty()) DraftStep(live);
    return absl::OkStatus();
  }

  void DraftStep(std::vector<Translated*>& live) {
    std::vector<ReadStep> steps;
    for (Translated* at : live) {
      steps.push_back(
          {.task = &at->inner, .guesses = {}, .wanted = WantedForChain(*at->task, options_), .outputs = {}});
    }
    reader_.Read(steps);
    std::vector<Translated*> longer;
    for (std::size_t i = 0; i < live.size(); ++i) {
      Translated& at = *live[i];
      if (!at.inner.status.ok()) continue;
      const bool goes_on = ExtendChain(*at.task, InTargetWords(steps[i].outputs[0]), options_);
      const TokenTree& tree = *at.task->tree;
      if (!goes_on) continue;
      at.tree.Add(at.tree.size() - 1, bridge_.draft_of()[tree.node(tree.size() - 1).token]);
      longer.push_back(&at);
    }
    live = std::move(longer);
  }

  RowOutput InTargetWords(const RowOutput& output) const {
    RowOutput mapped;
    mapped.log_prob = output.log_prob;
    if (output.argmax >= 0) mapped.argmax = bridge_.target_of()[output.argmax];
    if (output.logits.empty()) return mapped;
    mapped.logits.assign(bridge_.draft_of().size(), -std::numeric_limits<float>::infinity());
    for (const TokenId id : options_.shortlist->ids)
      mapped.logits[bridge_.target_of()[id]] = output.logits[id];
    return mapped;
  }

  ModelChainOptions options_;
  ChainReader reader_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Drafter>> MakeUniversalDrafter(ObjectReader& options,
                                                              const DrafterResources& resources) {
  ModelChainOptions chain{.name = "universal"};
  const std::string method = options.Choice("method", "text", {"text", "intersection"});
  const std::string sample = options.Choice("sample", "greedy", {"greedy", "sampled", "coupled"});
  chain.min_confidence = options.Number("min_confidence", 0, 0, 1);
  if (method == "text" && sample != "greedy") options.Fail("sample", "greedy, as method is text");
  FORERUN_ASSIGN_OR_RETURN(
      VocabularyBridge bridge,
      VocabularyBridge::Create(resources.target_tokenizer, resources.draft_tokenizer,
                               resources.target->vocab_size(), resources.draft->vocab_size()));
  if (method == "text") return std::make_unique<TextDrafter>(resources, std::move(bridge), std::move(chain));
  if (sample == "sampled") chain.sampling = DraftSampling::kSampled;
  if (sample == "coupled") chain.sampling = DraftSampling::kCoupled;
  std::vector<TokenId> shared = bridge.SharedDraftIds();
  if (shared.empty()) {
    return absl::InvalidArgumentError(
        "drafter.method: intersection: the vocabularies of target and draft have no token in common");
  }
  chain.shortlist = resources.draft->MakeShortlist(std::move(shared));
  return std::make_unique<IntersectionDrafter>(resources, std::move(bridge), std::move(chain));
}

}  // namespace forerun
