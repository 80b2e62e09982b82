#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <vector>

#include "kindred/core/error.h"
#include "kindred/core/workers.h"
#include "rows.h"

namespace bench {
namespace {

constexpr std::int64_t kWidth = 768;  // three such matrices leave a core's own cache
constexpr int kProducts = 4;
constexpr std::size_t kCopied = std::size_t{64} << 20U;  // more than any cache holds

/// One product of matrices after another on every core: what a core can do while all are busy.
void time_gemm(const Settings& settings, at::ScalarType type, const char* row) {
  at::set_num_threads(1);
  const kindred::Workers workers(settings.threads);
  const auto cores = workers.pool->threads();
  std::vector<at::Tensor> a, b, c;
  for (int i = 0; i < cores; ++i)
    for (auto* matrices : {&a, &b, &c}) matrices->push_back(at::rand({kWidth, kWidth}, type));
  const double flop = 2.0 * static_cast<double>(kWidth * kWidth * kWidth) * kProducts * cores;
  settings.turns.take(
      {{"row", row}, {"shape", std::to_string(kWidth)}, {"who", "machine"}, {"flop", flop}}, [&] {
        return timed([&] {
          workers.chunks(cores, 1, [&](std::int64_t begin, std::int64_t) {
            const auto i = static_cast<std::size_t>(begin);
            for (int n = 0; n < kProducts; ++n) at::mm_out(c[i], a[i], b[i]);
          });
        });
      });
}

}  // namespace

void time_sgemm(const Settings& settings) { time_gemm(settings, at::kFloat, "sgemm"); }
void time_dgemm(const Settings& settings) { time_gemm(settings, at::kDouble, "dgemm"); }

void time_copy(const Settings& settings) {
  const kindred::Workers workers(settings.threads);
  const auto cores = workers.pool->threads();
  std::vector<std::vector<char>> from, to;
  for (int i = 0; i < cores; ++i) {
    from.emplace_back(kCopied, 'x');
    to.emplace_back(kCopied, 'y');
  }
  settings.turns.take({{"row", "copy"},
                       {"shape", "64 MiB"},
                       {"who", "machine"},
                       {"bytes", 2.0 * static_cast<double>(kCopied) * cores}},  // read and written
                      [&] {
                        return timed([&] {
                          workers.chunks(cores, 1, [&](std::int64_t begin, std::int64_t) {
                            const auto i = static_cast<std::size_t>(begin);
                            std::memcpy(to[i].data(), from[i].data(), kCopied);
                          });
                        });
                      });
}

void time_bytes(const Settings& settings, bool cold) {
  const auto size = std::filesystem::file_size(settings.file);
  std::vector<char> buffer(std::size_t{1} << 20U);
  const auto open_file = [&] {
    const int file = open(settings.file.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) throw kindred::IoError("cannot open '{}'", settings.file);
    return file;
  };
  settings.turns.take({{"row", cold ? "disk" : "bytes"},
                       {"shape", "file"},
                       {"who", "machine"},
                       {"bytes", static_cast<double>(size)}},
                      [&] {
                        const int file = open_file();
                        if (cold) posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
                        auto line = timed([&] {
                          while (read(file, buffer.data(), buffer.size()) > 0) {
                          }
                        });
                        close(file);
                        return line;
                      });
}

}  // namespace bench
