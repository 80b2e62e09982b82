// The records of a store as tables ask for them, each read once.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kindred/reproduce/declarations.h"
#include "kindred/reproduce/jobs.h"
#include "kindred/reproduce/store.h"

namespace kindred::reproduce {

using RecordList = std::vector<const Json*>;

class Records {
 public:
  explicit Records(const Store& store) : store_(store), names_(store.names()) {}

  /// nullptr where it is not there.
  const Json* find(const std::string& name) const;
  /// The clusterings of a task by a configuration, of whatever seeds, in the order of their names.
  RecordList clusterings(const std::string& task, const std::string& configuration) const;
  RecordList evaluations(const std::string& task, const std::string& configuration,
                         const std::string& variant) const;
  /// Those whose names begin and end so.
  std::vector<std::string> named(const std::string& begin, const std::string& end) const;

 private:
  const Store& store_;
  std::vector<std::string> names_;
  mutable std::map<std::string, Json> read_;
};

/// Those made on a device: "cpu" or "cuda".
RecordList made_on(const RecordList& records, const std::string& device);

/// Whether a part of a record's name is one, as a seed is.
bool is_number(std::string_view text);

/// The number at a path such as "result/nmi" of each record that has one.
std::vector<double> numbers(const RecordList& records, const std::string& path);

double mean(const std::vector<double>& values);  ///< Of at least one.
double least(const std::vector<double>& values);
double most(const std::vector<double>& values);
/// Of a sample; 0 with a single value.
double deviation(const std::vector<double>& values);
double median(std::vector<double> values);

}  // namespace kindred::reproduce
