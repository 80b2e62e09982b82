// What of this room is done by the part that needs LibTorch.
#include "kindred/methods/caae/caae.h"
#include "kindred/methods/dec/dec.h"
#include "kindred/methods/pg_kmeans/learners.h"
#include "kindred/methods/sorl/mixture.h"
#include "kindred/methods/vae_kmeans/vae_kmeans.h"
#include "kindred/methods/vq_vae/vq_vae.h"

namespace kindred {

constinit decltype(caae::fit) caae::fit;
constinit decltype(dec::fit) dec::fit;
constinit decltype(pg_kmeans::make_stack_learner) pg_kmeans::make_stack_learner;
constinit decltype(sorl::make_tensor_mixture) sorl::make_tensor_mixture;
constinit decltype(vae_kmeans::fit) vae_kmeans::fit;
constinit decltype(vq_vae::fit) vq_vae::fit;

}  // namespace kindred
