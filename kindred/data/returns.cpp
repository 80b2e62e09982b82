#include "kindred/data/returns.h"

#include <cmath>

#include "kindred/core/error.h"

namespace kindred {

std::vector<double> finite_returns(const Trajectories& data, const std::string& consequence) {
  auto returns = episode_returns(data);
  for (std::size_t i = 0; i < returns.size(); ++i)
    if (!std::isfinite(returns[i]))
      throw InvalidArgument("the return of episode {} ('{}') is {}, so {}; repair its rewards", i,
                            data.ids[i], returns[i], consequence);
  return returns;
}

}  // namespace kindred
