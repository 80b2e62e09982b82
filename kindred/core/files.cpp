#include "kindred/core/files.h"

#include <fstream>
#include <sstream>
#include <system_error>
#include <vector>

#include "kindred/core/error.h"
#include "kindred/core/staged_file.h"

namespace kindred {

namespace fs = std::filesystem;

void remove_tree(const fs::path& path) {
  std::error_code error;
  std::vector<fs::path> inside;
  if (fs::is_directory(fs::symlink_status(path, error)))
    for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error))
      inside.push_back(at->path());
  for (const auto& one : inside) remove_tree(one);
  fs::remove(path, error);
}

void write_text(const fs::path& target, std::string_view text) {
  StagedFile file(target);
  file.append(text);
  file.commit();
}

std::string read_text(const fs::path& path) {
  if (fs::is_directory(path))
    throw IoError("cannot read '{}': it is a folder, a file was expected", path.string());
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (in && in.peek() != std::ifstream::traits_type::eof()) text << in.rdbuf();
  if (in.bad() || !in.is_open())
    throw IoError("cannot read '{}': is it there and readable?", path.string());
  return text.str();
}

}  // namespace kindred
