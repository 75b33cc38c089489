// Stepping through bytes that may or may not be UTF-8. Invalid bytes are grouped as the Unicode standard
// recommends (one error per maximal subpart), which is what Python's 'replace' and browsers do.
#pragma once

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace forerun {

enum class Utf8Kind {
  kValid,       // one whole character
  kInvalid,     // a maximal subpart: its bytes together are one error
  kUnfinished,  // the text ends inside a character that more bytes could complete
};

struct Utf8Step {
  Utf8Kind kind;
  int size;  // bytes, at least 1
};

// `bytes` must not be empty.
Utf8Step StepUtf8(absl::string_view bytes);

// Bytes before the first invalid or unfinished character.
std::size_t ValidUtf8Prefix(absl::string_view bytes);

}  // namespace forerun
