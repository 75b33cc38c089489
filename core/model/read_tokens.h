// A text read on by a model, in one forward.
#pragma once

#include <span>

#include "absl/status/statusor.h"
#include "core/base/types.h"
#include "core/kv/block_table.h"
#include "core/model/model.h"

namespace forerun {

// `tokens` follow what `table` holds, which afterwards holds them too. Each row wants what `row` wants; its
// token and parent are not looked at. An error leaves the table's committed part as it was.
absl::StatusOr<ForwardResult> ReadTokens(Model& model, BlockTable& table, std::span<const TokenId> tokens,
                                         ForwardRow row = {});

}  // namespace forerun
