// Reading a page that a mapped file no longer has raises SIGBUS. While a mapping is guarded, the handler
// answers with one line naming the file and exit code 3 (a bad file); any other SIGBUS goes
// where it went before.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace forerun {

struct MappingGuard;

// Thread-safe. `name` is the file in the message.
MappingGuard* GuardMapping(std::span<const std::byte> bytes, const std::string& name);
void UnguardMapping(MappingGuard* guard);

}  // namespace forerun
