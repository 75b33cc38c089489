// Text tables: Markdown whose columns line up in a terminal, and CSV.
#pragma once

#include <string>
#include <vector>

namespace forerun {

struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;  // each as long as the header
  int text_columns = 1;                        // the first ones, left-aligned; the others are numbers
};

std::string Markdown(const Table& table);
std::string Csv(const Table& table);  // RFC 4180 quoting, "\n" line ends

// Columns that a UTF-8 text takes in a terminal: code points, none of which is wide here.
std::size_t TextWidth(const std::string& text);

}  // namespace forerun
