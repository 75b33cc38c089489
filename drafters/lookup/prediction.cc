// Predicted outputs: the user says what the answer will look like, such as the file before an edit, and the
// draft is read off that text from where the output stands in it. Where the output goes another way the place
// is lost, and found again by the last words written: ahead of it first, the longest match, the nearest among
// equals. A request's own prediction comes before the drafter's. Cost: nothing while the output follows; a
// scan of the prediction for each token while it does not.
#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/formats/mapped_file.h"
#include "drafters/registry.h"

namespace forerun {
namespace {

struct PredictionOptions {
  int min_match = 2, max_match = 16;  // words that find a lost place
  std::vector<TokenId> tokens;        // for requests without a prediction of their own
};

// Where an output stands in a prediction.
class Alignment {
 public:
  Alignment(int min_match, int max_match) : min_match_(min_match), max_match_(max_match) {}

  // One more token of the output, whose last words are `written`, this one included.
  void Add(std::span<const TokenId> written, std::span<const TokenId> prediction) {
    const std::size_t place = static_cast<std::size_t>(next_);
    if (aligned_ && place < prediction.size() && prediction[place] == written.back()) {
      ++next_;
      return;
    }
    aligned_ = false;
    const int size = static_cast<int>(prediction.size());
    int found = Longest(written, prediction, next_ + 1, size);
    if (found < 0) found = Longest(written, prediction, 1, next_);
    if (found < 0) return;
    aligned_ = true;
    next_ = found;
  }
  // What comes next there; empty where the place is lost.
  std::span<const TokenId> Ahead(std::span<const TokenId> prediction) const {
    return aligned_ ? prediction.subspan(next_) : std::span<const TokenId>();
  }

 private:
  // The end in [first, last] of the longest match with the last words, the first among equals; -1: none.
  int Longest(std::span<const TokenId> written, std::span<const TokenId> prediction, int first,
              int last) const {
    int best = -1, longest = min_match_ - 1;
    const int most = static_cast<int>(std::min<std::size_t>(written.size(), max_match_));
    for (int end = first; end <= last && longest < most; ++end) {
      int length = 0;
      while (length < most && length < end && prediction[end - 1 - length] == *(written.end() - 1 - length))
        ++length;
      if (length <= longest) continue;
      longest = length;
      best = end;
    }
    return best;
  }

  int min_match_, max_match_;
  bool aligned_ = true;
  int next_ = 0;  // index in the prediction; of the last known place while that is lost
};

struct PredictionState final : DrafterState {
  std::optional<Alignment> alignment;  // of text[prompt_length ...)
  std::vector<TokenId> text;
  int prompt_length = 0;
};

class PredictionDrafter final : public Drafter {
 public:
  explicit PredictionDrafter(PredictionOptions options) : options_(std::move(options)) {}
  absl::string_view name() const override { return "prediction"; }
  Proposal proposal(const Sampling&) const override { return Proposal::kDeterministic; }
  absl::StatusOr<std::unique_ptr<DrafterState>> Open() override {
    return std::make_unique<PredictionState>();
  }

  absl::Status Propose(std::span<DraftTask> tasks) override {
    for (DraftTask& task : tasks) {
      const std::span<const TokenId> prediction =
          task.prediction.empty() ? std::span<const TokenId>(options_.tokens) : task.prediction;
      PredictionState& state = *static_cast<PredictionState*>(task.state);
      Follow(task, prediction, state);
      const std::span<const TokenId> ahead = state.alignment->Ahead(prediction);
      const int most = std::max(0, std::min({task.budget, task.max_depth, static_cast<int>(ahead.size())}));
      for (const TokenId token : ahead.first(most)) task.tree->Add(task.tree->size() - 1, token);
    }
    return absl::OkStatus();
  }

 private:
  // Reads the output on where that continues what was read, else from its start.
  void Follow(const DraftTask& task, std::span<const TokenId> prediction, PredictionState& state) const {
    const std::span<const TokenId> text = task.committed;
    if (!state.alignment || state.prompt_length != task.prompt_length || state.text.size() > text.size() ||
        !std::equal(state.text.begin(), state.text.end(), text.begin())) {
      state.alignment.emplace(options_.min_match, options_.max_match);
      state.prompt_length = task.prompt_length;
      state.text.assign(text.begin(), text.begin() + task.prompt_length);
    }
    for (std::size_t end = state.text.size() + 1; end <= text.size(); ++end)
      state.alignment->Add(text.subspan(task.prompt_length, end - task.prompt_length), prediction);
    state.text.assign(text.begin(), text.end());
  }

  PredictionOptions options_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Drafter>> MakePredictionDrafter(ObjectReader& options,
                                                               const DrafterResources& resources) {
  PredictionOptions prediction;
  std::optional<std::string> text;
  if (const Json* own = options.Object("prediction")) {
    constexpr char kWhere[] = "drafter.prediction";
    ObjectReader reader(*own, kWhere);
    prediction.min_match = static_cast<int>(reader.Int("min_match", prediction.min_match, 1, 64));
    prediction.max_match = static_cast<int>(reader.Int("max_match", prediction.max_match, 1, 64));
    const bool has_file = reader.Has("file");
    if (has_file && reader.Has("text")) reader.Fail("file", "no \"text\" beside it");
    const std::string file = has_file ? reader.RequiredString("file") : "";
    if (reader.Has("text")) text = reader.String("text", "");
    FORERUN_RETURN_IF_ERROR(reader.Finish());
    if (prediction.min_match > prediction.max_match) {
      return absl::InvalidArgumentError(absl::StrCat(kWhere, ": expected min_match <= max_match, found ",
                                                     prediction.min_match, " and ", prediction.max_match));
    }
    if (has_file) {
      FORERUN_ASSIGN_OR_RETURN(const MappedFile mapped, MappedFile::Open(file));
      text.emplace(reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size());
    }
  }
  if (text) {
    if (resources.target_tokenizer == nullptr)
      return absl::InvalidArgumentError("drafter.prediction: expected a target with a tokenizer, found none");
    FORERUN_ASSIGN_OR_RETURN(prediction.tokens, resources.target_tokenizer->Encode(*text, EncodeOptions{}));
  }
  return std::make_unique<PredictionDrafter>(std::move(prediction));
}

}  // namespace forerun
