#include "kindred/clustering/checkpoint.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/dist/communicator.h"

namespace kindred {
namespace {

using nlohmann::json;

constexpr int kFormat = 1;

/// A file of which nothing is on any disk.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view content) : descriptor_(::memfd_create("kindred", 0)) {
    while (descriptor_ >= 0 && !content.empty()) {
      const auto written = ::write(descriptor_, content.data(), content.size());
      if (written <= 0) throw IoError("a checkpoint does not fit into memory");
      content.remove_prefix(static_cast<std::size_t>(written));
    }
    if (descriptor_ < 0) throw IoError("no file can be made in memory");
  }
  ~MemoryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::filesystem::path path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

 private:
  int descriptor_;
};

}  // namespace

Checkpoint::Checkpoint(std::string method, json options, const Trajectories& data,
                       const RunContext& run)
    : ranks_(run.communicator),
      path_(run.checkpoint),
      method_(std::move(method)),
      options_(std::move(options)),
      data_name_(run.data_name) {
  std::error_code error;  // whatever it is, writing the file will name it
  resumes_ = kept() && run.resume && std::filesystem::exists(path_, error);
  if (ranks_) {
    auto said = static_cast<std::byte>(resumes_);
    ranks_->broadcast({&said, 1}, 0);
    resumes_ = said != std::byte{0};
  }
  if (kept() || resumes_) data_ = fingerprint_of(data);
}

void Checkpoint::save(const std::function<json(ArrayFileWriter&)>& write) const {
  ArrayFileWriter file(path_);
  const json header = {
      {"format", kFormat}, {"method", method_}, {"options", options_}, {"data", to_json(data_)}};
  file.write_text("header", header.dump());
  file.write_text("state", write(file).dump());
  file.close();
}

void Checkpoint::load(
    const std::function<void(const json&, const ArrayFileReader&)>& restore) const {
  if (!ranks_) return load_from(path_, restore);
  std::string content = ranks_->is_first() ? read_text(path_) : "";
  std::int64_t size = std::ssize(content);
  ranks_->broadcast(std::as_writable_bytes(std::span(&size, 1)), 0);
  content.resize(static_cast<std::size_t>(size));
  ranks_->broadcast(std::as_writable_bytes(std::span(content)), 0);
  if (ranks_->is_first()) return load_from(path_, restore);
  load_from(MemoryFile(content).path(), restore);
}

void Checkpoint::load_from(
    const std::filesystem::path& path,
    const std::function<void(const json&, const ArrayFileReader&)>& restore) const {
  const ArrayFileReader file(path);
  if (!file.contains("header"))
    throw InvalidArgument(
        "cannot resume '{}': it is not a checkpoint of this version of kindred; start again "
        "without --resume",
        path_.string());
  const auto damaged = [&](const std::string& how) {
    return DataFormatError("cannot resume '{}': it is damaged{}; start again without --resume",
                           path_.string(), how);
  };
  try {
    require_own_header(json::parse(file.read_text("header")));
  } catch (const json::exception&) {
    throw damaged("");
  }
  try {
    restore(json::parse(file.read_text("state")), file);
  } catch (const IoError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const Error& error) {
    throw damaged(fmt::format(" ({})", error.what()));
  } catch (const std::exception&) {
    throw damaged("");
  }
}

void Checkpoint::require_own_header(const json& header) const {
  if (header.at("format") != kFormat)
    throw InvalidArgument(
        "cannot resume '{}': it has format {} and this version of kindred reads format {}; start "
        "again without --resume",
        path_.string(), header["format"].dump(), kFormat);
  if (header.at("method") != method_)
    throw InvalidArgument(
        "cannot resume '{}': it was started with method {}, now it is {}; name the original method "
        "or start again without --resume",
        path_.string(), header["method"].get<std::string>(), method_);
  require_same_data(fingerprint_from_json(header.at("data")), data_, data_name_);
  const auto& saved = header.at("options");
  for (const auto& [name, value] : options_.items())
    if (!saved.contains(name) || saved[name] != value)
      throw InvalidArgument(
          "cannot resume '{}': it was started with {} = {}, now it is {}; repeat the original "
          "options or start again without --resume",
          path_.string(), name, saved.value(name, json()).dump(), value.dump());
}

json saved_number(double x) { return std::isfinite(x) ? json(x) : json(x > 0 ? "inf" : "-inf"); }

double restored_number(const json& saved) {
  if (saved.is_number()) return saved.get<double>();
  if (saved != "inf" && saved != "-inf")
    throw DataFormatError("{} stands where a number should", saved.dump());
  return (saved == "inf" ? 1.0 : -1.0) * std::numeric_limits<double>::infinity();
}

json saved_trace(const std::vector<TraceEntry>& trace) {
  json saved = json::array();
  for (const auto& t : trace)
    saved.push_back(
        {t.restart, t.iteration, saved_number(t.objective), t.changed, t.sizes, t.seconds});
  return saved;
}

std::vector<TraceEntry> restored_trace(const json& saved) {
  std::vector<TraceEntry> trace;
  for (const auto& j : saved)
    trace.push_back({j.at(0), j.at(1), restored_number(j.at(2)), j.at(3), j.at(4), j.at(5)});
  return trace;
}

json saved_merges(const std::vector<MergeStep>& merges) {
  json saved = json::array();
  for (const auto& m : merges) saved.push_back({m.from, m.into, saved_number(m.objective)});
  return saved;
}

std::vector<MergeStep> restored_merges(const json& saved) {
  std::vector<MergeStep> merges;
  for (const auto& j : saved) merges.push_back({j.at(0), j.at(1), restored_number(j.at(2))});
  return merges;
}

void require_labels(std::span<const std::int32_t> labels, std::int64_t episodes, std::int64_t k) {
  if (std::ssize(labels) != episodes)
    throw DataFormatError("it labels {} episodes, the data has {}", labels.size(), episodes);
  for (const auto label : labels)
    if (label < 0 || label >= k)
      throw DataFormatError("it has a label {}, and there are {} clusters", label, k);
}

}  // namespace kindred
