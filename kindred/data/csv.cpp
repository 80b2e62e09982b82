#include "kindred/data/csv.h"

#include <algorithm>
#include <utility>

#include "kindred/core/error.h"

namespace kindred {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool ends_line(char c) { return c == '\n' || c == '\r'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Walks over the text once, field by field.
class Parser {
 public:
  Parser(std::string_view text, std::string_view what) : rest_(text), what_(what) {
    if (rest_.starts_with(kByteOrderMark)) rest_.remove_prefix(kByteOrderMark.size());
  }

  /// The next line that is not empty; no fields at the end of the text.
  CsvTable::Row next_row() {
    while (!rest_.empty() && ends_line(rest_.front())) skip_line_end();
    CsvTable::Row row{line_, {}};
    if (rest_.empty()) return row;
    row.fields.push_back(next_field());
    while (!rest_.empty() && rest_.front() == ',') {
      rest_.remove_prefix(1);
      row.fields.push_back(next_field());
    }
    skip_line_end();
    return row;
  }

 private:
  std::string next_field() {
    const auto start = rest_.find_first_not_of(" \t");
    if (start != std::string_view::npos && rest_[start] == '"') {
      rest_.remove_prefix(start + 1);
      return quoted_field();
    }
    const auto field = rest_.substr(0, rest_.find_first_of(",\r\n"));
    rest_.remove_prefix(field.size());
    return std::string(trimmed(field));
  }

  std::string quoted_field() {
    const std::int64_t opened = line_;
    std::string field;
    while (true) {
      const auto quote = rest_.find('"');
      if (quote == std::string_view::npos)
        throw DataFormatError("{} line {}: a quoted field is not closed; end it with a '\"'", what_,
                              opened);
      const auto part = rest_.substr(0, quote);
      line_ += std::ranges::count(part, '\n');
      field += part;
      rest_.remove_prefix(quote + 1);
      if (!rest_.starts_with('"')) break;
      field += '"';
      rest_.remove_prefix(1);
    }
    while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
    if (!rest_.empty() && rest_.front() != ',' && !ends_line(rest_.front()))
      throw DataFormatError(
          "{} line {}: expected a comma or the end of the line after a closing "
          "quote; write a quote inside a field as two",
          what_, line_);
    return field;
  }

  void skip_line_end() {
    if (rest_.empty()) return;
    rest_.remove_prefix(rest_.starts_with("\r\n") ? 2 : 1);
    ++line_;
  }

  std::string_view rest_;
  std::string_view what_;
  std::int64_t line_ = 1;
};

}  // namespace

std::optional<std::size_t> CsvTable::column(std::string_view name) const {
  const auto found = std::ranges::find(header, name);
  if (found == header.end()) return std::nullopt;
  return static_cast<std::size_t>(found - header.begin());
}

CsvTable parse_csv(std::string_view text, std::string_view what) {
  Parser parser(text, what);
  CsvTable table;
  table.header = parser.next_row().fields;
  if (table.header.empty())
    throw DataFormatError("{}: empty; expected a header line with the names of the columns", what);
  for (auto row = parser.next_row(); !row.fields.empty(); row = parser.next_row()) {
    if (row.fields.size() != table.header.size())
      throw DataFormatError("{} line {}: found {} fields, expected {} as in the header", what,
                            row.line, row.fields.size(), table.header.size());
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string csv_field(std::string_view field) {
  // The first field of a file could begin like a byte-order mark; a lone empty one like no row.
  const bool plain = !field.empty() && field.find_first_of(",\"\r\n") == std::string_view::npos &&
                     trimmed(field).size() == field.size() && !field.starts_with(kByteOrderMark);
  if (plain) return std::string(field);
  std::string quoted = "\"";
  for (const char c : field) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace kindred
