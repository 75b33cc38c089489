#include "core/tokenizer/byte_level.h"

#include <array>

namespace forerun {
namespace {

constexpr int kLastCodePoint = 0x143;  // 68 bytes are moved to U+0100..U+0143

constexpr bool StandsForItself(int byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

struct Alphabet {
  std::array<std::array<char, 2>, 256> symbol = {};
  std::array<uint8_t, 256> size = {};
  std::array<int16_t, kLastCodePoint + 1> byte_of = {};  // -1: not in the alphabet
};

constexpr Alphabet MakeAlphabet() {
  Alphabet alphabet;
  for (auto& byte : alphabet.byte_of) byte = -1;
  int moved = 0;
  for (int byte = 0; byte < 256; ++byte) {
    const int code = StandsForItself(byte) ? byte : 0x100 + moved++;
    alphabet.byte_of[code] = static_cast<int16_t>(byte);
    alphabet.size[byte] = code < 0x80 ? 1 : 2;
    if (code < 0x80) {
      alphabet.symbol[byte][0] = static_cast<char>(code);
    } else {
      alphabet.symbol[byte] = {static_cast<char>(0xC0 | (code >> 6)),
                               static_cast<char>(0x80 | (code & 0x3F))};
    }
  }
  return alphabet;
}

constexpr Alphabet kAlphabet = MakeAlphabet();

}  // namespace

absl::string_view ByteSymbol(uint8_t byte) { return {kAlphabet.symbol[byte].data(), kAlphabet.size[byte]}; }

std::string BytesOfSymbols(absl::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    int code = static_cast<uint8_t>(text[at]);
    if ((code & 0xE0) == 0xC0 && at + 1 < text.size())
      code = (code & 0x1F) << 6 | (text[++at] & 0x3F);
    else if (code >= 0x80)
      return std::string(text);
    if (code > kLastCodePoint || kAlphabet.byte_of[code] < 0) return std::string(text);
    bytes.push_back(static_cast<char>(kAlphabet.byte_of[code]));
  }
  return bytes;
}

}  // namespace forerun
