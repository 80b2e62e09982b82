// Output that is never half-written: it is made beside its name, flushed to the disk, and renamed.
//
//   StagedFile file("labels.csv");
//   file.append("episode,label\n");
//   file.commit();
//
// Until commit() has succeeded, what stood under the name stays as it was; without it nothing of
// the new is left. A kill leaves `<name>.partial-<process>-<number>` at most, which goes when
// something is next written under that name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "kindred/core/descriptor.h"

namespace kindred {

/// What files and folders on their way to their name have in common. Throws IoError.
class Staged {
 public:
  Staged(const Staged&) = delete;
  Staged& operator=(const Staged&) = delete;

  /// Where to write: beside the name.
  const std::filesystem::path& path() const { return path_; }
  /// The name, as messages say it: without the marks of folders around it that are on their way
  /// too.
  const std::string& name() const { return name_; }
  /// Gives up the lock and the open file, of which a process may not have thousands: nothing can be
  /// appended then, and on other machines it is taken for a leftover unless another lock keeps them
  /// away.
  void unlock() { open_.close(); }
  /// Flushes everything where it is.
  void flush() const;
  /// Flushes everything and puts it in place. When it throws, nothing has changed.
  void commit();

 protected:
  Staged(const std::filesystem::path& target, mode_t kind);
  ~Staged();

  std::filesystem::path target_;
  std::filesystem::path path_;  ///< Empty once committed.
  std::string name_;
  Descriptor open_;  ///< Its lock tells other processes that the writer lives.
};

/// A new file, or one that replaces another; links to it are followed.
class StagedFile : public Staged {
 public:
  explicit StagedFile(const std::filesystem::path& target);

  /// Adds bytes to the end; small pieces are collected.
  void append(std::string_view bytes);
  /// Replaces bytes that were appended.
  void rewrite(std::uint64_t offset, std::string_view bytes);
  void commit();

 private:
  void write_collected();

  std::string collected_;
  std::uint64_t written_ = 0;
};

/// A new folder, or one that replaces an empty one.
class StagedFolder : public Staged {
 public:
  explicit StagedFolder(const std::filesystem::path& target);
};

/// A path as it will be once everything around it that this process has on its way is in place:
/// what messages call it.
std::string settled(const std::filesystem::path& path);

/// Removes what processes that were killed left beside `target`.
void remove_leftovers(const std::filesystem::path& target);

/// Makes renames in a folder last, where the file system can.
void flush_folder(const std::filesystem::path& folder);

}  // namespace kindred
