#include "drafters/heads/eagle_config.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "drafters/heads/head_config.h"

namespace forerun {
namespace {

void ReadTaps(ConfigReader& reader, const Json& own, int layers, EagleConfig* config) {
  constexpr char kIds[] = "eagle_aux_hidden_state_layer_ids";
  const Json* ids = reader.Find(kIds);
  if (ids == nullptr && own.contains(kIds)) ids = &own[kIds];
  if (ids == nullptr) {
    config->taps = {2, layers / 2, layers - 3};
    if (layers < 3) reader.Fail(kIds, "three layers, as the target has fewer than three", nullptr);
    return;
  }
  const bool good =
      ids->is_array() && ids->size() == 3 && std::all_of(ids->begin(), ids->end(), [&](const Json& id) {
        return id.is_number_integer() && id >= 0 && id < layers;
      });
  if (!good) return reader.Fail(kIds, absl::StrCat("three layers of ", layers), ids);
  for (const Json& id : *ids) config->taps.push_back(id.get<int>() + (config->from_speculators ? 0 : 1));
}

}  // namespace

absl::StatusOr<EagleConfig> ReadEagleConfig(const Json& json, absl::string_view where, bool is_eagle3,
                                            int target_layers) {
  const Json none = Json::object();
  ConfigReader outer(json, where);
  EagleConfig config;
  config.from_speculators = json.contains("speculators_model_type");
  const std::string inner_where =
      config.from_speculators ? absl::StrCat(where, ".transformer_layer_config") : std::string(where);
  const Json& layer = config.from_speculators ? outer.ObjectOr("transformer_layer_config", none) : json;
  ConfigReader reader(layer, inner_where);
  static_cast<DraftLayerShape&>(config) = ReadLayerShape(reader);
  FORERUN_RETURN_IF_ERROR(reader.status());

  const Json& own = outer.ObjectOr("eagle_config", none);
  if (outer.Find("draft_vocab_size") != nullptr) config.draft_vocab = outer.Count("draft_vocab_size", 0);
  ConfigReader inner(own, absl::StrCat(where, ".eagle_config"));
  config.norm_before_residual = outer.Bool("norm_before_residual", inner.Bool("norm_before_residual", false));
  const bool norm_output = outer.Bool("norm_output", inner.Bool("norm_output", !config.from_speculators));
  (config.from_speculators ? config.feed_back_normed : config.norm_before_head) = norm_output;
  if (!inner.Bool("use_aux_hidden_state", true)) {
    inner.Fail("use_aux_hidden_state", "true", inner.Find("use_aux_hidden_state"));
  }
  FORERUN_RETURN_IF_ERROR(inner.status());
  if (is_eagle3) {
    ReadTaps(outer, own, target_layers, &config);
  } else {
    config.taps = {target_layers + 1};
  }
  FORERUN_RETURN_IF_ERROR(outer.status());
  return config;
}

}  // namespace forerun
