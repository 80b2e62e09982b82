#include "kindred/core/words.h"

namespace kindred {

std::string grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  for (auto i = static_cast<std::ptrdiff_t>(text.size()) - 3; i > (number < 0 ? 1 : 0); i -= 3)
    text.insert(static_cast<std::size_t>(i), 1, ',');
  return text;
}

}  // namespace kindred
