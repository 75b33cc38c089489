// What config.json says of an EAGLE head, in one convention: taps count hidden states as they enter a layer
// (ForwardBatch::taps). Published files count in two ways and name a switch by two meanings:
//   eagle_aux_hidden_state_layer_ids   speculators (and vLLM): entering layer i; SpecForge (and SGLang):
//   leaving
//                                      layer i, so one less for the same state. A file of speculators says
//                                      "speculators_model_type".
//   norm_output                        SpecForge, default true: the norm comes before the output matrix;
//                                      speculators, default false: what is fed back has been normed.
// rope_theta, where absent, is 10000, whatever the target's is.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "core/base/json.h"

namespace forerun {

struct EagleConfig {
  bool from_speculators = false;
  int width = 0;  // of the head's own stream
  int ffn_width = 0;
  int heads = 0, kv_heads = 0, head_size = 0;
  float norm_epsilon = 1e-6f;
  float rope_base = 10000;
  float rope_scale = 1;   // positions are multiplied by it
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
