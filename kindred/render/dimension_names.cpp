#include "kindred/render/dimension_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <span>
#include <vector>

namespace kindred::render {
namespace {

struct Names {
  std::string environment;
  std::vector<std::string> observations;
  std::vector<std::string> actions;
};

using Joints = std::vector<std::string>;

Names names_of(const char* environment, std::vector<std::string> positions,
               const std::vector<std::string>& velocities, const Joints& joints,
               const Joints& actuators) {
  Names names{environment, std::move(positions), {}};
  for (const auto& joint : joints) names.observations.push_back(joint + " angle (rad)");
  for (const auto& velocity : velocities) names.observations.push_back(velocity);
  for (const auto& joint : joints) names.observations.push_back(joint + " rate (rad/s)");
  for (const auto& joint : actuators) names.actions.push_back(joint + " torque");
  return names;
}

/// One that moves in a vertical plane.
Names planar(const char* environment, const Joints& joints) {
  return names_of(environment, {"torso height (m)", "torso angle (rad)"},
                  {"forward velocity (m/s)", "upward velocity (m/s)", "torso rate (rad/s)"}, joints,
                  joints);
}

Names ant() {
  return names_of(
      "ant",
      {"torso height (m)", "orientation w", "orientation x", "orientation y", "orientation z"},
      {"velocity x (m/s)", "velocity y (m/s)", "velocity z (m/s)", "rate about x (rad/s)",
       "rate about y (rad/s)", "rate about z (rad/s)"},
      {"front left hip", "front left ankle", "front right hip", "front right ankle",
       "back left hip", "back left ankle", "back right hip", "back right ankle"},
      {"back right hip", "back right ankle", "front left hip", "front left ankle",
       "front right hip", "front right ankle", "back left hip", "back left ankle"});
}

std::span<const Names> known() {
  static const std::vector<Names> all = {
      planar("hopper", {"thigh", "leg", "foot"}),
      planar("walker2d",
             {"right thigh", "right leg", "right foot", "left thigh", "left leg", "left foot"}),
      planar("halfcheetah",
             {"back thigh", "back shin", "back foot", "front thigh", "front shin", "front foot"}),
      ant(),
      {"path-following",
       {"position x", "position y", "velocity x", "velocity y", "goal x", "goal y"},
       {"force x", "force y"}}};
  return all;
}

const Names* find(std::string_view environment) {
  const auto found = std::ranges::find(known(), environment, &Names::environment);
  return found == known().end() ? nullptr : &*found;
}

}  // namespace

std::string observation_name(std::string_view environment, std::int64_t dim, std::int64_t i) {
  constexpr std::int64_t kContactForces = 84;
  const Names* names = find(environment);
  const auto count = names ? static_cast<std::int64_t>(names->observations.size()) : 0;
  const bool fits = dim == count || (environment == "ant" && dim == count + kContactForces);
  return fits && i < count ? names->observations[static_cast<std::size_t>(i)]
                           : fmt::format("observation {}", i);
}

std::string action_name(std::string_view environment, std::int64_t dim, std::int64_t i) {
  const Names* names = find(environment);
  return names && static_cast<std::int64_t>(names->actions.size()) == dim
             ? names->actions[static_cast<std::size_t>(i)]
             : fmt::format("action {}", i);
}

std::string_view environment_in(std::string_view path) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (auto word = path.begin(); word != path.end();) {
    const auto end = std::find_if_not(word, path.end(), is_part);
    if (const Names* names = find({word, end})) return names->environment;
    word = end == path.end() ? end : end + 1;
  }
  return "";
}

}  // namespace kindred::render
