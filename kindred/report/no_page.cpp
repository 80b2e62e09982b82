// The report in a program that was built without Node.
#include "kindred/core/error.h"
#include "kindred/report/report.h"

namespace kindred {

bool has_report_page() { return false; }

std::string report_page(const nlohmann::ordered_json&) {
  throw InvalidArgument(
      "this program was built without the report page; build it where Node 18 or later and npm are "
      "installed");
}

}  // namespace kindred
