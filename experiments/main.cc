// The `forerun` program: picks the subcommand, prints one line for an error, returns its exit code.
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/json.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/exit_code.h"

namespace forerun {
namespace {

int Fail(int code, const std::string& message) {
  std::fprintf(stderr, "forerun: %s\n", message.c_str());
  return code;
}

// What is wrong with the first word, where it is no command.
std::string UnknownCommand(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  if (std::find(names.begin(), names.end(), word) != names.end()) return "";
  const std::string nearest = Nearest(word, names);
  return absl::StrCat("unknown command \"", word, "\"; ", nearest.empty() ? "there are " : "nearest is ",
                      nearest.empty() ? absl::StrJoin(names, ", ") : nearest);
}

// A standard stream that is closed would give its number to the next file opened, and messages would land
// there. Nothing is read from the stand-in, and a write to it is an error as it was before.
void OccupyStandardStreams() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF) open("/dev/null", O_RDONLY);
  }
}

int FinishOutput() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return kExitOk;
  return Fail(kExitResources, "cannot write the output");
}

int Main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error to report, like a full disk
  CLI::App app("Speculative decoding: draft with something cheap, verify with the target, measure honestly.",
               "forerun");
  app.require_subcommand(1);
  app.footer(ExitCodeTable());
  const std::vector<Command> commands = {
      AddRunCommand(app),      AddCompareCommand(app), AddGenerateCommand(app),  AddScoreCommand(app),
      AddTokenizeCommand(app), AddListCommand(app),    AddSignatureCommand(app), AddBenchCommand(app),
      AddServeCommand(app),    AddOverlapCommand(app), AddCorpusCommand(app),    AddCheckCommand(app)};
  if (argc > 1 && argv[1][0] != '-') {
    const std::string unknown = UnknownCommand(app, argv[1]);
    if (!unknown.empty()) return Fail(kExitUsage, unknown);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help
      app.exit(error);
      return FinishOutput();
    }
    return Fail(kExitUsage, std::string(error.what()) + " (see forerun --help)");
  }
  for (const Command& command : commands) {
    if (!command.options->parsed()) continue;
    const absl::Status status = command.run();
    if (!status.ok()) return Fail(ExitCodeOf(status), std::string(status.message()));
  }
  return FinishOutput();
}

// Libraries throw where memory or threads run out.
int MainWithoutExceptions(int argc, char** argv) {
  try {
    return Main(argc, argv);
  } catch (const std::bad_alloc&) {
    return Fail(kExitResources, "out of memory");
  } catch (const std::system_error& error) {
    return Fail(kExitResources, error.what());
  } catch (const std::exception& error) {
    return Fail(kExitInternal, error.what());
  }
}

}  // namespace
}  // namespace forerun

int main(int argc, char** argv) {
  forerun::OccupyStandardStreams();
  return forerun::MainWithoutExceptions(argc, argv);
}
