#include "experiments/run/run_log.h"

#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/damage.h"
#include "core/base/status_macros.h"
#include "experiments/run/run_files.h"

namespace forerun {
namespace {

absl::Status CheckSameConfig(const std::string& path, const Json& resolved) {
  FORERUN_ASSIGN_OR_RETURN(const Json written, AsDamage(ReadJsonFile(path)));
  const std::string difference = FirstDifference(written, resolved);
  if (difference.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(path, ": the run has another config; first difference (run and now): ", difference));
}

// What a run that was stopped before its config was written may have left.
bool LeftByAStart(const std::filesystem::directory_entry& entry) {
  std::error_code error;
  const std::string name = entry.path().filename().string();
  if (name == kRequestsFile || name == kRoundsFile) return entry.file_size(error) == 0;
  return absl::StartsWith(name, absl::StrCat(kConfigFile, ".")) && absl::EndsWith(name, ".new");
}

// Files of somebody else must not be mistaken for a run and cut.
absl::Status CheckIsOurs(const std::string& directory) {
  std::error_code error;
  if (std::filesystem::exists(directory + "/" + kConfigFile, error)) return absl::OkStatus();
  std::filesystem::directory_iterator entry(directory, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (LeftByAStart(*entry)) continue;
    return absl::FailedPreconditionError(
        absl::StrCat(directory, ": holds files but no run (no ", kConfigFile, "); --out names another"));
  }
  if (error) return FileError(directory, "cannot read", error.value());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<RunLog>> RunLog::Open(const std::string& directory,
                                                     const Json& resolved_config, bool resume) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return FileError(directory, "cannot create", error.value());
  FORERUN_RETURN_IF_ERROR(CheckIsOurs(directory));
  FORERUN_ASSIGN_OR_RETURN(AppendFile requests, AppendFile::Open(directory + "/" + kRequestsFile));
  if (!requests.TryLock()) {
    return absl::FailedPreconditionError(directory + ": another process is writing this run");
  }
  FORERUN_ASSIGN_OR_RETURN(AppendFile rounds, AppendFile::Open(directory + "/" + kRoundsFile));
  std::unique_ptr<RunLog> log(new RunLog(directory, std::move(requests), std::move(rounds)));
  FORERUN_ASSIGN_OR_RETURN(const RunRecords records, ReadRunRecords(directory));
  for (const LoggedRequest& request : records.requests) log->Note(request.row);
  if (log->num_done() > 0 && !resume) {
    return absl::FailedPreconditionError(
        absl::StrCat(directory, ": has ", log->num_done(),
                     " finished requests; --resume continues it, --out names another"));
  }
  const std::string config_path = directory + "/" + kConfigFile;
  if (log->num_done() > 0) {
    FORERUN_RETURN_IF_ERROR(CheckSameConfig(config_path, resolved_config));
  } else {
    FORERUN_RETURN_IF_ERROR(WriteFileAtomically(config_path, DumpJson(resolved_config, 2) + "\n"));
    std::filesystem::remove(directory + "/" + kEnvironmentFile, error);
  }
  FORERUN_RETURN_IF_ERROR(log->requests_.Truncate(records.requests_bytes));  // a torn tail goes
  FORERUN_RETURN_IF_ERROR(log->rounds_.Truncate(records.rounds_bytes));
  return log;
}

void RunLog::Note(const RequestRow& row) {
  done_.insert(row.unit);
  if (!row.error.empty()) errors_.push_back(absl::StrCat(row.unit, ": ", row.error));
}

absl::Status RunLog::BeginSession(const Json& environment) {
  const std::string path = directory_ + "/" + kEnvironmentFile;
  Json file;
  file["sessions"] = Json::array();
  std::error_code error;
  if (std::filesystem::exists(path, error)) {
    FORERUN_ASSIGN_OR_RETURN(file, AsDamage(ReadJsonFile(path)));
    const bool well_formed = file.is_object() && file.contains("sessions") && file["sessions"].is_array() &&
                             !file["sessions"].empty() && file["sessions"][0].is_object();
    if (!well_formed) return absl::DataLossError(path + ": expected {\"sessions\": [{...}, ...]}");
    const Json before = file["sessions"][0].value("inputs", Json());
    const std::string difference = FirstDifference(before, environment.value("inputs", Json()));
    if (!difference.empty()) {
      return absl::FailedPreconditionError(absl::StrCat(
          path, ": models or prompts have changed since the run began (then and now): ", difference));
    }
  } else if (num_done() > 0) {
    return absl::DataLossError(absl::StrCat(path, ": missing, though ", num_done(), " requests are done"));
  }
  Json session = environment;
  session["requests_done_before"] = num_done();
  file["sessions"].push_back(std::move(session));
  return WriteFileAtomically(path, DumpJson(file, 2) + "\n");
}

absl::Status RunLog::Append(const RequestRow& row, const std::vector<RoundRecord>& rounds) {
  std::string text;
  for (const RoundRecord& round : rounds) absl::StrAppend(&text, DumpJson(RoundJson(row.unit, round)), "\n");
  FORERUN_RETURN_IF_ERROR(rounds_.Append(text));
  FORERUN_RETURN_IF_ERROR(rounds_.Sync());
  FORERUN_RETURN_IF_ERROR(requests_.Append(DumpJson(RequestRowJson(row)) + "\n"));
  FORERUN_RETURN_IF_ERROR(requests_.Sync());
  Note(row);
  return absl::OkStatus();
}

absl::Status RunLog::WriteFile(const std::string& name, const std::string& text) {
  return WriteFileAtomically(directory_ + "/" + name, text);
}

}  // namespace forerun
