// How the processes of a run share the fit of a method.
#pragma once

namespace kindred {

/// How several processes share a fit: not at all; each looks at the episodes it holds; or all have
/// every episode, and each trains some of the policies.
enum class Sharing { kNone, kEpisodes, kPolicies };

}  // namespace kindred
