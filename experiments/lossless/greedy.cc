#include "experiments/lossless/greedy.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/engine/engine.h"
#include "core/verify/registry.h"
#include "drafters/lookup/suffix_corpus.h"
#include "drafters/registry.h"
#include "experiments/base/files.h"
#include "experiments/base/progress.h"
#include "experiments/lossless/counts.h"
#include "experiments/run/machine.h"

namespace forerun {
namespace {

// Texts that repeat themselves, so that drafters by lookup have something to find.
constexpr const char* kPrompts[] = {
    "def add(a, b):\n    return a + b\n\ndef sub(a, b):\n    return a - b\n\ndef mul(a, b):\n",
    "for i in range(10):\n    print(i)\nfor j in range(10):\n    print(j)\nfor k in range(10):\n"};
constexpr int kDraftTokens = 5;

class Laboratory {
 public:
  Laboratory(const GreedyPlan& plan, Machine& machine, ModelPair models)
      : plan_(plan), machine_(machine), models_(std::move(models)) {}

  absl::StatusOr<GreedyReport> Run() {
    for (const char* prompt : kPrompts) {
      FORERUN_ASSIGN_OR_RETURN(std::vector<TokenId> tokens,
                               models_.target.tokenizer->Encode(prompt, {.add_special = true}));
      prompts_.push_back(std::move(tokens));
    }
    FORERUN_ASSIGN_OR_RETURN(const std::unique_ptr<Verifier> greedy, MakeRule("greedy"));
    FORERUN_ASSIGN_OR_RETURN(plain_, Write(nullptr, *greedy));
    GreedyReport report;
    ShareProgress progress("texts on the model");
    double done = 0;
    for (const DrafterInfo& info : ListDrafters()) {
      progress.Show(done++ / static_cast<double>(ListDrafters().size()));
      if (!plan_.drafter.empty() && plan_.drafter != info.key) continue;
      if (Lacks(info)) {
        report.left_out.push_back(absl::StrCat(info.key, " (needs ", NeedsText(info.needs), ")"));
      } else {
        FORERUN_RETURN_IF_ERROR(RunDrafter(info, report));
      }
    }
    progress.Finish();
    return report;
  }

 private:
  // What is asked for by name is never left out: then the error says what it lacks.
  bool Lacks(const DrafterInfo& info) const {
    if (!plan_.drafter.empty()) return false;
    return (info.needs_draft_model() && !models_.draft) ||
           (info.needs == DrafterNeeds::kHeads && !plan_.heads.contains(info.key));
  }

  absl::StatusOr<std::unique_ptr<Drafter>> MakeWhatItNeeds(const DrafterInfo& info) {
    if (info.needs == DrafterNeeds::kCorpus) return MakeWithCorpus(info.key);
    if (info.needs == DrafterNeeds::kLog) return MakeReplay();
    Json options = {{"type", info.key}};
    if (const auto heads = plan_.heads.find(info.key); heads != plan_.heads.end())
      options["heads"] = heads->second;
    return Make(options);
  }

  absl::StatusOr<std::unique_ptr<Drafter>> Make(const Json& options) {
    return MakeDrafter(options,
                       {.target = models_.target.model.get(),
                        .draft = models_.draft ? models_.draft->model.get() : nullptr,
                        .pool = &machine_.pool(),
                        .target_tokenizer = models_.target.tokenizer.get(),
                        .draft_tokenizer = models_.draft ? models_.draft->tokenizer.get() : nullptr});
  }

  // With a corpus of the first half of what plain decoding wrote after the prompts.
  absl::StatusOr<std::unique_ptr<Drafter>> MakeWithCorpus(const char* key) {
    std::vector<TokenId> tokens;
    for (std::size_t i = 0; i < prompts_.size(); ++i) {
      tokens.insert(tokens.end(), prompts_[i].begin(), prompts_[i].end());
      tokens.insert(tokens.end(), plain_[i].output.begin(), plain_[i].output.begin() + plan_.new_tokens / 2);
      tokens.push_back(kTextEnd);
    }
    const std::string bytes = SuffixCorpusBytes(tokens, SortSuffixes(tokens, kSortedTokens, [](int64_t) {}),
                                                VocabularyIdOf(*models_.target.tokenizer));
    return MakeWithFile("corpus", bytes, [&](const std::string& folder) -> Json {
      return {{"type", key}, {"corpus", folder + "/corpus"}};
    });
  }

  // With a log of the first half of what plain decoding wrote.
  absl::StatusOr<std::unique_ptr<Drafter>> MakeReplay() {
    std::string log;
    for (std::size_t i = 0; i < prompts_.size(); ++i) {
      const std::vector<TokenId>& output = plain_[i].output;
      const Json round = {{"unit", absl::StrCat(i, "/plain/0")},
                          {"request", i},
                          {"emitted", std::vector(output.begin(), output.begin() + plan_.new_tokens / 2)}};
      absl::StrAppend(&log, DumpJson(round), "\n");
    }
    return MakeWithFile("rounds.jsonl", log, [](const std::string& folder) -> Json {
      return {{"type", "replay"}, {"replay", {{"log", folder}}}};
    });
  }

  // By the options for a folder that has the file `name`, and is gone once the drafter has read it.
  template <class Options>
  absl::StatusOr<std::unique_ptr<Drafter>> MakeWithFile(const char* name, const std::string& bytes,
                                                        Options options) {
    std::error_code error;
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path(error) / absl::StrCat("forerun-check-", getpid());
    std::filesystem::create_directory(folder, error);
    const absl::Status written = WriteFileAtomically(folder / name, bytes);
    absl::StatusOr<std::unique_ptr<Drafter>> drafter =
        written.ok() ? Make(options(folder)) : absl::StatusOr<std::unique_ptr<Drafter>>(written);
    std::filesystem::remove_all(folder, error);
    return drafter;
  }

  absl::Status RunDrafter(const DrafterInfo& info, GreedyReport& report) {
    FORERUN_ASSIGN_OR_RETURN(const std::unique_ptr<Drafter> drafter, MakeWhatItNeeds(info));
    const std::size_t before = report.rows.size();
    for (const RuleInfo& rule_info : ListRules()) {
      if (!plan_.rule.empty() && plan_.rule != rule_info.name) continue;
      FORERUN_ASSIGN_OR_RETURN(const std::unique_ptr<Verifier> rule, MakeRule(rule_info.name));
      if (!rule->KeepsLaw(KindOfDrafts(drafter.get(), Sampling()), Sampling())) continue;
      FORERUN_ASSIGN_OR_RETURN(const std::vector<RequestResult> results, Write(drafter.get(), *rule));
      report.rows.push_back(Compare(info.key, rule_info.name, results));
    }
    if (report.rows.size() == before)
      report.left_out.push_back(absl::StrCat(info.key, " (", plan_.rule, " cannot judge its drafts)"));
    return absl::OkStatus();
  }

  GreedyRow Compare(const char* drafter, const char* rule, const std::vector<RequestResult>& results) const {
    GreedyRow row = {.drafter = drafter, .rule = rule};
    for (std::size_t i = 0; i < results.size(); ++i) {
      ++row.texts;
      row.tokens += static_cast<int>(results[i].output.size());
      row.different += results[i].output != plain_[i].output;
    }
    row.acceptance_rate = AcceptanceRate(results);
    return row;
  }

  // All prompts in one batch; in their order.
  absl::StatusOr<std::vector<RequestResult>> Write(Drafter* drafter, const Verifier& rule) {
    Engine engine(*models_.target.model, machine_.pool(),
                  {.max_sequences = static_cast<int>(std::size(kPrompts))});
    for (std::size_t i = 0; i < prompts_.size(); ++i) {
      Request request;
      request.id = i;
      request.prompt = prompts_[i];
      request.drafter = drafter;
      request.verifier = &rule;
      request.num_speculative_tokens = drafter == nullptr ? 0 : kDraftTokens;
      request.max_new_tokens = plan_.new_tokens;
      FORERUN_RETURN_IF_ERROR(engine.Add(std::move(request)));
    }
    FORERUN_ASSIGN_OR_RETURN(std::vector<RequestResult> results, RunToCompletion(engine));
    for (const RequestResult& result : results) FORERUN_RETURN_IF_ERROR(result.status);
    std::sort(results.begin(), results.end(),
              [](const RequestResult& a, const RequestResult& b) { return a.id < b.id; });
    return results;
  }

  const GreedyPlan& plan_;
  Machine& machine_;
  ModelPair models_;
  std::vector<std::vector<TokenId>> prompts_;
  std::vector<RequestResult> plain_;
};

}  // namespace

absl::StatusOr<GreedyReport> RunGreedyTexts(const GreedyPlan& plan) {
  FORERUN_ASSIGN_OR_RETURN(const std::unique_ptr<Machine> machine, Machine::Create(plan.engine));
  FORERUN_ASSIGN_OR_RETURN(ModelPair models, LoadModelPair(*machine, plan.target, plan.draft));
  return Laboratory(plan, *machine, std::move(models)).Run();
}

}  // namespace forerun
