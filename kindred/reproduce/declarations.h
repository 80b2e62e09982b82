// What is measured, as small files declare it that are part of the program: tasks.json and
// configurations.json say of what data and by which methods, items/*.json what goes into each table
// and figure, with the paper's own numbers.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace kindred::reproduce {

using Json = nlohmann::ordered_json;

/// Small cuts data, training and seeds, so that everything runs in minutes and means nothing;
/// paper is what is reported.
enum class Scale { kSmall, kPaper };

std::string_view name_of(Scale scale);
/// Throws InvalidArgument.
Scale scale_named(std::string_view name);

/// A dataset.
struct Task {
  std::string name;
  std::string title;
  std::int64_t k = 0;       ///< How many policies there are.
  std::int64_t start = 0;   ///< Clusters that PG-Kmeans starts from before it merges.
  std::string generate{};   ///< What 'kindred generate' would be asked for; empty: it is a file.
  Json options{};           ///< Of generating.
  std::string file{};       ///< In the folder of files that are not ours to ship.
  std::string environment;  ///< In which its policies can act; empty: none.
};

/// A method with options, which may say k*, k*+1 and start of the task.
struct Configuration {
  std::string name;
  std::string title;
  std::string method;
  std::string preset;
  Json options;
  bool gpu = false;                          ///< Whether a GPU is of use to it.
  bool overview = false;                     ///< A column of the first table.
  double known_labels = 0.0;                 ///< The share of true labels it is given.
  std::map<std::string, std::string> paper;  ///< The paper's NMI, by task.
};

/// A way to let the policies behind clusters act.
struct EvaluationVariant {
  std::string name;
  Json options;  ///< Of 'kindred evaluate'.
};

/// Every configuration on every task with every seed, and what is to be known of the result.
struct Measurement {
  std::vector<std::string> tasks;
  std::vector<std::string> configurations;
  std::vector<std::int64_t> seeds;
  std::vector<std::string> evaluations;  ///< Names of variants.
  std::vector<std::int64_t> evaluation_seeds;
  bool returns = false;  ///< The returns of each cluster's episodes.
};

/// One table or figure.
struct Item {
  std::string name;
  std::string title;
  std::vector<Measurement> measurements;
  Json paper;  ///< The paper's numbers, in the shape its table needs.
  /// Why we fall short of them, by "row/column" or "row" as their shape has them.
  std::map<std::string, std::string> why;
};

/// Everything at one scale, with names that lead somewhere.
struct Declarations {
  Scale scale = Scale::kPaper;
  std::vector<Task> tasks;
  std::map<std::string, std::vector<std::string>> groups;  ///< Of tasks.
  std::vector<Configuration> configurations;
  std::vector<EvaluationVariant> evaluations;
  std::vector<Item> items;

  /// Each throws InvalidArgument saying what there is.
  const Task& task(std::string_view name) const;
  const Configuration& configuration(std::string_view name) const;
  const EvaluationVariant& evaluation(std::string_view name) const;
  const Item& item(std::string_view name) const;
  /// Of a group, in its order.
  std::vector<const Task*> tasks_of(const std::string& group) const;
};

/// Throws DataFormatError where a declaration is wrong, which only a test should see.
Declarations load_declarations(Scale scale);

/// "1-3,7" as 1, 2, 3, 7. Throws InvalidArgument.
std::vector<std::int64_t> parse_seeds(std::string_view text);

/// "90s", "9m" or "2h" in seconds. Throws InvalidArgument.
double parse_duration(std::string_view text);

}  // namespace kindred::reproduce
