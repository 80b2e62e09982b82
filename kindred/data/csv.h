// Small comma-separated tables with a header line (RFC 4180), as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kindred {

/// A header and rows with as many fields each. Fields are text, without their quotes.
struct CsvTable {
  struct Row {
    std::int64_t line;  ///< Where it begins, from 1: for messages.
    std::vector<std::string> fields;
  };
  std::vector<std::string> header;
  std::vector<Row> rows;

  /// The position of the column called `name`.
  std::optional<std::size_t> column(std::string_view name) const;
};

/// Takes LF, CRLF or CR line ends, a byte-order mark, empty lines, and quoted fields with commas,
/// line ends and doubled quotes inside; spaces around an unquoted field are dropped.
/// Throws DataFormatError naming `what` and the line.
CsvTable parse_csv(std::string_view text, std::string_view what);

/// `field` as it is written into a row: quoted where parse_csv would read it otherwise.
std::string csv_field(std::string_view field);

}  // namespace kindred
