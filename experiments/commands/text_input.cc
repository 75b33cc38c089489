#include "experiments/commands/text_input.h"

#include <cstdio>

#include "experiments/base/files.h"

namespace forerun {

absl::StatusOr<std::string> ReadTextInput(const std::string& name) {
  if (name != "-") return ReadFile(name);
  std::string text;
  char buffer[1 << 14];
  std::size_t got = 0;
  while ((got = std::fread(buffer, 1, sizeof buffer, stdin)) > 0) text.append(buffer, got);
  return text;
}

}  // namespace forerun
