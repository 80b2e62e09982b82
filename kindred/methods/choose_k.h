// -k auto for methods that cannot tell by themselves how many clusters there are: the method is
// fitted for one number after the other, and the held-out score chooses among the answers.
#pragma once

#include <memory>

#include "kindred/methods/method.h"

namespace kindred {

/// The method with an option k that may be "auto", and k-max, the most to try then.
std::unique_ptr<ConfiguredMethod> choosing_k(std::unique_ptr<ConfiguredMethod> method);

}  // namespace kindred
