#include "kindred/reproduce/declarations.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <span>

#include "kindred/core/embedded.h"
#include "kindred/core/error.h"

namespace kindred {

std::span<const EmbeddedFile> reproduce_declarations();

namespace reproduce {
namespace {

/// A JSON object of which every key must be looked at.
class Reader {
 public:
  Reader(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object_.is_object()) throw DataFormatError("{}: expected an object", where_);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  bool has(const char* key) {
    seen_.insert(key);
    return object_.contains(key);
  }

  template <class T>
  T get(const char* key) {
    if (!has(key)) throw DataFormatError("{}: '{}' is missing", where_, key);
    try {
      return object_.at(key).get<T>();
    } catch (const Json::exception& error) {
      throw DataFormatError("{}: '{}' is not what it should be: {}", where_, key, error.what());
    }
  }

  template <class T>
  T get(const char* key, T otherwise) {
    return has(key) ? get<T>(key) : otherwise;
  }

  void finish() const {
    for (const auto& [key, value] : object_.items())
      if (!seen_.contains(key)) throw DataFormatError("{}: nobody knows '{}'", where_, key);
  }

  const std::string& where() const { return where_; }

 private:
  const Json& object_;
  std::string where_;
  std::set<std::string> seen_;
};

Json no_options() { return Json::object(); }

Task read_task(const Json& json, Scale scale) {
  Reader in(json, "tasks.json: " + json.value("name", std::string("?")));
  Task task;
  task.name = in.get<std::string>("name");
  task.title = in.get<std::string>("title");
  task.k = in.get<std::int64_t>("k");
  task.start = in.get<std::int64_t>("start");
  task.generate = in.get<std::string>("generate", "");
  task.options = in.get<Json>("options", no_options());
  task.file = in.get<std::string>("file", "");
  task.environment = in.get<std::string>("environment", "");
  const Json small = in.get<Json>("small", no_options());
  in.finish();
  if (scale == Scale::kSmall) {
    Reader cut(small, in.where() + ": small");
    if (cut.has("generate")) {
      task.generate = cut.get<std::string>("generate");
      task.file.clear();
    }
    task.options.update(cut.get<Json>("options", no_options()));
    // Steps win over episodes where both are given.
    if (small.contains("options") && !small["options"].contains("steps"))
      task.options.erase("steps");
    cut.finish();
  }
  if (task.generate.empty() == task.file.empty())
    throw DataFormatError("{}: is generated, or a file", in.where());
  return task;
}

/// `text` with the number in the place of '#'.
std::string with_number(std::string text, std::int64_t number) {
  if (const auto at = text.find('#'); at != std::string::npos)
    text.replace(at, 1, std::to_string(number));
  return text;
}

/// The configuration, or one for each of the numbers under "each".
void read_configurations(const Json& json, Scale scale, std::vector<Configuration>& out) {
  Reader in(json, "configurations.json: " + json.value("name", std::string("?")));
  Configuration common;
  common.name = in.get<std::string>("name");
  common.title = in.get<std::string>("title");
  common.method = in.get<std::string>("method");
  common.preset = in.get<std::string>("preset", "");
  common.options = in.get<Json>("options");
  common.gpu = in.get<bool>("gpu", false);
  common.overview = in.get<bool>("overview", false);
  common.known_labels = in.get<double>("known-labels", 0.0);
  common.paper = in.get<std::map<std::string, std::string>>("paper", {});
  const auto each = in.get<std::vector<std::int64_t>>("each", {});
  const Json small = in.get<Json>("small", no_options());
  in.finish();
  if (scale == Scale::kSmall) common.options.update(small);
  if (each.empty()) return out.push_back(common);
  for (const auto number : each) {
    Configuration one = common;
    one.name = with_number(one.name, number);
    one.title = with_number(one.title, number);
    for (auto& value : one.options)
      if (value == "#") value = number;
    out.push_back(one);
  }
}

EvaluationVariant read_evaluation(const Json& json, Scale scale) {
  Reader in(json, "configurations.json: " + json.value("name", std::string("?")));
  EvaluationVariant variant{in.get<std::string>("name"), in.get<Json>("options")};
  const Json small = in.get<Json>("small", no_options());
  in.finish();
  if (scale == Scale::kSmall) variant.options.update(small);
  return variant;
}

class ItemReader {
 public:
  explicit ItemReader(const Declarations& known) : known_(known) {}

  Item read(const std::string& name, const Json& json) const {
    Reader in(json, "items/" + name + ".json");
    Item item;
    item.name = name;
    item.title = in.get<std::string>("title");
    item.paper = in.get<Json>("paper", no_options());
    item.why = in.get<std::map<std::string, std::string>>("why", {});
    for (const auto& measurement : in.get<Json>("measure"))
      item.measurements.push_back(read_measurement(measurement, in.where()));
    in.finish();
    return item;
  }

 private:
  Measurement read_measurement(const Json& json, const std::string& where) const {
    using Names = std::vector<std::string>;
    Reader in(json, where);
    Measurement result;
    result.tasks = in.get<Names>("tasks");
    result.configurations = in.get<Names>("configurations");
    result.seeds = parse_seeds(in.get<std::string>("seeds"));
    result.evaluations = in.get<Names>("evaluations", {});
    result.evaluation_seeds = parse_seeds(in.get<std::string>("evaluation-seeds", ""));
    result.returns = in.get<bool>("returns", false);
    const auto small_seeds = in.get<std::size_t>("small", 1);
    const auto small_tasks = in.get<Names>("small-tasks", result.tasks);
    const auto small_configurations = in.get<Names>("small-configurations", result.configurations);
    in.finish();
    if (known_.scale == Scale::kSmall) {
      result.tasks = small_tasks;
      result.configurations = small_configurations;
      result.seeds.resize(std::min(result.seeds.size(), small_seeds));
      result.evaluation_seeds.resize(std::min<std::size_t>(result.evaluation_seeds.size(), 1));
    }
    result.tasks = without_groups(result.tasks);
    for (const auto& name : result.configurations) known_.configuration(name);
    for (const auto& name : result.evaluations) known_.evaluation(name);
    return result;
  }

  std::vector<std::string> without_groups(const std::vector<std::string>& names) const {
    std::vector<std::string> tasks;
    for (const auto& name : names)
      if (const auto group = known_.groups.find(name); group != known_.groups.end())
        tasks.insert(tasks.end(), group->second.begin(), group->second.end());
      else
        tasks.push_back(known_.task(name).name);
    return tasks;
  }

  const Declarations& known_;
};

Json parse(const EmbeddedFile& file) {
  try {
    return Json::parse(file.bytes);
  } catch (const Json::exception& error) {
    throw DataFormatError("{}: {}", file.name, error.what());
  }
}

template <class T>
const T& named(const std::vector<T>& all, std::string_view name, const char* kind) {
  const auto found = std::ranges::find(all, name, &T::name);
  if (found != all.end()) return *found;
  std::vector<std::string> names;
  for (const auto& one : all) names.push_back(one.name);
  throw InvalidArgument("there is no {} '{}'; there are {}", kind, name, fmt::join(names, ", "));
}

}  // namespace

std::string_view name_of(Scale scale) { return scale == Scale::kSmall ? "small" : "paper"; }

Scale scale_named(std::string_view name) {
  for (const auto scale : {Scale::kSmall, Scale::kPaper})
    if (name == name_of(scale)) return scale;
  throw InvalidArgument("there is no scale '{}'; choose small or paper", name);
}

const Task& Declarations::task(std::string_view name) const { return named(tasks, name, "task"); }

const Configuration& Declarations::configuration(std::string_view name) const {
  return named(configurations, name, "configuration");
}

const EvaluationVariant& Declarations::evaluation(std::string_view name) const {
  return named(evaluations, name, "evaluation");
}

const Item& Declarations::item(std::string_view name) const { return named(items, name, "item"); }

std::vector<const Task*> Declarations::tasks_of(const std::string& group) const {
  std::vector<const Task*> result;
  for (const auto& name : groups.at(group)) result.push_back(&task(name));
  return result;
}

Declarations load_declarations(Scale scale) {
  Declarations result;
  result.scale = scale;
  const auto files = reproduce_declarations();
  for (const auto& file : files) {
    const Json json = parse(file);
    if (file.name == "tasks.json") {
      for (const auto& task : json.at("tasks")) result.tasks.push_back(read_task(task, scale));
      result.groups = json.at("groups").get<decltype(result.groups)>();
      for (const auto& [group, names] : result.groups)
        for (const auto& name : names) result.task(name);
    } else if (file.name == "configurations.json") {
      for (const auto& one : json.at("configurations"))
        read_configurations(one, scale, result.configurations);
      for (const auto& one : json.at("evaluations"))
        result.evaluations.push_back(read_evaluation(one, scale));
    } else {  // listed after the two
      const auto name = file.name.substr(0, file.name.rfind('.'));
      result.items.push_back(ItemReader(result).read(std::string(name), json));
    }
  }
  return result;
}

std::vector<std::int64_t> parse_seeds(std::string_view text) {
  const auto number = [&](std::string_view digits) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || value < 0)
      throw InvalidArgument("'{}' are no seeds; write them as 1-3,7", text);
    return value;
  };
  constexpr std::int64_t kMost = 10000;
  std::vector<std::int64_t> seeds;
  for (auto rest = text; !rest.empty();) {
    const auto part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    const auto dash = part.find('-');
    const auto first = number(part.substr(0, dash));
    const auto last = dash == part.npos ? first : number(part.substr(dash + 1));
    if (last < first || last - first >= kMost)
      throw InvalidArgument("'{}' are no seeds; write them as 1-3,7", text);
    for (auto seed = first; seed <= last; ++seed) seeds.push_back(seed);
  }
  return seeds;
}

double parse_duration(std::string_view text) {
  const std::map<char, double> units = {{'s', 1.0}, {'m', 60.0}, {'h', 3600.0}};
  const auto unit = text.empty() ? units.end() : units.find(text.back());
  std::int64_t count = 0;
  const auto* last = text.data() + text.size() - (unit == units.end() ? 0 : 1);
  const auto [end, error] = std::from_chars(text.data(), last, count);
  if (unit == units.end() || error != std::errc() || end != last || count <= 0)
    throw InvalidArgument("'{}' is no time; write it as 90s, 9m or 2h", text);
  return static_cast<double>(count) * unit->second;
}

}  // namespace reproduce
}  // namespace kindred
