#include "tests/support/program.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "gtest/gtest.h"

namespace forerun {
namespace {

std::string ReadAll(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

[[noreturn]] void BecomeProgram(const std::vector<std::string>& arguments, const std::string& folder,
                                const std::string& out, const std::string& err, const ProgramLimits& limits) {
  std::vector<char*> argv = {const_cast<char*>(FORERUN_BINARY)};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const int out_file = open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int err_file = open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dup2(out_file, STDOUT_FILENO);
  dup2(err_file, STDERR_FILENO);
  if (limits.file_bytes >= 0) {
    const struct rlimit limit = {static_cast<rlim_t>(limits.file_bytes),
                                 static_cast<rlim_t>(limits.file_bytes)};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  if (chdir(folder.c_str()) == 0) execv(argv[0], argv.data());
  _exit(127);
}

// Sends `signal` after `seconds` unless the process ends before.
void SignalLater(pid_t child, int signal, double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  kill(child, signal);
}

}  // namespace

ProgramResult RunForerun(const std::vector<std::string>& arguments, const std::string& folder,
                         const ProgramLimits& limits) {
  const TemporaryFolder streams("streams");
  const pid_t child = fork();
  if (child == 0) BecomeProgram(arguments, folder, streams / "out", streams / "err", limits);
  if (limits.kill_after_seconds >= 0) SignalLater(child, SIGKILL, limits.kill_after_seconds);
  if (limits.interrupt_after_seconds >= 0) SignalLater(child, SIGINT, limits.interrupt_after_seconds);
  int status = 0;
  waitpid(child, &status, 0);  // the pid stays ours until here, so a late signal hits nobody else
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, ReadAll(streams / "out"), ReadAll(streams / "err")};
}

TemporaryFolder::TemporaryFolder(const std::string& name) {
  std::string pattern = ::testing::TempDir() + "/forerun_" + name + ".XXXXXX";
  path_ = mkdtemp(pattern.data());
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  std::filesystem::permissions(path_, std::filesystem::perms::owner_all, error);
  std::filesystem::remove_all(path_, error);
}

}  // namespace forerun
