#include "kindred/report/report.h"

#include <span>

#include "kindred/core/embedded.h"
#include "kindred/core/error.h"

namespace kindred {

std::span<const EmbeddedFile> report_template();

namespace {

constexpr std::string_view kPlace = R"({"kindred":"record goes here"})";

/// As JSON that no browser takes for the end of the script it stands in.
std::string inside_script(const nlohmann::ordered_json& record) {
  // Names in datasets may not be UTF-8: what is not is replaced.
  const std::string text =
      record.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text)
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  return safe;
}

}  // namespace

bool has_report_page() { return true; }

std::string report_page(const nlohmann::ordered_json& record) {
  std::string page(report_template().front().bytes);
  const auto place = page.find(kPlace);
  if (place == std::string::npos || page.find(kPlace, place + 1) != std::string::npos)
    throw Error("the page has no single place for the record");
  return page.replace(place, kPlace.size(), inside_script(record));
}

}  // namespace kindred
