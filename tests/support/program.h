// The built `forerun` program, run as a user would: in a folder of its own, its output caught.
#pragma once

#include <string>
#include <vector>

namespace forerun {

struct ProgramResult {
  int exit_code = -1;  // -1: ended by a signal
  std::string out;
  std::string err;
};

struct ProgramLimits {
  long file_bytes = -1;                 // RLIMIT_FSIZE: a disk that fills up
  double kill_after_seconds = -1;       // kill -9 then
  double interrupt_after_seconds = -1;  // Ctrl-C then
};

// Runs in `folder`.
ProgramResult RunForerun(const std::vector<std::string>& arguments, const std::string& folder,
                         const ProgramLimits& limits = {});

// A fresh folder that goes away with the object.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& name);
  ~TemporaryFolder();
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace forerun
