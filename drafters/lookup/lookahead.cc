// Lookahead decoding (Fu et al. 2024, arXiv:2402.02057): a window of guesses about the words to come is
// improved by the very forward that verifies (Jacobi iteration), and the n-grams that it passes through are
// kept and proposed where their first word is the last one written. No draft model, no training.
//
// With n-grams of N words the window has W columns of N - 1 words; column i says what comes from i words
// after the root on. Their heads are a chain (column 0's is the root itself) and the rest of a column hangs
// below its head: as a tree this is the paper's mask and has its positions. So one tree holds the window,
// W (N - 1) - 1 nodes, and G guesses of N - 1 nodes each; whatever of it is right is accepted. The target's
// best word at the end of a column completes an n-gram, and the column moves down by one word.
//
// A budget below (W + G) (N - 1) - 1 drops guesses first, down to one, then columns, then the last guess
// itself; what has no room is not changed. Cold for each request; a draft costs no forward.
#include <algorithm>
#include <optional>
#include <vector>

#include "core/base/status_macros.h"
#include "drafters/lookup/ngram_pool.h"
#include "drafters/registry.h"

namespace forerun {
namespace {

struct LookaheadOptions {
  int window = 8;   // W
  int level = 4;    // N
  int guesses = 8;  // G
  bool pool_from_text = false;

  int column_size() const { return level - 1; }
};

struct Column {
  std::vector<TokenId> words;  // [N - 1], the head first; column 0's head is the root of the time
  int own_words = 0;           // how many of the last ones the target said; the others are random
};

struct LookaheadState final : DrafterState {
  explicit LookaheadState(int guesses) : pool(guesses) {}
  NgramPool pool;
  std::vector<Column> columns;  // [W], empty before the first draft
  int drafted = 0;              // columns in the last tree
  std::size_t drafted_at = 0;   // committed tokens then
  std::size_t text_read = 0;    // committed tokens whose n-grams are in the pool
};

// The child of `parent` with this word, adding it where there is none; nothing where it would be too deep or
// one too many.
std::optional<int> Grow(DraftTask& task, int parent, TokenId word) {
  TokenTree& tree = *task.tree;
  for (const int child : tree.Children(parent)) {
    if (tree.node(child).token == word) return child;
  }
  if (tree.num_drafted() == task.budget || tree.node(parent).depth == task.max_depth) return std::nullopt;
  return tree.Add(parent, word);
}

std::optional<int> GrowChain(DraftTask& task, int parent, std::span<const TokenId> words) {
  std::optional<int> node = parent;
  for (std::size_t i = 0; i < words.size() && node; ++i) node = Grow(task, *node, words[i]);
  return node;
}

std::optional<int> FindChild(std::span<const EvidenceRow> rows, int parent, TokenId word) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (rows[row].parent == parent && rows[row].token == word) return static_cast<int>(row);
  }
  return std::nullopt;
}

class LookaheadDrafter final : public Drafter {
 public:
  explicit LookaheadDrafter(const LookaheadOptions& options) : options_(options) {}

  absl::string_view name() const override { return "lookahead"; }
  Proposal proposal(const Sampling&) const override { return Proposal::kDeterministic; }
  bool chains_only() const override { return false; }
  int evidence_top_k() const override { return 1; }
  absl::StatusOr<std::unique_ptr<DrafterState>> Open() override {
    return std::make_unique<LookaheadState>(options_.guesses);
  }

  absl::Status Propose(std::span<DraftTask> tasks) override {
    for (DraftTask& task : tasks) {
      auto& state = *static_cast<LookaheadState*>(task.state);
      Improve(task.evidence, state);
      if (options_.pool_from_text) ReadText(task.committed, state);
      if (task.budget > 0) Draft(task, state);
    }
    return absl::OkStatus();
  }

 private:
  // Moves down every column that the last tree held whole.
  void Improve(std::span<const EvidenceRow> rows, LookaheadState& state) const {
    const bool of_last_draft =
        !rows.empty() && rows[0].position + 1 == static_cast<int64_t>(state.drafted_at);
    const int columns = of_last_draft ? std::exchange(state.drafted, 0) : 0;
    std::optional<int> head = 0;
    for (int i = 0; i < columns && head; ++i) {
      Column& column = state.columns[i];
      if (i == 0) {
        column.words[0] = rows[0].token;
      } else {
        head = FindChild(rows, *head, column.words[0]);
      }
      std::optional<int> end = head;
      for (std::size_t row = 1; row < column.words.size() && end; ++row)
        end = FindChild(rows, *end, column.words[row]);
      if (end && !rows[*end].top.empty()) MoveDown(rows[*end].top[0].token, i, state);
    }
  }

  void MoveDown(TokenId next, int index, LookaheadState& state) const {
    // The heads of the columns that follow are looked up by the words of this round.
    Column& column = state.columns[index];
    std::vector<TokenId> after(column.words.begin() + 1, column.words.end());
    after.push_back(next);
    // A random word may be the head, whose row the target has seen; but none of what is proposed after it.
    if (column.own_words >= options_.column_size() - 1) state.pool.Insert(column.words[0], after);
    column.words = std::move(after);
    column.own_words = std::min(column.own_words + 1, options_.column_size());
  }

  void ReadText(std::span<const TokenId> text, LookaheadState& state) const {
    const std::size_t size = options_.level;
    const std::size_t read = std::min(state.text_read, text.size());
    for (std::size_t first = read < size ? 0 : read - size + 1; first + size <= text.size(); ++first)
      state.pool.Insert(text[first], text.subspan(first + 1, size - 1));
    state.text_read = text.size();
  }

  void Draft(DraftTask& task, LookaheadState& state) const {
    if (state.columns.empty()) FillWithWordsOfThePrompt(task, state);
    // A budget of (C + 1) (N - 1) - 1 has room for C columns and one guess.
    const int size = options_.column_size();
    const int beside_a_guess = (task.budget + 1) / size - 1;
    const int columns = std::clamp(beside_a_guess, task.budget >= size - 1 ? 1 : 0, options_.window);
    state.drafted = columns;
    state.drafted_at = task.committed.size();
    std::optional<int> head = 0;
    for (int i = 0; i < columns && head; ++i) {
      const std::vector<TokenId>& words = state.columns[i].words;
      if (i > 0) head = Grow(task, *head, words[0]);
      if (head) GrowChain(task, *head, std::span(words).subspan(1));
    }
    for (const std::vector<TokenId>& guess : state.pool.After(task.committed.back()))
      GrowChain(task, 0, guess);
  }

  void FillWithWordsOfThePrompt(const DraftTask& task, LookaheadState& state) const {
    const RandomStream random({.seed = task.sampling->seed,
                               .request = task.request,
                               .place = static_cast<uint64_t>(task.prompt_length),
                               .node = 0,
                               .purpose = Purpose::kDraft});
    uint64_t index = 0;
    for (int i = 0; i < options_.window; ++i) {
      Column& column = state.columns.emplace_back();
      for (int row = 0; row < options_.column_size(); ++row) {
        const double u = random.Uniform(index++);
        column.words.push_back(task.committed[static_cast<std::size_t>(u * task.prompt_length)]);
      }
    }
  }

  LookaheadOptions options_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Drafter>> MakeLookaheadDrafter(ObjectReader& options,
                                                              const DrafterResources&) {
  LookaheadOptions lookahead;
  if (const Json* own = options.Object("lookahead")) {
    ObjectReader reader(*own, "drafter.lookahead");
    lookahead.window = static_cast<int>(reader.Int("window", lookahead.window, 1, 64));
    lookahead.level = static_cast<int>(reader.Int("level", lookahead.level, 2, 16));
    lookahead.guesses = static_cast<int>(reader.Int("guesses", lookahead.guesses, 1, 64));
    lookahead.pool_from_text = reader.Bool("pool_from_text", lookahead.pool_from_text);
    FORERUN_RETURN_IF_ERROR(reader.Finish());
  }
  return std::make_unique<LookaheadDrafter>(lookahead);
}

}  // namespace forerun
