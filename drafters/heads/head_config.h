// Members of a head's config.json.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/base/json.h"
#include "drafters/heads/draft_layer.h"

namespace forerun {

// Reads what it knows of an object and passes over the rest: a model's config.json holds much that says
// nothing about its shape. The first thing that is wrong is its status, in one line that begins with `where`.
class ConfigReader {
 public:
  ConfigReader(const Json& config, absl::string_view where) : config_(config), where_(where) {}

  const Json* Find(absl::string_view key) const;  // null where missing or null
  const Json& ObjectOr(absl::string_view key, const Json& otherwise) const;
  int Int(absl::string_view key, int otherwise, int least, int most);
  int Count(absl::string_view key,
            int otherwise);                                // above 0; otherwise = 0: required
  double Number(absl::string_view key, double otherwise);  // above 0
  bool Bool(absl::string_view key, bool otherwise);
  // Fails where the member is there and is something else.
  void Expect(absl::string_view key, const Json& value);
  void Fail(absl::string_view key, absl::string_view expected, const Json* found);
  const absl::Status& status() const { return status_; }

 private:
  const Json& config_;
  std::string where_;
  absl::Status status_;
};

// A decoder layer as config.json of a Llama-like model describes it: hidden_size, intermediate_size,
// num_attention_heads, num_key_value_heads, head_dim, rms_norm_eps, hidden_act (silu), and the rotation.
// rope_theta, where absent, is 10000, whatever the target's is.
DraftLayerShape ReadLayerShape(ConfigReader& reader);

}  // namespace forerun
