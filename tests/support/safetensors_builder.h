// Writes safetensors files for tests: valid ones, and ones whose header is any text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/formats/safetensors_file.h"

namespace forerun {

// The header's length, the header, the data; `length` instead of the true one where it is not negative.
std::string SafetensorsBytes(absl::string_view header, absl::string_view data, int64_t length = -1);

class SafetensorsBuilder {
 public:
  SafetensorsBuilder& Tensor(absl::string_view name, SafetensorsType type, const std::vector<int64_t>& shape,
                             absl::string_view data);
  // Stored as `type`, one of the float types; rounded where that is F16, cut to its bits where it is BF16.
  SafetensorsBuilder& Floats(absl::string_view name, const std::vector<int64_t>& shape,
                             const std::vector<float>& values, SafetensorsType type = SafetensorsType::kF32);
  SafetensorsBuilder& Integers(absl::string_view name, const std::vector<int64_t>& values);  // I64, one row
  std::string Build() const;

 private:
  std::string members_, data_;
};

}  // namespace forerun
