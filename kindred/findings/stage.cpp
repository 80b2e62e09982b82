#include "kindred/findings/stage.h"

#include "kindred/findings/grid_stage.h"
#include "kindred/findings/path_stage.h"
#include "kindred/render/render.h"

namespace kindred::findings {

std::unique_ptr<Stage> make_stage(const Trajectories& data) {
  switch (choose_drawing(data, 0)) {
    case Drawing::kGrid:
      return std::make_unique<GridStage>(data);
    case Drawing::kPath:
      return std::make_unique<PathStage>(data);
    default:
      return nullptr;
  }
}

}  // namespace kindred::findings
