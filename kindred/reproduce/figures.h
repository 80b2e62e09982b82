// The figures of the page of results, as SVG.
#pragma once

#include <string>

#include "kindred/reproduce/tables.h"

namespace kindred::reproduce {

/// Each is empty where no record says anything about it.
std::string nmi_loss_figure(const Results& results);
std::string nmi_k_figure(const Results& results);
std::string histogram_figure(const Results& results);

}  // namespace kindred::reproduce
