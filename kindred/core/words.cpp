#include "kindred/core/words.h"

#include <fmt/format.h>

#include <algorithm>

namespace kindred {
namespace {

/// How many bytes the character at the beginning of `text` takes; 0 where it is not UTF-8.
std::size_t character_size(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return 1;
  const std::size_t size = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  // Written longer than needed, a half of a pair, beyond Unicode.
  if (byte(0) == 0xe0 && byte(1) < 0xa0) return 0;
  if (byte(0) == 0xed && byte(1) > 0x9f) return 0;
  if (byte(0) == 0xf0 && byte(1) < 0x90) return 0;
  if (byte(0) == 0xf4 && byte(1) > 0x8f) return 0;
  return size;
}

/// The control characters: below the space, DEL, and U+0080 to U+009F.
bool is_control(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) return byte(0) < 0x20 || byte(0) == 0x7f;
  return character.size() == 2 && byte(0) == 0xc2 && byte(1) < 0xa0;
}

}  // namespace

std::string grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  for (auto i = static_cast<std::ptrdiff_t>(text.size()) - 3; i > (number < 0 ? 1 : 0); i -= 3)
    text.insert(static_cast<std::size_t>(i), 1, ',');
  return text;
}

std::string printable(std::string_view text, std::string_view keep) {
  std::string result;
  while (!text.empty()) {
    const std::size_t size = character_size(text);
    const auto character = text.substr(0, std::max<std::size_t>(size, 1));
    text.remove_prefix(character.size());
    const bool kept = size == 1 && keep.find(character[0]) != std::string_view::npos;
    if (kept || (size > 0 && !is_control(character))) {
      result += character;
    } else {
      for (const char c : character)
        result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return result;
}

}  // namespace kindred
