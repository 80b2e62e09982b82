// What of this room is done by the part that needs LibTorch.
#include "kindred/latent/centres.h"

namespace kindred::latent {

constinit decltype(load_centres) load_centres;

}  // namespace kindred::latent
