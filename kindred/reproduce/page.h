// The page of results in Markdown, its figures, and the table in README: all from records alone, so
// that the same records make the same bytes.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "kindred/reproduce/declarations.h"
#include "kindred/reproduce/store.h"

namespace kindred::reproduce {

/// Files by where they go.
using RenderedFiles = std::map<std::filesystem::path, std::string>;

/// The page beside the store (docs/results.md for docs/results), figures in a folder of the store,
/// and `readme`, unless empty, with the first table between its marks. Throws DataFormatError where
/// a record is damaged, InvalidArgument where `readme` has no marks.
RenderedFiles render_results(const Declarations& declared, const Store& store,
                             const std::filesystem::path& readme);

}  // namespace kindred::reproduce
