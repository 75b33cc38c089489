// libFuzzer: any bytes come back from byte-level BPE, and their tokens stream as whole characters.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "core/tokenizer/tokenizer.h"
#include "core/tokenizer/utf8.h"

namespace {

using forerun::GgufFile;
using forerun::TokenId;
using forerun::Tokenizer;

std::unique_ptr<Tokenizer> OpenTiny() {
  const auto file = GgufFile::Open(FORERUN_SOURCE_DIR "/tests/data/tiny-python/tiny-python-target-f16.gguf");
  auto tokenizer = file.ok() ? Tokenizer::FromGguf(*file) : file.status();
  if (tokenizer.ok()) return *std::move(tokenizer);
  std::fprintf(stderr, "%s\n", tokenizer.status().ToString().c_str());
  std::abort();
}

void Require(bool condition) {
  if (!condition) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::unique_ptr<Tokenizer> tokenizer = OpenTiny();
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const bool parse_special : {false, true}) {
    const auto ids = tokenizer->Encode(text, {.parse_special = parse_special});
    Require(ids.ok() && tokenizer->Decode(*ids, true) == text);
    forerun::StreamDecoder decoder(*tokenizer);
    std::string streamed;
    for (const TokenId id : *ids) {
      const std::string part = decoder.Add(id);
      Require(forerun::ValidUtf8Prefix(part) == part.size());
      streamed += part;
    }
    streamed += decoder.Finish();
    if (!parse_special && forerun::ValidUtf8Prefix(text) == size) Require(streamed == text);
  }
  return 0;
}
