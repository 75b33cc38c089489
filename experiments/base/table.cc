#include "experiments/base/table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace forerun {
namespace {

std::string MarkdownRow(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                        int text_columns) {
  std::string line = "|";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string cell = absl::StrReplaceAll(cells[i], {{"|", "\\|"}});
    const std::string space(widths[i] - std::min(widths[i], TextWidth(cell)), ' ');
    const bool left = static_cast<int>(i) < text_columns;
    absl::StrAppend(&line, " ", left ? cell : space, left ? space : cell, " |");
  }
  return line + "\n";
}

std::string CsvRow(const std::vector<std::string>& cells) {
  std::string line;
  for (const std::string& cell : cells) {
    const bool quoted = cell.find_first_of(",\"\n\r") != std::string::npos;
    const std::string inside =
        quoted ? absl::StrCat("\"", absl::StrReplaceAll(cell, {{"\"", "\"\""}}), "\"") : cell;
    absl::StrAppend(&line, &cell == &cells.front() ? "" : ",", inside);
  }
  return line + "\n";
}

}  // namespace

std::size_t TextWidth(const std::string& text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

std::string Markdown(const Table& table) {
  std::vector<std::size_t> widths;
  for (const std::string& name : table.header) widths.push_back(std::max<std::size_t>(3, TextWidth(name)));
  for (const std::vector<std::string>& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], TextWidth(absl::StrReplaceAll(row[i], {{"|", "\\|"}})));
    }
  }
  std::string text = MarkdownRow(table.header, widths, table.text_columns);
  text += "|";
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const bool left = static_cast<int>(i) < table.text_columns;
    absl::StrAppend(&text, std::string(widths[i] + 1, '-'), left ? "-" : ":", "|");
  }
  text += "\n";
  for (const std::vector<std::string>& row : table.rows) text += MarkdownRow(row, widths, table.text_columns);
  return text;
}

std::string Csv(const Table& table) {
  std::string text = CsvRow(table.header);
  for (const std::vector<std::string>& row : table.rows) text += CsvRow(row);
  return text;
}

}  // namespace forerun
