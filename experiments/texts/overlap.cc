#include "experiments/texts/overlap.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/kv/block_table.h"
#include "core/model/read_tokens.h"
#include "core/sampling/distribution.h"

namespace forerun {
namespace {

constexpr std::size_t kChunk = 32;  // rows of one forward: their logits are whole rows of the vocabulary

// One model reading a text from the start.
class Reader {
 public:
  Reader(Model& model, KvPool& pool) : model_(model), table_(pool, model.kv_layout_id()) {}

  // Distributions after each token where `wanted`; the tokens are committed.
  absl::StatusOr<std::vector<Distribution>> Read(std::span<const TokenId> tokens, bool wanted) {
    const WantedOutput output = wanted ? WantedOutput::kFull : WantedOutput::kNone;
    FORERUN_ASSIGN_OR_RETURN(const ForwardResult result,
                             ReadTokens(model_, table_, tokens, {.wanted = output}));
    std::vector<Distribution> distributions;
    for (const RowOutput& row : result.rows) {
      if (wanted) distributions.push_back(Distribution::FromLogits(row.logits, {.temperature = 1}, {}));
    }
    return distributions;
  }

 private:
  Model& model_;
  BlockTable table_;
};

double Entropy(const Distribution& p) {
  double entropy = 0;
  for (const double probability : p.probabilities()) entropy -= probability * std::log(probability);
  return entropy;
}

absl::Status CheckContext(const Model& model, std::size_t tokens, const char* which) {
  if (tokens <= static_cast<std::size_t>(model.context_length())) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the ", which, " model's context: expected at least ",
                                                 tokens, " tokens, found ", model.context_length()));
}

}  // namespace

absl::StatusOr<TextOverlap> MeasureOverlap(Model& target, Model& draft, KvPool& pool,
                                           std::span<const TokenId> prompt, std::span<const TokenId> output) {
  TextOverlap sums;
  if (prompt.empty() || output.empty()) return sums;
  std::vector<TokenId> text(prompt.begin(), prompt.end());
  text.insert(text.end(), output.begin(),
              output.end() - 1);  // the last one predicts nothing that was written
  FORERUN_RETURN_IF_ERROR(CheckContext(target, text.size(), "target"));
  FORERUN_RETURN_IF_ERROR(CheckContext(draft, text.size(), "draft"));
  Reader target_reader(target, pool), draft_reader(draft, pool);
  std::size_t first = 0;
  while (first < text.size()) {
    const bool wanted = first + 1 >= prompt.size();
    const std::size_t end = wanted ? text.size() : prompt.size() - 1;
    const std::span chunk = std::span<const TokenId>(text).subspan(first, std::min(kChunk, end - first));
    FORERUN_ASSIGN_OR_RETURN(const std::vector<Distribution> p, target_reader.Read(chunk, wanted));
    FORERUN_ASSIGN_OR_RETURN(const std::vector<Distribution> q, draft_reader.Read(chunk, wanted));
    for (std::size_t i = 0; i < p.size(); ++i) {
      sums.overlap += Overlap(p[i], q[i]);
      sums.entropy += Entropy(p[i]);
      sums.agreement += p[i].Argmax() == q[i].Argmax();
      ++sums.tokens;
    }
    first += chunk.size();
  }
  return sums;
}

}  // namespace forerun
