// What config.json says of an EAGLE head, in one convention: taps count hidden states as they enter a layer
// (ForwardBatch::taps). Published files count in two ways and name a switch by two meanings:
//   eagle_aux_hidden_state_layer_ids   speculators (and vLLM): entering layer i; SpecForge (and SGLang):
//   leaving
//                                      layer i, so one less for the same state. A file of speculators says
//                                      "speculators_model_type".
//   norm_output                        SpecForge, default true: the norm comes before the output matrix;
//                                      speculators, default false: what is fed back has been normed.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "core/base/json.h"
#include "drafters/heads/draft_layer.h"

namespace forerun {

// `width` is that of the head's own stream.
struct EagleConfig : DraftLayerShape {
  bool from_speculators = false;
  int draft_vocab = 0;    // 0: the target's
  std::vector<int> taps;  // EAGLE-3: of the target
  bool norm_before_residual = false;
  bool norm_before_head = true;
  bool feed_back_normed = false;
};

// InvalidArgument in one line that begins with `where`.
absl::StatusOr<EagleConfig> ReadEagleConfig(const Json& config, absl::string_view where, bool is_eagle3,
                                            int target_layers);

}  // namespace forerun
