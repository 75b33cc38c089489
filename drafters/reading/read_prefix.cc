#include "drafters/reading/read_prefix.h"

#include <algorithm>
#include <utility>

#include "core/base/status_macros.h"
#include "core/model/read_tokens.h"

namespace forerun {
namespace {

constexpr std::size_t kChunkRows = 256;  // most rows of one sequence in one forward

}  // namespace

void ReadPrefix::RollBack(std::span<const TokenId> text) {
  const std::size_t most = std::min(tokens_.size(), text.size() - 1);
  const auto differ = std::mismatch(tokens_.begin(), tokens_.begin() + most, text.begin()).first;
  tokens_.erase(differ, tokens_.end());
  table_.TruncateTo(static_cast<int>(tokens_.size()));
}

absl::Status ReadPrefix::Read(Model& model, std::span<const TokenId> text) {
  while (tokens_.size() < text.size()) {
    const std::span<const TokenId> rest = text.subspan(tokens_.size());
    const std::span<const TokenId> chunk = rest.first(std::min(rest.size(), kChunkRows));
    FORERUN_RETURN_IF_ERROR(ReadTokens(model, table_, chunk).status());
    tokens_.insert(tokens_.end(), chunk.begin(), chunk.end());
  }
  return absl::OkStatus();
}

absl::Status ReadPrefix::CatchUp(Model& model, std::span<const TokenId> committed) {
  RollBack(committed);
  const std::size_t context = static_cast<std::size_t>(model.context_length());
  return Read(model, committed.first(std::min(committed.size() - 1, context)));
}

absl::Status ReadPrefix::ReadIfFarBehind(Model& model, std::span<const TokenId> text) {
  if (text.size() - tokens_.size() <= kChunkRows) return absl::OkStatus();
  return Read(model, text.first(text.size() - 1));
}

void ReadPrefix::Become(BlockTable table, std::span<const TokenId> tokens) {
  table_ = std::move(table);
  tokens_.assign(tokens.begin(), tokens.end());
}

void ReadPrefix::Keep(std::span<const TokenId> tokens) {
  table_.CommitAll();
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
}

void ReadPrefix::KeepRows(std::span<const int> rows, std::span<const TokenId> tokens) {
  table_.Commit(rows);
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
}

}  // namespace forerun
