// A cursor over the bytes of a GGUF file that never leaves them, and the one form in which a bad file is
// reported:
// "<file>: <subject> at offset <n>: expected <...>, found <...>".
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/status_macros.h"

namespace forerun {

class GgufReader {
 public:
  // `file` is the name in messages; `bytes` must outlive the reader and every view read from it.
  GgufReader(absl::string_view file, std::span<const std::byte> bytes, uint64_t position = 0)
      : file_(file), bytes_(bytes), position_(position) {}

  // What is being read now, for messages: "key 'general.name'".
  void set_subject(std::string subject) { subject_ = std::move(subject); }
  uint64_t position() const { return position_; }
  void Seek(uint64_t position);  // must lie within the bytes
  uint64_t remaining() const { return bytes_.size() - position_; }
  std::span<const std::byte> bytes() const { return bytes_; }

  // `what` names the field if the file ends inside it: "the value type".
  template <typename T>
  absl::StatusOr<T> Read(absl::string_view what) {
    static_assert(std::is_arithmetic_v<T>);
    FORERUN_RETURN_IF_ERROR(Need(sizeof(T), what));
    T value;
    std::memcpy(&value, bytes_.data() + position_, sizeof(T));
    position_ += sizeof(T);
    return value;
  }
  absl::Status Skip(uint64_t size, absl::string_view what);
  // A length (u64), then that many bytes of anything: a view into the file.
  absl::StatusOr<absl::string_view> ReadString(absl::string_view what);
  // A string that is a name: 1..max_bytes bytes of UTF-8 without control characters, so it fits into a
  // message.
  absl::StatusOr<absl::string_view> ReadName(absl::string_view what, uint64_t max_bytes);

  absl::Status Error(uint64_t offset, absl::string_view expected, absl::string_view found) const;

 private:
  absl::Status Need(uint64_t size, absl::string_view what) const;

  absl::string_view file_;
  std::span<const std::byte> bytes_;
  uint64_t position_;  // <= bytes_.size()
  std::string subject_;
};

// Untrusted text made fit for one line of a message.
std::string Quoted(absl::string_view text);

}  // namespace forerun
