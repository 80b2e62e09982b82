#include "contents.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hdf5.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/data/hdf5_handle.h"
#include "kindred/data/hdf5_input.h"
#include "kindred/data/parquet_table.h"
#include "kindred/data/zip.h"

namespace kindred::faults {
namespace {

namespace fs = std::filesystem;
using hdf5::Handle;
using nlohmann::json;

/// Values of an HDF5 object of fixed size, as they are in the file.
std::string values(hid_t object, hid_t type, hid_t space, bool attribute) {
  const auto count = H5Sget_simple_extent_npoints(space);
  std::string bytes(static_cast<std::size_t>(std::max<hssize_t>(count, 0)) * H5Tget_size(type), 0);
  const auto status = attribute
                          ? H5Aread(object, type, bytes.data())
                          : H5Dread(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data());
  if (status < 0) throw DataFormatError("a value cannot be read");
  return std::to_string(std::hash<std::string>()(bytes));
}

herr_t add_attribute(hid_t owner, const char* name, const H5A_info_t*, void* out) {
  const Handle attribute(H5Aopen(owner, name, H5P_DEFAULT));
  const Handle type(H5Aget_type(attribute.get())), space(H5Aget_space(attribute.get()));
  *static_cast<std::string*>(out) +=
      fmt::format(" @{}={}", name, values(attribute.get(), type.get(), space.get(), true));
  return 0;
}

std::string meaning_of_hdf5(const fs::path& path) {
  hdf5::silence_errors();
  const hdf5::InputFile file(path);
  std::string text;
  const std::function<void(const std::string&)> visit = [&](const std::string& group) {
    const Handle opened = file.open(group);
    H5Aiterate2(opened.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, add_attribute, &text);
    for (const auto& child : file.children(group)) {
      const auto name = group.empty() ? child : group + "/" + child;
      text += "\n" + name;
      if (!file.has_dataset(name)) {
        visit(name);
        continue;
      }
      const Handle dataset = file.open(name);
      const Handle type(H5Dget_type(dataset.get())), space(H5Dget_space(dataset.get()));
      text += " " + values(dataset.get(), type.get(), space.get(), false);
      H5Aiterate2(dataset.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, add_attribute, &text);
    }
  };
  visit("");
  return text;
}

std::string meaning_of_zip(const fs::path& path) {
  const zip::Archive archive(path);
  std::string text;
  for (const auto& entry : archive.entries()) {
    std::vector<std::byte> bytes(entry.size);
    zip::EntryReader(archive, entry).read(bytes);  // checks the sum
    text += fmt::format("{} {}\n", entry.name, entry.size);
  }
  return text;
}

/// Labelling once more leaves pages in the file that nobody reads.
std::string meaning_of_parquet(const fs::path& path) {
  const auto table = open_parquet_table({path});
  std::string text = fmt::format("{} rows", table->rows());
  for (const auto& column : table->columns()) {
    text += "\n" + column.name;
    if (!column.list && column.kind <= ParquetKind::kBool)
      text +=
          fmt::format(" {}", fmt::join(table->read<double>(column.name, 0, table->rows()), " "));
  }
  return text;
}

/// The names in a JSON object, and what a run found.
std::string meaning_of_json(const std::string& text) {
  const auto document = json::parse(text);
  std::string meaning;
  for (const auto& [name, value] : document.items()) meaning += name + "\n";
  return meaning + (document.contains("result") ? document["result"].dump() : "");
}

std::string whole_page(const std::string& text, const std::string& end) {
  const auto last = text.find_last_not_of(" \n");
  if (last == std::string::npos || !text.substr(0, last + 1).ends_with(end))
    throw DataFormatError("it does not end with {}", end);
  return "a page";
}

}  // namespace

std::string meaning_of(const fs::path& file) try {
  auto bytes = read_text(file);
  const auto kind = file.extension().string();
  if (bytes.starts_with("\x89HDF")) return meaning_of_hdf5(file);
  if (bytes.starts_with("PK")) return meaning_of_zip(file);
  if (kind == ".parquet") return meaning_of_parquet(file);
  if (kind == ".json") return meaning_of_json(bytes);
  if (kind == ".html") return whole_page(bytes, "</html>");
  if (kind == ".svg") return whole_page(bytes, "</svg>");
  if (kind == ".csv") return fmt::format("{} lines", std::ranges::count(bytes, '\n'));
  if (kind == ".kindred-undo") return "a journal";  // its bytes are tried by undoing
  return bytes;
} catch (const std::exception& error) {
  return fmt::format("damaged: {}", error.what());
}

std::map<std::string, std::string> meanings_below(const fs::path& folder) {
  std::map<std::string, std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      found[entry.path().lexically_relative(folder).string()] = meaning_of(entry.path());
  return found;
}

}  // namespace kindred::faults
