#include "drafters/trees/tree_options.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace forerun {
namespace {

constexpr char kWhere[] = "drafter.tree";
constexpr int kMostRanks = 64;

bool IsCount(const Json& json) {
  return json.is_number_integer() && json.get<int64_t>() >= 0 && json.get<int64_t>() <= kMostTreeNodes;
}

// False, and the reader knows, where something else stands there.
bool ReadCounts(ObjectReader& reader, const Json& array, const char* key, std::vector<int>* counts) {
  const bool fits = array.is_array() && std::all_of(array.begin(), array.end(), IsCount);
  if (fits) *counts = array.get<std::vector<int>>();
  if (!fits) reader.Fail(key, absl::StrCat("whole numbers from 0 to ", kMostTreeNodes));
  return fits;
}

absl::StatusOr<TreeShape> ReadShape(ObjectReader& reader) {
  const Json* widths = reader.Array("widths");
  const Json* paths = reader.Array("paths");
  if ((widths == nullptr) == (paths == nullptr)) {
    reader.Fail(widths == nullptr ? "widths" : "paths", "one of widths and paths for a static tree");
    return TreeShape();
  }
  if (widths != nullptr) {
    std::vector<int> counts;
    return ReadCounts(reader, *widths, "widths", &counts) ? TreeShape::FromWidths(counts, kMostTreeNodes)
                                                          : TreeShape();
  }
  if (paths->size() > kMostTreeNodes)
    reader.Fail("paths", absl::StrCat("at most ", kMostTreeNodes, " nodes"));
  std::vector<std::vector<int>> ranks(paths->size());
  for (std::size_t i = 0; i < paths->size(); ++i) {
    if (!ReadCounts(reader, (*paths)[i], "paths", &ranks[i])) return TreeShape();
  }
  return TreeShape::FromRankPaths(std::move(ranks));
}

void ReadAcceptance(ObjectReader& reader, std::vector<double>* acceptance) {
  const Json* array = reader.Array("acceptance");
  if (array == nullptr) return;
  const auto is_share = [](const Json& json) { return json.is_number() && json.get<double>() >= 0; };
  const bool numbers =
      !array->empty() && array->size() <= kMostRanks && std::all_of(array->begin(), array->end(), is_share);
  if (numbers) *acceptance = array->get<std::vector<double>>();
  if (!numbers || std::accumulate(acceptance->begin(), acceptance->end(), 0.0) > 1 + 1e-9) {
    reader.Fail("acceptance",
                absl::StrCat("1 to ", kMostRanks, " numbers from 0 on with a sum of at most 1"));
  }
}

absl::Status CheckSampling(const std::string& type, TreeOptions::Type tree, ChildSampling sampling) {
  const bool ranked = tree == TreeOptions::Type::kDynamic || tree == TreeOptions::Type::kOpt;
  const bool fits = sampling == ChildSampling::kGreedy || (!ranked && tree != TreeOptions::Type::kDySpec) ||
                    (!ranked && sampling == ChildSampling::kSampledWithoutReplacement);
  if (fits) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("drafter.sample: expected greedy", ranked ? "" : " or sampled_without_replacement",
                   " for a tree of type ", type,
                   ", whose form depends on the tokens; draws go with static, sequoia and auto"));
}

}  // namespace

ChildSampling ReadChildSampling(ObjectReader& options) {
  const std::string sample =
      options.Choice("sample", "greedy", {"greedy", "sampled", "sampled_without_replacement", "coupled"});
  if (sample == "sampled") return ChildSampling::kSampled;
  if (sample == "sampled_without_replacement") return ChildSampling::kSampledWithoutReplacement;
  return sample == "coupled" ? ChildSampling::kCoupled : ChildSampling::kGreedy;
}

absl::StatusOr<TreeOptions> ReadTreeOptions(ObjectReader& options, ChildSampling sampling) {
  using Type = TreeOptions::Type;
  static const Json& none = *new Json(Json::object());
  const Json* own = options.Object("tree");
  ObjectReader reader(own == nullptr ? none : *own, kWhere);
  const std::vector<std::string> types = {"static", "sequoia", "dynamic", "opt", "dyspec", "auto"};
  const std::string type = reader.Choice("type", "dynamic", types);
  TreeOptions tree;
  tree.type = static_cast<Type>(std::find(types.begin(), types.end(), type) - types.begin());
  if (tree.type == Type::kStatic) {
    absl::StatusOr<TreeShape> shape = ReadShape(reader);
    FORERUN_RETURN_IF_ERROR(reader.Finish());
    if (!shape.ok()) return absl::InvalidArgumentError(absl::StrCat(kWhere, ": ", shape.status().message()));
    tree.shape = *std::move(shape);
    if (tree.shape.size() == 1) {
      return absl::InvalidArgumentError(absl::StrCat(kWhere, ": expected at least one node, found none"));
    }
  }
  if (tree.type == Type::kSequoia || tree.type == Type::kAuto) ReadAcceptance(reader, &tree.acceptance);
  if (tree.type == Type::kAuto) {
    tree.max_nodes = static_cast<int>(reader.Int("max_nodes", tree.max_nodes, 1, kMostTreeNodes));
  }
  if (tree.type == Type::kDynamic) {
    tree.ranked.top_k = static_cast<int>(reader.Int("top_k", 10, 1, kMostRanks));
    tree.ranked.max_depth = static_cast<int>(reader.Int("depth", 6, 1, kDeepestTree));
    tree.ranked.threshold = -1;
  }
  if (tree.type == Type::kOpt) {
    tree.ranked.top_k = 0;
    tree.ranked.max_depth = static_cast<int>(reader.Int("depth", 10, 1, kDeepestTree));
    tree.ranked.threshold = reader.Number("threshold", 0.5, 0, kDeepestTree);
  }
  FORERUN_RETURN_IF_ERROR(reader.Finish());
  FORERUN_RETURN_IF_ERROR(CheckSampling(type, tree.type, sampling));
  return tree;
}

absl::Status RefuseAutoTree(const TreeOptions& tree, absl::string_view drafter) {
  if (tree.type != TreeOptions::Type::kAuto) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("drafter.tree.type: expected static, sequoia, dynamic, opt or dyspec for ", drafter,
                   ", found auto, which times a draft model"));
}

}  // namespace forerun
