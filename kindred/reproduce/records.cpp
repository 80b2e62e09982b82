#include "kindred/reproduce/records.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kindred::reproduce {

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

const Json* Records::find(const std::string& name) const {
  if (!std::ranges::binary_search(names_, name)) return nullptr;
  const auto known = read_.find(name);
  return known != read_.end() ? &known->second
                              : &read_.emplace(name, store_.read(name)).first->second;
}

std::vector<std::string> Records::named(const std::string& begin, const std::string& end) const {
  std::vector<std::string> found;
  for (const auto& name : names_)
    if (name.size() >= begin.size() + end.size() && name.starts_with(begin) && name.ends_with(end))
      found.push_back(name);
  return found;
}

RecordList Records::clusterings(const std::string& task, const std::string& configuration) const {
  const auto begin = task + "-" + configuration + "-";
  RecordList found;
  for (const auto& name : named(begin, ""))
    if (is_number(std::string_view(name).substr(begin.size()))) found.push_back(find(name));
  return found;
}

RecordList Records::evaluations(const std::string& task, const std::string& configuration,
                                const std::string& variant) const {
  const auto begin = task + "-" + configuration + "-", middle = "-evaluated-" + variant + "-";
  RecordList found;
  for (const auto& name : named(begin, "")) {
    const auto rest = std::string_view(name).substr(begin.size());
    const auto at = rest.find(middle);
    if (at != rest.npos && is_number(rest.substr(0, at)) &&
        is_number(rest.substr(at + middle.size())))
      found.push_back(find(name));
  }
  return found;
}

RecordList made_on(const RecordList& records, const std::string& device) {
  RecordList found;
  for (const auto* record : records)
    if (record->at("machine").at("device") == device) found.push_back(record);
  return found;
}

std::vector<double> numbers(const RecordList& records, const std::string& path) {
  const Json::json_pointer at("/" + path);
  std::vector<double> values;
  for (const auto* record : records)
    if (record->contains(at) && record->at(at).is_number())
      values.push_back(record->at(at).get<double>());
  return values;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double least(const std::vector<double>& values) { return *std::ranges::min_element(values); }
double most(const std::vector<double>& values) { return *std::ranges::max_element(values); }

double deviation(const std::vector<double>& values) {
  if (values.size() < 2) return 0.0;
  double squares = 0.0;
  for (const double value : values) squares += std::pow(value - mean(values), 2);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const auto half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

}  // namespace kindred::reproduce
