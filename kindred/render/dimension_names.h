// What the numbers in observations and actions are called, for the environments it knows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kindred::render {

/// "torso height (m)" for number 0 of hopper; "observation 7" where nothing is known. Walkers on
/// two legs and one observe positions, then velocities, without the distance covered; ant also
/// contact forces, which have no names.
std::string observation_name(std::string_view environment, std::int64_t dim, std::int64_t i);

/// "thigh torque"; "action 2" where nothing is known.
std::string action_name(std::string_view environment, std::int64_t dim, std::int64_t i);

/// The environment that a path such as data/hopper-medium-v2.hdf5 names; empty when it names none.
std::string_view environment_in(std::string_view path);

}  // namespace kindred::render
