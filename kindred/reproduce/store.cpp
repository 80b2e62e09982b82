#include "kindred/reproduce/store.h"

#include <algorithm>

#include "kindred/core/error.h"
#include "kindred/core/files.h"

namespace kindred::reproduce {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEnding = ".json";

Json read_json(const fs::path& path) {
  const auto text = read_text(path);
  try {
    return Json::parse(text);
  } catch (const Json::exception& error) {
    throw DataFormatError("'{}' is not a record: {}", path.string(), error.what());
  }
}

/// Whether nothing is there but what a store that could not be finished leaves.
bool holds_no_others(const fs::path& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const auto name = entry.path().filename().string();
    if (name != ".work" && !name.starts_with("store.json.partial-")) return false;
  }
  return true;
}

}  // namespace

Store::Store(fs::path folder, Scale scale) : folder_(std::move(folder)), scale_(scale) {
  std::error_code ignored;
  if (fs::exists(folder_, ignored) && !fs::is_directory(folder_, ignored))
    throw InvalidArgument("'{}' is a file; a store of results is a folder", folder_.string());
  if (!fs::exists(mark(), ignored)) {
    if (holds_no_others(folder_)) return;
    throw InvalidArgument("'{}' holds other things than results; name another folder with --store",
                          folder_.string());
  }
  const auto found = read_json(mark()).value("scale", "");
  if (found != name_of(scale))
    throw InvalidArgument(
        "'{}' holds results of scale '{}', which are not to be mixed with those of scale '{}'; "
        "name another folder with --store",
        folder_.string(), found, name_of(scale));
}

bool Store::has(const std::string& record) const {
  std::error_code ignored;
  return fs::exists(folder_ / (record + kEnding), ignored);
}

Json Store::read(const std::string& record) const {
  return read_json(folder_ / (record + kEnding));
}

void Store::write(const std::string& record, const Json& json) const {
  write_text(folder_ / (record + kEnding),
             json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::vector<std::string> Store::names() const {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder_, ignored))
    if (entry.path().extension() == kEnding && entry.path() != mark())
      names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

std::unique_ptr<RunLock> Store::begin_work() const {
  std::error_code error;
  fs::create_directories(folder_ / ".work", error);
  if (error)
    throw IoError("cannot make the folder '{}': {}", (folder_ / ".work").string(), error.message());
  auto lock = std::make_unique<RunLock>(RunFolder(folder_ / ".work"), RunLock::Purpose::kWriting);
  if (!fs::exists(mark())) write_text(mark(), Json({{"scale", name_of(scale_)}}).dump() + "\n");
  return lock;
}

bool Store::can_write() const {
  const auto probe = folder_ / ".work" / "probe";
  std::error_code ignored;
  try {
    write_text(probe, std::string(1 << 16, ' '));  // more than most records need
  } catch (const IoError&) {
    return false;
  }
  fs::remove(probe, ignored);
  return true;
}

}  // namespace kindred::reproduce
