#include "kindred/conflicts/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "kindred/core/error.h"
#include "kindred/core/files.h"

namespace kindred {
namespace {

constexpr std::int64_t kMostVertices = 10'000'000;

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  constexpr std::string_view kSpace = " \t\r";
  for (std::size_t begin = line.find_first_not_of(kSpace); begin != line.npos;) {
    const auto end = std::min(line.find_first_of(kSpace, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(kSpace, end);
  }
  return words;
}

std::optional<std::int64_t> whole_number(std::string_view word) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || value < 0) return std::nullopt;
  return value;
}

}  // namespace

Graph::Graph(std::int32_t count, std::vector<std::pair<std::int32_t, std::int32_t>> between)
    : vertices(count), edges(std::move(between)) {
  for (auto& [from, to] : edges) {
    if (from > to) std::swap(from, to);
    if (from < 0 || to >= vertices || from == to)
      throw InvalidArgument("a graph of {} vertices has no edge between {} and {}", vertices, from,
                            to);
  }
  std::ranges::sort(edges);
  const auto repeated = std::ranges::unique(edges);
  edges.erase(repeated.begin(), repeated.end());
}

std::int32_t Graph::largest_degree() const {
  std::vector<std::int32_t> degrees(static_cast<std::size_t>(vertices), 0);
  for (const auto& [from, to] : edges) {
    ++degrees[static_cast<std::size_t>(from)];
    ++degrees[static_cast<std::size_t>(to)];
  }
  return degrees.empty() ? 0 : *std::ranges::max_element(degrees);
}

Graph parse_dimacs(std::string_view text, std::string_view what) {
  std::optional<std::int64_t> vertices;
  std::vector<std::pair<std::int32_t, std::int32_t>> edges;
  std::int64_t number = 0;
  while (!text.empty()) {
    ++number;
    const auto end = std::min(text.find('\n'), text.size());
    const auto words = words_of(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (words.empty() || words[0] == "c") continue;
    if (words[0] == "p" && words.size() == 4 && !vertices) {
      vertices = whole_number(words[2]);
      if (!vertices || *vertices > kMostVertices)
        throw DataFormatError("'{}', line {}: '{}' is not a number of vertices", what, number,
                              words[2]);
    } else if (words[0] == "e" && words.size() == 3 && vertices) {
      const auto from = whole_number(words[1]), to = whole_number(words[2]);
      if (!from || !to || *from < 1 || *to < 1 || *from > *vertices || *to > *vertices ||
          *from == *to)
        throw DataFormatError("'{}', line {}: no edge joins two of {} vertices, from 1", what,
                              number, *vertices);
      edges.emplace_back(static_cast<std::int32_t>(*from - 1), static_cast<std::int32_t>(*to - 1));
    } else {
      throw DataFormatError(
          "'{}', line {}: expected a graph in DIMACS form, 'p edge VERTICES EDGES' and then lines "
          "'e FROM TO'",
          what, number);
    }
  }
  if (!vertices || *vertices == 0)
    throw DataFormatError("'{}' holds no graph: expected a line 'p edge VERTICES EDGES'", what);
  return {static_cast<std::int32_t>(*vertices), std::move(edges)};
}

Graph read_dimacs(const std::filesystem::path& path) {
  return parse_dimacs(read_text(path), path.string());
}

std::string dimacs_text(const Graph& graph, std::string_view comment) {
  auto text = fmt::format("c {}\np edge {} {}\n", comment, graph.vertices, graph.edges.size());
  for (const auto& [from, to] : graph.edges) text += fmt::format("e {} {}\n", from + 1, to + 1);
  return text;
}

}  // namespace kindred
