#include <charconv>
#include <optional>

#include "kindred/conflicts/graph.h"
#include "kindred/core/error.h"
#include "kindred/core/random.h"

namespace kindred {
namespace {

using Edges = std::vector<std::pair<std::int32_t, std::int32_t>>;

constexpr std::int32_t kMostMade = 20'000;  // of a graph that is made from its name

Graph petersen() {
  Edges edges;
  for (std::int32_t i = 0; i < 5; ++i) {
    edges.emplace_back(i, (i + 1) % 5);
    edges.emplace_back(i, i + 5);
    edges.emplace_back(i + 5, (i + 2) % 5 + 5);
  }
  return {10, edges};
}

Graph cycle(std::int32_t n) {
  Edges edges;
  for (std::int32_t i = 0; i < n; ++i) edges.emplace_back(i, (i + 1) % n);
  return {n, edges};
}

template <class Joined>
Graph joined_where(std::int32_t n, Joined joined) {
  Edges edges;
  for (std::int32_t i = 0; i < n; ++i)
    for (std::int32_t j = i + 1; j < n; ++j)
      if (joined(i, j)) edges.emplace_back(i, j);
  return {n, edges};
}

/// Squares of a board, joined where a queen goes from one to the other.
Graph queens(std::int32_t n) {
  return joined_where(n * n, [n](std::int32_t i, std::int32_t j) {
    const auto rows = j / n - i / n, columns = j % n - i % n;
    return rows == 0 || columns == 0 || rows == columns || rows == -columns;
  });
}

/// From two joined vertices, n - 2 times: a deputy for each vertex with its neighbours, and one
/// more vertex that is joined to all deputies.
Graph mycielski(std::int32_t n) {
  std::int32_t count = 2;
  Edges edges{{0, 1}};
  for (std::int32_t step = 2; step < n; ++step) {
    const auto before = edges;
    for (const auto& [from, to] : before) {
      edges.emplace_back(from, to + count);
      edges.emplace_back(from + count, to);
    }
    for (std::int32_t i = 0; i < count; ++i) edges.emplace_back(i + count, 2 * count);
    count = 2 * count + 1;
  }
  return {count, edges};
}

Graph random_graph(std::int32_t n, double degree, std::uint64_t seed) {
  Random random(seed, "graph");
  const double chance = degree / (n - 1);
  return joined_where(n, [&](std::int32_t, std::int32_t) { return random.uniform() < chance; });
}

/// "-12" as 12, no more than `most`.
std::optional<std::int32_t> size_in(std::string_view text, std::int32_t most) {
  if (!text.starts_with('-')) return std::nullopt;
  std::int32_t value = 0;
  const auto* end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data() + 1, end, value);
  if (error != std::errc() || read != end || value < 1 || value > most) return std::nullopt;
  return value;
}

}  // namespace

Graph known_graph(std::string_view name, std::uint64_t seed) {
  const auto after = [&](std::string_view family, std::int32_t most) {
    return name.starts_with(family) ? size_in(name.substr(family.size()), most) : std::nullopt;
  };
  if (name == "petersen") return petersen();
  if (const auto n = after("cycle", kMostMade); n && *n >= 3) return cycle(*n);
  if (const auto n = after("complete", 500))
    return joined_where(*n, [](std::int32_t, std::int32_t) { return true; });
  if (const auto n = after("queens", 20)) return queens(*n);
  if (const auto n = after("mycielski", 12); n && *n >= 2) return mycielski(*n);
  if (const auto dash = name.rfind('-'); name.starts_with("random-") && dash > 6) {
    const auto n = size_in(name.substr(6, dash - 6), kMostMade);
    double degree = 0.0;
    const auto* end = name.data() + name.size();
    const auto [read, error] = std::from_chars(name.data() + dash + 1, end, degree);
    if (n && *n >= 2 && error == std::errc() && read == end && degree >= 0.0 && degree < *n)
      return random_graph(*n, degree, seed);
  }
  throw InvalidArgument(
      "there is no graph '{}', nor a file of that name; known are petersen, cycle-N, complete-N, "
      "queens-N, mycielski-N and random-N-DEGREE",
      name);
}

}  // namespace kindred
