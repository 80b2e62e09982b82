#include "kindred/runs/shared_run.h"

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/dist/packing.h"

namespace kindred {
namespace {

/// What the first rank has, to everybody.
std::vector<std::byte> from_first(std::span<const std::byte> own, Communicator& ranks) {
  std::int64_t size = std::ssize(own);
  ranks.broadcast(std::as_writable_bytes(std::span(&size, 1)), 0);
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  if (ranks.is_first()) bytes.assign(own.begin(), own.end());
  ranks.broadcast(bytes, 0);
  return bytes;
}

}  // namespace

void require_alike(const std::string& own, const std::string& what, Communicator& ranks) {
  const auto all = ranks.gather(std::as_bytes(std::span(own)));
  for (std::size_t r = 1; r < all.size(); ++r)
    if (all[r] != all[0])
      throw InvalidArgument("rank {} was given other {} than rank 0; all have to be given the same",
                            r, what);
}

void hand_out(const RunFolder& folder, Communicator& ranks) {
  Packer files;
  if (ranks.is_first())
    for (const auto& file : folder.results()) files.add(read_text(file));
  const auto bytes = from_first(files.bytes(), ranks);
  if (ranks.is_first()) return;
  make_run_folder(folder);
  Unpacker from(bytes);
  for (const auto& file : folder.results()) {
    std::string text;
    from.take(text);
    write_text(file, text);
  }
}

}  // namespace kindred
