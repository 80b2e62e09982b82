// A budget of memory over what a command does: --memory and --scratch, for every command that reads
// steps.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "kindred/clustering/clustering.h"
#include "kindred/core/options.h"
#include "kindred/data/memory_promise.h"

namespace kindred {

struct MemoryOptions {
  std::int64_t memory = 0;  ///< Bytes the process may hold, whatever the data's size; 0: no limit.
  std::string scratch;      ///< Where scratch files go then; empty: where the command says.

  OptionTable describe();
  /// Stands as long as it is held: to be asked for before anything is read. Nothing without a
  /// limit.
  std::shared_ptr<const MemoryPromise> promise(const std::filesystem::path& usual_scratch) const;
};

/// Throws InvalidArgument, with what was needed, where a promise was made and is broken.
void require_kept(const std::shared_ptr<const MemoryPromise>& memory);

/// The same run, but work that needs more memory than was promised stops as if somebody had asked
/// it to.
RunContext within(const std::shared_ptr<const MemoryPromise>& memory, RunContext run);

/// What `work` returns. Where it stopped for want of memory, or needed more, that is said instead.
template <class Work>
auto kept(const std::shared_ptr<const MemoryPromise>& memory, const Work& work) {
  try {
    auto result = work();
    require_kept(memory);
    return result;
  } catch (const Interrupted&) {
    require_kept(memory);
    throw;
  }
}

}  // namespace kindred
