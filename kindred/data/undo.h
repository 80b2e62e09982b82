// Changes of a file that can be taken back to the last byte, whatever its format.
//
// A change is made on a copy beside the file, which then takes the file's place in one step: a kill
// at any moment leaves the old file or the new one, whole. Beside it stays a journal,
// `<file>.kindred-undo`: the bytes the file had where it now has others, its old size, and
// checksums of both states. Several changes share one journal, so undoing goes back to before the
// first. The copy of a process that was killed goes with the next change or undo.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "kindred/core/staged_file.h"

namespace kindred {

/// Keeps other processes from changing files in the folder of `file` while it lives, so that one
/// change is made upon another; waits for those that do. Not every file system can.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& file);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int folder_;
};

/// A change of one file that is ready but not yet in place; it is dropped without commit().
class FileChange {
 public:
  /// Calls change(copy) with a copy of `file` (where there is none, with the name for a new file).
  /// Throws InvalidArgument when the file was changed by others since Kindred changed it,
  /// DataFormatError when its journal is damaged, IoError when there is no room for the copy.
  FileChange(const std::filesystem::path& file,
             const std::function<void(const std::filesystem::path& copy)>& change);
  ~FileChange();
  FileChange(const FileChange&) = delete;
  FileChange& operator=(const FileChange&) = delete;

  void commit();
  /// Bytes of the file as it will be.
  std::uintmax_t size() const { return std::filesystem::file_size(copy_.path()); }

 private:
  std::filesystem::path file_;
  StagedFile copy_;
  bool committed_ = false;
};

/// Changes of several files, in the order in which to commit them.
using FileChanges = std::vector<std::unique_ptr<FileChange>>;

/// The journal of `file`, which may not exist.
std::filesystem::path journal_of(const std::filesystem::path& file);

/// Whether `file` is as a FileChange left it. Throws as FileChange does.
bool can_undo(const std::filesystem::path& file);

/// Files at any depth of `folder` that have a journal, in the order of their paths.
std::vector<std::filesystem::path> changed_files_below(const std::filesystem::path& folder);

/// Every byte of a file as it was before the first FileChange, ready but not yet in place; it is
/// dropped without commit().
class FileUndo {
 public:
  /// Throws InvalidArgument when there is nothing to undo or the file was changed since,
  /// DataFormatError when the journal is damaged, IoError when there is no room for a copy.
  explicit FileUndo(const std::filesystem::path& file);
  /// Puts the file in place, or removes it when there was none, and then removes the journal.
  void commit();

 private:
  std::filesystem::path file_;
  std::unique_ptr<StagedFile> copy_;
};

/// FileUndo of one file.
void undo_changes(const std::filesystem::path& file);

}  // namespace kindred
