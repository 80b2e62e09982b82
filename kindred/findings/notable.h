// The trajectories a person should look at.
#pragma once

#include <string>
#include <vector>

#include "kindred/findings/column.h"
#include "kindred/findings/run_data.h"

namespace kindred::findings {

struct NotableList {
  std::string id;
  std::string title;
  std::string explanation;
  std::int64_t cluster = -1;           ///< The one it is about, or -1.
  std::vector<std::int64_t> episodes;  ///< Most remarkable first.
};

std::vector<NotableList> notable_lists(const RunData& found);

Json to_json(const std::vector<NotableList>& lists);

}  // namespace kindred::findings
