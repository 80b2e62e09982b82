// Writes and reads a Minari dataset for check_minari.py, which compares with the real package.
//   minari_bridge write <folder> <discrete|continuous>   a sample dataset
//   minari_bridge read <folder>                          a summary, as JSON
#include <iostream>
#include <numeric>

#include "../test_files.h"

int main(int count, char** arguments) {
  using namespace kindred;           // NOLINT: a program of one function
  using namespace kindred::testing;  // NOLINT
  const std::string command = count > 2 ? arguments[1] : "";
  try {
    if (command == "write" && count == 4) {
      const bool discrete = std::string(arguments[3]) == "discrete";
      write_trajectories(make_trajectories({.discrete = discrete}), arguments[2], Format::kMinari);
    }
    const auto data = read_trajectories(arguments[2]);
    const auto rows = expanded(data.observations);
    const auto sum = [](const auto& values) {
      return std::accumulate(values.begin(), values.end(), 0.0);
    };
    std::cout << nlohmann::json{{"offsets", to_vector(data.offsets)},
                                {"observation_dim", data.observations.dim()},
                                {"observation_sum", sum(rows)},
                                {"names", data.observation_names},
                                {"ids", data.ids},
                                {"discrete", data.actions.is_discrete()},
                                {"actions", data.actions.is_discrete() ? data.actions.count()
                                                                       : data.actions.dim()},
                                {"action_sum",
                                 sum(data.actions.ints()) + sum(data.actions.floats())},
                                {"reward_sum", sum(data.rewards)},
                                {"terminals", to_vector(data.terminals)},
                                {"timeouts", to_vector(data.timeouts)},
                                {"labels", to_vector(data.labels)}}
              << '\n';
  } catch (const Error& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
}
