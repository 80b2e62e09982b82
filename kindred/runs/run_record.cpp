#include "kindred/runs/run_record.h"

#include "kindred/core/error.h"
#include "kindred/core/files.h"

namespace kindred {
namespace {

constexpr int kFormatVersion = 1;

}  // namespace

void RunRecord::write(const std::filesystem::path& path) const {
  const nlohmann::ordered_json document = {{"kindred_run", kFormatVersion},
                                           {"version", version},
                                           {"method", method},
                                           {"command", command},
                                           {"started", started},
                                           {"dataset", dataset},
                                           {"options", options},
                                           {"result", result},
                                           {"restarts", restarts},
                                           {"timings", timings},
                                           {"machine", machine},
                                           {"trace", trace}};
  // Names of files may be no UTF-8, which JSON must be.
  const auto replace = nlohmann::ordered_json::error_handler_t::replace;
  write_text(path, document.dump(1, ' ', false, replace) + "\n");
}

RunRecord RunRecord::read(const std::filesystem::path& path) {
  const auto text = read_text(path);
  try {
    const auto document = nlohmann::ordered_json::parse(text);
    const int format = document.at("kindred_run");
    if (format > kFormatVersion)
      throw DataFormatError("'{}' has run format {}, this program knows up to {}; use a newer one",
                            path.string(), format, kFormatVersion);
    return {document.at("version"), document.at("method"),   document.at("command"),
            document.at("started"), document.at("dataset"),  document.at("options"),
            document.at("result"),  document.at("restarts"), document.at("trace"),
            document.at("timings"), document.at("machine")};
  } catch (const nlohmann::json::exception& error) {
    throw DataFormatError("'{}' is not a run record: {}", path.string(), error.what());
  }
}

}  // namespace kindred
