// What the process has used so far.
#pragma once

namespace kindred {

/// The most memory the process has held at once, in MB (10^6 bytes).
double peak_rss_mb();

}  // namespace kindred
