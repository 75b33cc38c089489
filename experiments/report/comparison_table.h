// The comparison's rows as tables for people and as JSON for programs.
#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"
#include "experiments/base/table.h"
#include "experiments/report/compare.h"

namespace forerun {

// Speeds and acceptance; a column for the run where rows come from several.
Table SpeedTable(const std::vector<ComparisonRow>& rows);
// Survival and conditional acceptance by position, for arms that drafted.
Table PositionTable(const std::vector<ComparisonRow>& rows);
// Both, under headings, with a line on what the columns mean.
std::string ComparisonMarkdown(const std::vector<ComparisonRow>& rows);

// Every number of a row with its full precision, null where it is undefined. experiments/run/records.md lists
// the keys.
Json ComparisonJson(const std::vector<ComparisonRow>& rows);
// The same as one flat table: lists are joined by ";".
std::string ComparisonCsv(const std::vector<ComparisonRow>& rows);

}  // namespace forerun
