#include "experiments/lossless/signature.h"

#include <cstdio>
#include <memory>

#include "core/base/status_macros.h"
#include "experiments/commands/commands.h"

namespace forerun {
namespace {

absl::Status PrintSignature(bool each) {
  FORERUN_ASSIGN_OR_RETURN(const std::vector<SignaturePart> parts, SignatureParts(kSignatureSeed));
  if (each) {
    for (const SignaturePart& part : parts)
      std::printf("%s  %s\n", HashText(part.hash).c_str(), part.pairing.c_str());
  }
  std::printf("%s\n", SignatureOf(parts).c_str());
  return absl::OkStatus();
}

}  // namespace

Command AddSignatureCommand(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "signature",
      "Print a hash of what every drafter and rule does with fixed seeds; any change of it is a "
      "change of behaviour");
  auto each = std::make_shared<bool>(false);
  command->add_flag("--each", *each, "Print each pairing's own hash first");
  command->footer("Example:\n  forerun signature | diff - tests/golden/signature.txt");
  return {command, [each] { return PrintSignature(*each); }};
}

}  // namespace forerun
