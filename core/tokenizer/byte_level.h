// GPT-2's byte alphabet: every byte is written as one printable character ("Ġ" is a space), so that a
// vocabulary of text can hold any bytes.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace forerun {

// The character that stands for `byte`, in UTF-8.
absl::string_view ByteSymbol(uint8_t byte);

// The bytes that a token's text stands for. Text with a character outside the alphabet stands for itself.
std::string BytesOfSymbols(absl::string_view text);

}  // namespace forerun
