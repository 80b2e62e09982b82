// Plain undirected graphs, the files they come in (DIMACS .col), and some whose chromatic numbers
// are known.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kindred {

struct Graph {
  std::int32_t vertices = 0;
  std::vector<std::pair<std::int32_t, std::int32_t>> edges;  ///< Each once, first < second, sorted.

  /// Sorts the edges and turns each the right way; repeated ones are dropped. Throws
  /// InvalidArgument when one leads to no vertex, or to its own.
  Graph(std::int32_t count, std::vector<std::pair<std::int32_t, std::int32_t>> between);

  /// The most edges at one vertex.
  std::int32_t largest_degree() const;
  bool operator==(const Graph&) const = default;
};

/// Reads `p edge N M` and `e I J` lines, vertices from 1. Throws IoError, or DataFormatError with
/// the line.
Graph read_dimacs(const std::filesystem::path& path);
Graph parse_dimacs(std::string_view text, std::string_view what);
/// The same as text; `comment` is its first line.
std::string dimacs_text(const Graph& graph, std::string_view comment);

/// petersen, cycle-N, complete-N, queens-N, mycielski-N (whose chromatic number is N) or
/// random-N-D (N vertices, each pair joined with a chance that gives them D neighbours on average;
/// drawn from the stream (seed, "graph")). Throws InvalidArgument when there is none of the name.
Graph known_graph(std::string_view name, std::uint64_t seed = 0);

}  // namespace kindred
