#include "experiments/run/run_files.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "core/base/damage.h"
#include "core/base/status_macros.h"
#include "experiments/base/files.h"

namespace forerun {
namespace {

struct Line {
  Json json;
  std::string where;  // file and line
  int64_t end = 0;    // offset just after it
};

absl::Status Damaged(const std::string& where, absl::string_view what) {
  return absl::DataLossError(absl::StrCat(where, ": ", what));
}

// Complete lines; whatever follows the last newline, or a last line that is no JSON, is torn.
absl::StatusOr<std::vector<Line>> ReadLines(const std::string& path) {
  FORERUN_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  std::vector<Line> lines;
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    const std::string where = absl::StrCat(path, ":", lines.size() + 1);
    absl::StatusOr<Json> json = ParseJson(absl::string_view(text).substr(begin, end - begin), where);
    if (!json.ok() && end + 1 < text.size()) return absl::DataLossError(json.status().message());
    if (!json.ok()) break;
    lines.push_back({*std::move(json), where, static_cast<int64_t>(end + 1)});
    begin = end + 1;
  }
  return lines;
}

std::string Join(const std::string& path, const std::string& step) {
  return path.empty() ? step : path + "." + step;
}

std::string FirstDifferenceAt(const std::string& path, const Json& a, const Json& b) {
  if (a.is_object() && b.is_object()) {
    for (const auto& member : a.items()) {
      const std::string inside = Join(path, member.key());
      if (!b.contains(member.key()))
        return absl::StrCat(inside, ": ", DumpJson(member.value()), " and nothing");
      const std::string difference = FirstDifferenceAt(inside, member.value(), b[member.key()]);
      if (!difference.empty()) return difference;
    }
    for (const auto& member : b.items()) {
      if (!a.contains(member.key())) {
        return absl::StrCat(Join(path, member.key()), ": nothing and ", DumpJson(member.value()));
      }
    }
    return "";
  }
  if (a.is_array() && b.is_array()) {
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      const std::string difference = FirstDifferenceAt(Join(path, std::to_string(i)), a[i], b[i]);
      if (!difference.empty()) return difference;
    }
    return a.size() == b.size() ? ""
                                : absl::StrCat(path, ": ", a.size(), " entries and ", b.size(), " entries");
  }
  return a == b ? "" : absl::StrCat(path, ": ", DumpJson(a), " and ", DumpJson(b));
}

}  // namespace

absl::StatusOr<RunRecords> ReadRunRecords(const std::string& directory) {
  FORERUN_ASSIGN_OR_RETURN(const std::vector<Line> requests, ReadLines(directory + "/" + kRequestsFile));
  FORERUN_ASSIGN_OR_RETURN(const std::vector<Line> rounds, ReadLines(directory + "/" + kRoundsFile));
  RunRecords records;
  std::set<std::string> units;
  std::size_t next = 0;
  for (const Line& line : requests) {
    LoggedRequest request;
    FORERUN_ASSIGN_OR_RETURN(request.row, AsDamage(ReadRequestRow(line.json, line.where)));
    if (!units.insert(request.row.unit).second)
      return Damaged(line.where, "unit " + request.row.unit + " is doubled");
    for (int i = 0; i < request.row.rounds; ++i, ++next) {
      if (next == rounds.size()) return Damaged(line.where, "its rounds are missing");
      std::string unit;
      FORERUN_ASSIGN_OR_RETURN(RoundRecord round,
                               AsDamage(ReadRound(rounds[next].json, rounds[next].where, &unit)));
      if (unit != request.row.unit || round.round != i) {
        return Damaged(rounds[next].where, absl::StrCat("expected round ", i, " of ", request.row.unit,
                                                        ", found round ", round.round, " of ", unit));
      }
      request.rounds.push_back(std::move(round));
      records.rounds_bytes = rounds[next].end;
    }
    records.requests_bytes = line.end;
    records.requests.push_back(std::move(request));
  }
  return records;
}

std::string FirstDifference(const Json& a, const Json& b) { return FirstDifferenceAt("", a, b); }

}  // namespace forerun
