// Every read asks Need() first; every refusal goes through Error().
#include "core/formats/gguf_reader.h"

#include <utf8proc.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/check.h"

namespace forerun {
namespace {

bool IsName(absl::string_view text) {
  const auto* next = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  auto left = static_cast<utf8proc_ssize_t>(text.size());
  while (left > 0) {
    utf8proc_int32_t character;
    const utf8proc_ssize_t size = utf8proc_iterate(next, left, &character);
    if (size <= 0 || character < 0x20 || (character >= 0x7f && character < 0xa0)) return false;
    next += size;
    left -= size;
  }
  return true;
}

}  // namespace

void GgufReader::Seek(uint64_t position) {
  FORERUN_CHECK(position <= bytes_.size());
  position_ = position;
}

absl::Status GgufReader::Need(uint64_t size, absl::string_view what) const {
  if (size <= remaining()) return absl::OkStatus();
  return Error(position_, absl::StrCat(size, " bytes of ", what),
               absl::StrCat("only ", remaining(), " left in the file"));
}

absl::Status GgufReader::Skip(uint64_t size, absl::string_view what) {
  FORERUN_RETURN_IF_ERROR(Need(size, what));
  position_ += size;
  return absl::OkStatus();
}

absl::StatusOr<absl::string_view> GgufReader::ReadString(absl::string_view what) {
  const uint64_t start = position_;
  FORERUN_ASSIGN_OR_RETURN(const uint64_t length, Read<uint64_t>(what));
  if (length > remaining()) {
    return Error(start, absl::StrCat("at most ", remaining(), " bytes of ", what),
                 absl::StrCat("a length of ", length));
  }
  const absl::string_view text(reinterpret_cast<const char*>(bytes_.data()) + position_, length);
  position_ += length;
  return text;
}

absl::StatusOr<absl::string_view> GgufReader::ReadName(absl::string_view what, uint64_t max_bytes) {
  const uint64_t start = position_;
  FORERUN_ASSIGN_OR_RETURN(const absl::string_view name, ReadString(what));
  if (name.empty() || name.size() > max_bytes) {
    return Error(start, absl::StrCat(what, " of 1 to ", max_bytes, " bytes"),
                 absl::StrCat(name.size(), " bytes"));
  }
  if (!IsName(name)) {
    return Error(start, absl::StrCat(what, " in UTF-8 without control characters"), Quoted(name));
  }
  return name;
}

absl::Status GgufReader::Error(uint64_t offset, absl::string_view expected, absl::string_view found) const {
  return absl::InvalidArgumentError(
      absl::StrCat(file_, ": ", subject_, " at offset ", offset, ": expected ", expected, ", found ", found));
}

std::string Quoted(absl::string_view text) {
  constexpr size_t kShown = 80;
  if (text.size() <= kShown) return absl::StrCat("'", absl::CHexEscape(text), "'");
  return absl::StrCat("'", absl::CHexEscape(text.substr(0, kShown)), "'...");
}

}  // namespace forerun
