// The plane of path-following as a stage.
#pragma once

#include <array>

#include "kindred/envs/path_following.h"
#include "kindred/findings/stage.h"

namespace kindred::findings {

class PathStage final : public Stage {
 public:
  explicit PathStage(const Trajectories& data);

  Json setting() const override;
  void add_steps(std::int64_t episode, const std::vector<std::int64_t>& steps,
                 Json& trajectory) const override;

  Point position(std::int64_t step) const;
  /// Low and high of where anybody was.
  Point low() const { return low_; }
  Point high() const { return high_; }

  static Json point_json(Point point);

 private:
  std::array<float, 6> observation(std::int64_t step) const;

  const Trajectories& data_;
  Point low_{-1.0, -1.0}, high_{1.0, 1.0};
};

}  // namespace kindred::findings
