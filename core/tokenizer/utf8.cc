// The well-formed byte sequences of the Unicode standard, table 3-7.
#include "core/tokenizer/utf8.h"

#include <cstdint>
#include <cstring>

namespace forerun {
namespace {

struct Lead {
  int continuations;  // -1: no character starts with this byte
  uint8_t low, high;  // range of the byte that follows
};

Lead LeadOf(uint8_t byte) {
  if (byte < 0x80) return {0, 0, 0};
  if (byte < 0xC2) return {-1, 0, 0};
  if (byte < 0xE0) return {1, 0x80, 0xBF};
  if (byte == 0xE0) return {2, 0xA0, 0xBF};
  if (byte == 0xED) return {2, 0x80, 0x9F};  // no surrogates
  if (byte < 0xF0) return {2, 0x80, 0xBF};
  if (byte == 0xF0) return {3, 0x90, 0xBF};
  if (byte < 0xF4) return {3, 0x80, 0xBF};
  if (byte == 0xF4) return {3, 0x80, 0x8F};  // nothing above U+10FFFF
  return {-1, 0, 0};
}

}  // namespace

Utf8Step StepUtf8(absl::string_view bytes) {
  const Lead lead = LeadOf(static_cast<uint8_t>(bytes[0]));
  if (lead.continuations < 0) return {Utf8Kind::kInvalid, 1};
  for (int i = 1; i <= lead.continuations; ++i) {
    if (static_cast<std::size_t>(i) == bytes.size()) return {Utf8Kind::kUnfinished, i};
    const uint8_t byte = static_cast<uint8_t>(bytes[i]);
    const bool fits = i == 1 ? lead.low <= byte && byte <= lead.high : (byte & 0xC0) == 0x80;
    if (!fits) return {Utf8Kind::kInvalid, i};
  }
  return {Utf8Kind::kValid, lead.continuations + 1};
}

std::size_t ValidUtf8Prefix(absl::string_view bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    uint64_t word = 0;
    if (bytes.size() - at >= sizeof(word)) {
      std::memcpy(&word, bytes.data() + at, sizeof(word));
      if ((word & 0x8080808080808080u) == 0) {  // eight ASCII characters
        at += sizeof(word);
        continue;
      }
    }
    const Utf8Step step = StepUtf8(bytes.substr(at));
    if (step.kind != Utf8Kind::kValid) break;
    at += step.size;
  }
  return at;
}

}  // namespace forerun
