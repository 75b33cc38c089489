#include "experiments/commands/json_lines.h"

#include <cstdio>
#include <iostream>

namespace forerun {
namespace {

void PrintLine(const Json& json) {
  std::printf("%s\n", DumpJson(json).c_str());
  std::fflush(stdout);
}

}  // namespace

void AnswerJsonLines(const Json& about,
                     const std::function<absl::StatusOr<Json>(const std::string& line)>& answer) {
  PrintLine(about);
  for (std::string line; std::getline(std::cin, line);) {
    const absl::StatusOr<Json> answered = answer(line);
    PrintLine(answered.ok() ? *answered : Json({{"error", std::string(answered.status().message())}}));
  }
}

}  // namespace forerun
