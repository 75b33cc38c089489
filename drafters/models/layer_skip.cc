// Self-speculation by skipping layers (Draft & Verify; Zhang et al. 2023, arXiv:2309.08168; SWIFT; Xia et al.
// 2024, arXiv:2410.06916): the target without some attention and feed-forward layers writes the chain, on its
// own keys and values of what was committed. The layers are named, evenly spaced, or searched for each
// sequence on its prompt at the first draft, which then takes the time of that search.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status_macros.h"
#include "drafters/models/layer_search.h"
#include "drafters/models/model_chain.h"
#include "drafters/registry.h"

namespace forerun {
namespace {

struct LayerSkipOptions {
  LayerSubset subset;  // skipped, or where the search starts
  LayerSearchOptions search;
};

constexpr char kWhere[] = "drafter.layer_skip";

absl::StatusOr<LayerSkipOptions> ReadLayerSkip(const Json* own, int layers) {
  constexpr double kShare = 0.4;
  LayerSkipOptions skip;
  skip.subset = EvenlySpaced(layers, kShare);
  if (own == nullptr) return skip;
  ObjectReader reader(*own, kWhere);
  const bool named = reader.Has("attention") || reader.Has("feed_forward");
  if (named && reader.Has("share")) reader.Fail("share", "nothing beside named layers");
  skip.subset = named ? LayerSubset::All(layers) : EvenlySpaced(layers, reader.Number("share", kShare, 0, 1));
  for (const int layer : reader.Ints("attention", 0, layers - 1)) skip.subset.attention[layer] = false;
  for (const int layer : reader.Ints("feed_forward", 0, layers - 1)) skip.subset.feed_forward[layer] = false;
  if (const Json* search = reader.Object("search")) {
    ObjectReader search_reader(*search, absl::StrCat(kWhere, ".search"));
    skip.search.candidates = static_cast<int>(search_reader.Int("candidates", 16, 1, 1024));
    skip.search.tokens = static_cast<int>(search_reader.Int("tokens", skip.search.tokens, 4, 256));
    FORERUN_RETURN_IF_ERROR(search_reader.Finish());
  }
  FORERUN_RETURN_IF_ERROR(reader.Finish());
  return skip;
}

std::string Skipped(const std::vector<bool>& kept) {
  std::vector<int> layers;
  for (std::size_t layer = 0; layer < kept.size(); ++layer) {
    if (!kept[layer]) layers.push_back(static_cast<int>(layer));
  }
  return layers.empty() ? "none" : absl::StrJoin(layers, " ");
}

std::string Note(const LayerSkipOptions& skip) {
  if (skip.search.candidates > 0) {
    return absl::StrCat("layers searched, ", skip.search.candidates, " candidates on ", skip.search.tokens,
                        " tokens");
  }
  return absl::StrCat("without attention ", Skipped(skip.subset.attention), ", feed-forward ",
                      Skipped(skip.subset.feed_forward));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Drafter>> MakeLayerSkipDrafter(ObjectReader& options,
                                                              const DrafterResources& resources) {
  const Json* const own = options.Object("layer_skip");
  ModelChainOptions chain{.name = "layer_skip"};
  FORERUN_RETURN_IF_ERROR(ReadChainOptions(options, *resources.target, &chain));
  FORERUN_ASSIGN_OR_RETURN(const LayerSkipOptions skip, ReadLayerSkip(own, resources.target->num_layers()));
  chain.note = Note(skip);
  if (skip.search.candidates > 0) {
    chain.choose_layers = [skip, target = resources.target](
                              const DraftTask& task) -> absl::StatusOr<std::shared_ptr<const LayerSubset>> {
      FORERUN_ASSIGN_OR_RETURN(LayerSubset found, SearchLayers(*target, task, skip.subset, skip.search));
      return std::make_shared<const LayerSubset>(std::move(found));
    };
  } else {
    chain.choose_layers = [subset = std::make_shared<const LayerSubset>(skip.subset)](const DraftTask&) {
      return subset;
    };
  }
  return MakeModelChainDrafter(*resources.target, *resources.pool, std::move(chain));
}

}  // namespace forerun
