#include "drafters/heads/state_heads.h"

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace forerun {

std::optional<std::span<const float>> StateBeforeRoot(const DraftTask& task) {
  const Features* features = task.features;
  if (features == nullptr || features->first_position + features->rows + 1 != std::ssize(task.committed))
    return std::nullopt;
  return features->Row(0, features->rows - 1);
}

absl::StatusOr<StateHeadsOptions> ReadStateHeadsOptions(ObjectReader& reader, absl::string_view name) {
  StateHeadsOptions options;
  options.path = reader.RequiredString("heads");
  options.sampling = ReadChildSampling(reader);
  absl::StatusOr<TreeOptions> tree = ReadTreeOptions(reader, options.sampling);
  FORERUN_RETURN_IF_ERROR(reader.Finish());
  FORERUN_ASSIGN_OR_RETURN(options.tree, std::move(tree));
  FORERUN_RETURN_IF_ERROR(RefuseAutoTree(options.tree, name));
  return options;
}

absl::Status CheckDepth(const StateHeadsOptions& options, int num_heads) {
  const int depth = options.tree.shape.max_depth();
  if (depth <= num_heads) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("drafter.tree: expected at most ", num_heads,
                                                 " levels, one for each head of ", options.path, ", found ",
                                                 depth));
}

}  // namespace forerun
