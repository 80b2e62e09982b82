// One self-contained page that shows a record: kindred/findings/findings.h makes records, the
// page in report-ui/ draws them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace kindred {

/// Whether the program was built with the page (it needs Node).
bool has_report_page();

/// The page with the record inside, as HTML: it opens anywhere and fetches nothing. Throws
/// InvalidArgument when the program was built without the page.
std::string report_page(const nlohmann::ordered_json& record);

}  // namespace kindred
