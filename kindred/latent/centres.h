// Centres in latent space, read back; encoder.h says what they are.
#pragma once

#include <memory>

#include "kindred/clustering/clustering.h"
#include "kindred/core/late_part.h"

namespace kindred::latent {

extern TorchFunction<std::shared_ptr<const Centres>(const ArrayFileReader& file)> load_centres;

}  // namespace kindred::latent
