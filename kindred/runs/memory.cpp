#include "kindred/runs/memory.h"

#include "kindred/data/mind_memory.h"

namespace kindred {

OptionTable MemoryOptions::describe() {
  return {
      bytes("memory", memory,
            "The most memory to hold, as 2GB or 500MB: steps stay in files and are read as they "
            "are needed. The answer is the same, bit for bit, but for networks that draw from "
            "more than half of it (buffer-steps)."),
      text("scratch", scratch,
           "With --memory: a folder on a disk for files without a name, as large as what a "
           "compressed or joined dataset is unpacked."),
  };
}

std::shared_ptr<const MemoryPromise> MemoryOptions::promise(
    const std::filesystem::path& usual_scratch) const {
  if (memory == 0) return nullptr;
  return std::make_shared<const MemoryPromise>(
      memory, scratch.empty() ? usual_scratch : std::filesystem::path(scratch));
}

void require_kept(const std::shared_ptr<const MemoryPromise>& memory) {
  if (memory) memory->require_kept();
}

RunContext within(const std::shared_ptr<const MemoryPromise>& memory, RunContext run) {
  if (!memory) return run;
  run.stop_requested = [memory, before = run.stop_requested] {
    mind_memory();  // asked before every piece of work that looks at steps
    return memory->broken() || (before && before());
  };
  return run;
}

}  // namespace kindred
