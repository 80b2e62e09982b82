// Where results are kept: a folder of small JSON files, one scale each. The folder holds
//   NAME.json   a record              store.json  the scale
//   .work/JOB/  a clustering under way, from which an interrupted one goes on
//   .work/data/ generated data that jobs share, until all are done
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "kindred/reproduce/declarations.h"
#include "kindred/runs/run_folder.h"

namespace kindred::reproduce {

class Store {
 public:
  /// The store in `folder`, which is made on the first write. Throws InvalidArgument when it holds
  /// results of another scale, or other things.
  Store(std::filesystem::path folder, Scale scale);

  const std::filesystem::path& folder() const { return folder_; }
  bool has(const std::string& record) const;
  /// Throws IoError or DataFormatError naming the file.
  Json read(const std::string& record) const;
  /// Whole or not at all. Throws IoError.
  void write(const std::string& record, const Json& json) const;
  /// The names of all records, in order.
  std::vector<std::string> names() const;

  std::filesystem::path work(const std::string& job) const { return folder_ / ".work" / job; }
  /// Makes the store and keeps other runners out of it. Throws InvalidArgument, IoError.
  std::unique_ptr<RunLock> begin_work() const;
  /// Whether a record could be written now: false on a full disk.
  bool can_write() const;

 private:
  std::filesystem::path mark() const { return folder_ / "store.json"; }

  std::filesystem::path folder_;
  Scale scale_;
};

}  // namespace kindred::reproduce
