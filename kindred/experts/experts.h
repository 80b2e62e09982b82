// The known policies of each environment: whose trajectories the datasets hold.
//
// | environment       | experts |
// |---|---|
// | diagonal          | right-first, down-first, balanced, zigzag-1, zigzag-2 |
// | takeball          | ball-0 … ball-3: to the place where that ball lies, then on to the goal |
// | takeball-permuted | ball-0 … ball-3: to that ball, wherever it lies, then on to the goal |
// | bandit            | first-first, first-second, second-first, second-second: the action taken
// |                   | in the first and in the second state |
// | the others        | trained, see recipes.h |
//
// All of them are Markov. Those of the table are deterministic, and the environment's slips are the
// only chance; trained ones draw their actions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kindred/envs/bandit.h"
#include "kindred/envs/diagonal.h"
#include "kindred/envs/takeball.h"
#include "kindred/experts/policy.h"

namespace kindred {

/// The experts of an environment; label i of a generated dataset is expert i. A list chooses as
/// select_experts does, and may also name policies of further trainings (shipped_names in
/// recipes.h). Throws InvalidArgument when the environment has none.
Policies make_experts(const Environment& environment, std::string_view list = {});

Policies diagonal_experts(const Diagonal& environment);
Policies takeball_experts(const Takeball& environment);
Policies bandit_experts(const Bandit& environment);

/// The experts named in a list such as "medium,expert", in its order; all of them when it is empty.
/// Throws InvalidArgument on a name that there is not, naming those there are, or one named twice.
Policies select_experts(const Policies& experts, std::string_view list);
std::vector<std::string> select_names(const std::vector<std::string>& known, std::string_view list);

/// What a dataset's name says: an environment, and perhaps which of its policies.
struct DatasetName {
  std::string environment;
  std::string experts;   ///< As select_experts takes them.
  bool mixture = false;  ///< Of policies that are drawn, see mixture.h.
};

/// "hopper", "hopper-medium-expert" or "hopper-mixture". The environment is not looked up.
DatasetName parse_dataset_name(std::string_view name);

/// Along the diagonal to the lower right corner: right where the row exceeds the column, else down;
/// right along the lowest row, down along the last column.
Move balanced_move(const Grid& grid, Cell agent);

}  // namespace kindred
