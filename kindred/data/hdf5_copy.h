// Objects of one HDF5 file put into another with everything they hold, of whatever type. Internal.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kindred/data/hdf5_input.h"
#include "kindred/data/hdf5_output.h"

namespace kindred::hdf5 {

/// Rows [begin, end) of a dataset.
struct RowRange {
  std::int64_t begin;
  std::int64_t end;
};

/// A dataset or group with all inside it, under the name `as`; groups above it are made as needed.
void copy_object(const InputFile& from, const std::string& name, OutputFile& to,
                 const std::string& as);

/// All attributes of an object ("" is the root), to the object `as` that is there.
void copy_attributes(const InputFile& from, const std::string& object, OutputFile& to,
                     const std::string& as);

/// Some rows of a dataset, one range after the other, under the name `as`; type, compression and
/// attributes stay.
void copy_rows(const InputFile& from, const std::string& name, std::span<const RowRange> ranges,
               OutputFile& to, const std::string& as);

/// The words in a list of text, of fixed or variable length; nothing when `name` is something else.
std::optional<std::vector<std::string>> words_of(const InputFile& file, const std::string& name);

/// Whether `name` is a list of text of variable length.
bool is_variable_text(const InputFile& file, const std::string& name);

/// The text in an attribute of an object, of fixed or variable length; nothing when it has none.
std::optional<std::string> word_of(const InputFile& file, const std::string& object,
                                   const std::string& attribute);

/// The shape of a dataset of any type; empty for a single value.
std::vector<std::int64_t> shape_of(const InputFile& file, const std::string& name);

}  // namespace kindred::hdf5
