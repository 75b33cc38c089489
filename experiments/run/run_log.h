// Writes a run directory so that a crash at any moment loses at most the request at hand: a request's rounds
// are appended and synced first, its own line last. One process at a time.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/json.h"
#include "experiments/base/files.h"
#include "experiments/run/records.h"

namespace forerun {

class RunLog {
 public:
  // Makes the directory, or continues one that has the same resolved config (only if `resume`), cutting off a
  // torn tail. FailedPrecondition, with nothing changed, where it holds files but no run, where it has
  // requests and `resume` is false, where its config differs, or where another process writes it.
  static absl::StatusOr<std::unique_ptr<RunLog>> Open(const std::string& directory,
                                                      const Json& resolved_config, bool resume);

  // Adds a session to environment.json. FailedPrecondition where an earlier session had other "inputs"
  // (models, prompts): its rows would not be comparable. DataLoss where requests are done but the file is
  // missing.
  absl::Status BeginSession(const Json& environment);

  bool Done(const std::string& unit) const { return done_.count(unit) > 0; }
  // "<unit>: <why>" of every request that failed, in earlier sessions too.
  const std::vector<std::string>& errors() const { return errors_; }
  int num_done() const { return static_cast<int>(done_.size()); }
  absl::Status Append(const RequestRow& row, const std::vector<RoundRecord>& rounds);
  absl::Status WriteFile(const std::string& name, const std::string& text);

  const std::string& directory() const { return directory_; }

 private:
  RunLog(std::string directory, AppendFile requests, AppendFile rounds)
      : directory_(std::move(directory)), requests_(std::move(requests)), rounds_(std::move(rounds)) {}
  void Note(const RequestRow& row);

  std::string directory_;
  AppendFile requests_;
  AppendFile rounds_;
  std::set<std::string> done_;
  std::vector<std::string> errors_;
};

}  // namespace forerun
