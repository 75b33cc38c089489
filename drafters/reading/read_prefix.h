// What a model has read of a text: keys and values of a prefix, dropped where the text turned out otherwise
// and read on in chunks.
#pragma once

#include <span>
#include <vector>

#include "absl/status/status.h"
#include "core/base/types.h"
#include "core/kv/block_table.h"
#include "core/kv/kv_pool.h"
#include "core/model/model.h"

namespace forerun {

class ReadPrefix {
 public:
  ReadPrefix(KvPool& pool, int layout_id) : table_(pool, layout_id) {}

  BlockTable& table() { return table_; }
  std::span<const TokenId> tokens() const { return tokens_; }  // [table().committed()]
  std::size_t size() const { return tokens_.size(); }

  // Drops what was read beyond the prefix shared with `text`, and reserved rows; the last token of `text` is
  // always read anew.
  void RollBack(std::span<const TokenId> text);
  // Reads on to the end of `text`, which begins with what was read.
  absl::Status Read(Model& model, std::span<const TokenId> text);
  // Rolls back, then reads all but the root (the last token), as far as the model's context goes.
  absl::Status CatchUp(Model& model, std::span<const TokenId> committed);
  // Reads all but the last token, if that is too much for the forward that reads the last one.
  absl::Status ReadIfFarBehind(Model& model, std::span<const TokenId> text);
  // Takes over pages that hold `tokens`.
  void Become(BlockTable table, std::span<const TokenId> tokens);
  // Every reserved row stays: they held `tokens`.
  void Keep(std::span<const TokenId> tokens);
  // These reserved rows (ascending) stay; they held `tokens`.
  void KeepRows(std::span<const int> rows, std::span<const TokenId> tokens);

 private:
  BlockTable table_;
  std::vector<TokenId> tokens_;
};

}  // namespace forerun
