#include "kindred/core/files.h"

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <system_error>
#include <vector>

#include "kindred/core/error.h"

namespace kindred {

namespace fs = std::filesystem;

void write_atomically(const fs::path& target, const std::function<void(const fs::path&)>& write) {
  fs::path temporary = target;
  temporary += fmt::format(".partial-{}", ::getpid());
  std::error_code error;
  try {
    write(temporary);
    fs::rename(temporary, target, error);
    if (error) throw IoError("cannot write '{}': {}", target.string(), error.message());
  } catch (...) {
    remove_tree(temporary);
    throw;
  }
}

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
  write_atomically(target, [&](const fs::path& temporary) {
    std::ofstream out(temporary, std::ios::binary);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    out.close();
    if (!out)
      throw IoError("cannot write '{}': is the folder there and writable?", target.string());
  });
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
