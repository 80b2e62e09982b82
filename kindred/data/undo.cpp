#include "kindred/data/undo.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kindred/core/descriptor.h"
#include "kindred/core/error.h"
#include "kindred/core/files.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlock = 1 << 20;
constexpr std::size_t kGap = 16;  // what an entry of its own would cost
constexpr std::string_view kMagic = "kindred undo 1\n\n";

std::uint32_t checksum(std::uint32_t so_far, std::string_view bytes) {
  return static_cast<std::uint32_t>(
      ::crc32_z(so_far, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

/// Enough of a file to know it again.
struct State {
  std::uint64_t exists = 0;
  std::uint64_t size = 0;
  std::uint64_t checksum = 0;

  bool operator==(const State&) const = default;
};

bool is_there(const fs::path& file) {
  std::error_code ignored;
  return fs::exists(file, ignored);
}

void remove_file(const fs::path& file) {
  std::error_code error;
  fs::remove(file, error);
  if (error) throw IoError("cannot remove '{}': {}", file.string(), error.message());
}

void put_in_place(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) throw IoError("cannot write '{}': {}", to.string(), error.message());
}

State state_of(const fs::path& file) {
  if (!is_there(file)) return {};
  const Descriptor in(file, O_RDONLY);
  State state{.exists = 1};
  std::vector<char> block(kBlock);
  while (const auto n = in.read(state.size, block)) {
    state.size += n;
    state.checksum = checksum(static_cast<std::uint32_t>(state.checksum), {block.data(), n});
  }
  return state;
}

/// What a file was, and what to put where to make it so again.
struct Journal {
  struct Entry {
    std::uint64_t offset;
    std::string bytes;
  };
  State before, after;
  std::vector<Entry> entries;  ///< Sorted, without overlap, none beyond before.size.
};

template <class T>
void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

std::string serialise(const Journal& journal) {
  std::string bytes(kMagic);
  append(bytes, journal.before);
  append(bytes, journal.after);
  append(bytes, static_cast<std::uint64_t>(journal.entries.size()));
  for (const auto& entry : journal.entries) {
    append(bytes, entry.offset);
    append(bytes, static_cast<std::uint64_t>(entry.bytes.size()));
    bytes += entry.bytes;
  }
  append(bytes, checksum(0, bytes));
  return bytes;
}

/// Takes values off the front of a journal's bytes; false once there are too few.
class Parser {
 public:
  explicit Parser(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  bool take(T& value) {
    if (rest_.size() < sizeof(value)) return false;
    std::memcpy(&value, rest_.data(), sizeof(value));
    rest_.remove_prefix(sizeof(value));
    return true;
  }
  bool take(std::string& bytes, std::uint64_t size) {
    if (rest_.size() < size) return false;
    bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }
  bool done() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

std::optional<Journal> parse(std::string_view bytes) {
  std::uint32_t stated = 0;
  if (!bytes.starts_with(kMagic) || bytes.size() < kMagic.size() + sizeof(stated))
    return std::nullopt;
  const auto body = bytes.substr(0, bytes.size() - sizeof(stated));
  std::memcpy(&stated, bytes.data() + body.size(), sizeof(stated));
  if (checksum(0, body) != stated) return std::nullopt;

  Parser parser(body.substr(kMagic.size()));
  Journal journal;
  std::uint64_t count = 0, end = 0;
  bool sound = parser.take(journal.before) && parser.take(journal.after) && parser.take(count);
  for (std::uint64_t i = 0; sound && i < count; ++i) {
    Journal::Entry entry{};
    std::uint64_t size = 0;
    sound = parser.take(entry.offset) && parser.take(size) && parser.take(entry.bytes, size) &&
            entry.offset >= end && size <= journal.before.size &&
            entry.offset <= journal.before.size - size;
    end = entry.offset + size;
    journal.entries.push_back(std::move(entry));
  }
  if (!sound || !parser.done()) return std::nullopt;
  return journal;
}

Journal load_journal(const fs::path& path) {
  auto journal = parse(read_text(path));
  if (!journal)
    throw DataFormatError(
        "'{}' is damaged, so the change it describes cannot be taken back; nothing was touched; "
        "remove that file to go on without undoing",
        path.string());
  return *std::move(journal);
}

/// The journal of a change that is being put in place.
fs::path pending_journal_of(const fs::path& file) {
  auto path = journal_of(file);
  path += ".next";
  return path;
}

/// The journal that leads from what the file is now to what it was; none for an untouched file.
std::optional<Journal> fitting_journal(const fs::path& file) {
  const fs::path settled = journal_of(file), pending = pending_journal_of(file);
  if (!is_there(settled) && !is_there(pending)) return std::nullopt;
  const State now = state_of(file);
  bool foreign = false;
  for (const auto& path : {settled, pending}) {
    if (!is_there(path)) continue;
    auto journal = load_journal(path);
    if (journal.after == now) return journal;
    foreign = foreign || (path == settled && journal.before != now);
  }
  if (foreign)
    throw InvalidArgument(
        "'{}' was changed since Kindred changed it, so '{}' no longer fits it; remove that file to "
        "go on without undoing",
        file.string(), settled.filename().string());
  return std::nullopt;  // killed before the change took place, or after it was undone
}

/// A change killed between its two renames left its journal under the name the next one needs.
void settle_journal(const fs::path& file) {
  const auto pending = pending_journal_of(file);
  if (!is_there(pending)) return;
  const auto journal = parse(read_text(pending));
  if (journal && journal->after == state_of(file)) put_in_place(pending, journal_of(file));
}

/// What the block at `offset` held before the changes in `journal`.
void restore_block(const std::optional<Journal>& journal, std::uint64_t offset,
                   std::span<char> block) {
  if (!journal) return;
  const auto& entries = journal->entries;
  const std::uint64_t end = offset + block.size();
  auto entry = std::ranges::partition_point(
      entries, [&](const auto& e) { return e.offset + e.bytes.size() <= offset; });
  for (; entry != entries.end() && entry->offset < end; ++entry) {
    const auto from = std::max(offset, entry->offset);
    const auto to = std::min(end, entry->offset + entry->bytes.size());
    std::memcpy(block.data() + (from - offset), entry->bytes.data() + (from - entry->offset),
                to - from);
  }
}

/// Adds the stretches of `before` that `after`, which may be shorter, does not repeat.
void compare_blocks(std::string_view before, std::string_view after, std::uint64_t offset,
                    std::vector<Journal::Entry>& entries) {
  const auto differs = [&](std::size_t i) { return i >= after.size() || before[i] != after[i]; };
  if (after.starts_with(before)) return;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (!differs(i)) continue;
    std::size_t end = i + 1;
    for (std::size_t j = end; j < before.size() && j < end + kGap; ++j)
      if (differs(j)) end = j + 1;
    entries.push_back({offset + i, std::string(before.substr(i, end - i))});
    i = end;
  }
}

/// The way back from `changed` to what `file` was before `earlier`, its changes so far.
Journal compare(const fs::path& file, const std::optional<Journal>& earlier,
                const fs::path& changed) {
  Journal journal;
  journal.after = state_of(changed);
  if (!is_there(file) || (earlier && !earlier->before.exists)) return journal;
  const Descriptor old(file, O_RDONLY), fresh(changed, O_RDONLY);
  journal.before = {1, earlier ? earlier->before.size : old.size(), 0};
  std::vector<char> before(kBlock), after(kBlock);
  std::uint32_t sum = 0;
  for (std::uint64_t offset = 0; offset < journal.before.size; offset += kBlock) {
    const std::span block(before.data(),
                          std::min<std::uint64_t>(kBlock, journal.before.size - offset));
    old.read(offset, block);  // what lies beyond its end now is in the journal
    restore_block(earlier, offset, block);
    const std::string_view was(block.data(), block.size());
    sum = checksum(sum, was);
    const auto n = fresh.read(offset, after);
    compare_blocks(was, {after.data(), n}, offset, journal.entries);
  }
  journal.before.checksum = sum;
  return journal;
}

void check_room(const fs::path& beside, std::uint64_t size) {
  std::error_code error;
  const auto space = fs::space(beside.parent_path(), error);
  if (error || space.available >= size) return;
  throw IoError(
      "changing '{}' safely needs room for a copy beside it, {} MB, and only {} MB are free; make "
      "room, or change a copy on another disk",
      beside.string(), size / 1000000 + 1, space.available / 1000000);
}

/// Lets the same people read and write `copy` as `file`, as far as this process may.
void keep_access(const fs::path& file, const fs::path& copy) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return;
  const Descriptor to(copy, O_RDONLY);
  [[maybe_unused]] const int owned = ::fchown(to.id(), status.st_uid, status.st_gid);
  if (::fchmod(to.id(), status.st_mode & 0777) != 0)
    throw IoError("cannot set who may read '{}': {}", copy.string(), std::strerror(errno));
}

/// A copy that shares its blocks with the original where the file system can, and needs no room.
void copy_beside(const fs::path& file, const fs::path& copy) {
  const Descriptor from(file, O_RDONLY), to(copy, O_WRONLY, file.string());
  ::fchmod(to.id(), 0600);  // what it holds may be private
  if (::ioctl(to.id(), FICLONE, from.id()) != 0) {
    check_room(file, from.size());
    std::vector<char> block(kBlock);
    std::uint64_t offset = 0;
    while (const auto n = from.read(offset, block)) {
      to.write(offset, {block.data(), n});
      offset += n;
    }
  }
  keep_access(file, copy);
}

/// The file itself, where a link leads to it: a rename would replace the link.
fs::path resolved(const fs::path& file) {
  std::error_code error;
  const auto absolute = fs::absolute(file);
  const auto path = fs::weakly_canonical(absolute, error);
  return error ? absolute : path;
}

/// The file itself, whose folder will also hold a copy.
fs::path changeable(const fs::path& file) {
  auto path = resolved(file);
  if (::access(path.parent_path().c_str(), W_OK) != 0)
    throw IoError("cannot change '{}': {}; its folder must be writable, for a copy beside it",
                  path.string(), std::strerror(errno));
  return path;
}

/// The bytes of `journal` put back into a copy of the changed file.
void restore(const Journal& journal, const fs::path& file, const fs::path& copy) {
  {
    const Descriptor out(copy, O_RDWR, file.string());
    for (const auto& entry : journal.entries) out.write(entry.offset, entry.bytes);
    out.truncate(journal.before.size);
  }
  if (state_of(copy) != journal.before)
    throw DataFormatError("'{}' does not lead back to the file as it was; nothing was touched",
                          journal_of(file).string());
}

}  // namespace

fs::path journal_of(const fs::path& file) {
  fs::path path = file;
  // Those who read a folder of Parquet files take every file in it but hidden ones.
  if (file.extension() == ".parquet")
    path.replace_filename(fmt::format(".{}", file.filename().string()));
  path += ".kindred-undo";
  return path;
}

FolderLock::FolderLock(const fs::path& file)
    : folder_(::open(resolved(file).parent_path().c_str(), O_RDONLY | O_CLOEXEC)) {
  while (folder_ >= 0 && ::flock(folder_, LOCK_EX) != 0 && errno == EINTR) {
  }
}

FolderLock::~FolderLock() {
  if (folder_ >= 0) ::close(folder_);
}

FileChange::FileChange(const fs::path& file, const std::function<void(const fs::path&)>& change)
    : file_(changeable(file)), copy_(file_) {
  settle_journal(file_);
  const auto earlier = fitting_journal(file_);
  if (is_there(file_)) copy_beside(file_, copy_.path());
  change(copy_.path());
  keep_access(file_, copy_.path());  // it may be a new file
  write_text(pending_journal_of(file_), serialise(compare(file_, earlier, copy_.path())));
  copy_.unlock();
}

FileChange::~FileChange() {
  std::error_code ignored;
  if (!committed_) fs::remove(pending_journal_of(file_), ignored);
}

void FileChange::commit() {
  copy_.commit();
  committed_ = true;
  put_in_place(pending_journal_of(file_), journal_of(file_));
  flush_folder(file_.parent_path());
}

bool can_undo(const fs::path& file) { return fitting_journal(resolved(file)).has_value(); }

std::vector<fs::path> changed_files_below(const fs::path& folder) {
  const auto mark = journal_of("").string();
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    auto name = at->path().filename().string();
    const auto ending = name.rfind(mark), first = std::size_t{name.starts_with(".")};
    if (ending == std::string::npos) continue;
    name = name.substr(first, ending - first);
    files.push_back(at->path().parent_path() / name);
  }
  std::ranges::sort(files);
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

FileUndo::FileUndo(const fs::path& file) : file_(resolved(file)) {
  const auto journal = fitting_journal(file_);
  if (!journal) throw InvalidArgument("there is nothing to undo in '{}'", file.string());
  file_ = changeable(file);
  if (!journal->before.exists) return;
  copy_ = std::make_unique<StagedFile>(file_);
  copy_beside(file_, copy_->path());
  restore(*journal, file_, copy_->path());
  copy_->unlock();
}

void FileUndo::commit() {
  if (copy_) {
    copy_->commit();
  } else {
    remove_leftovers(file_);
    remove_file(file_);
    flush_folder(file_.parent_path());
  }
  remove_file(journal_of(file_));
  remove_file(pending_journal_of(file_));
}

void undo_changes(const fs::path& file) { FileUndo(file).commit(); }

}  // namespace kindred
