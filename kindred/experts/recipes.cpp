#include "kindred/experts/recipes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "kindred/core/embedded.h"
#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/core/stopwatch.h"
#include "kindred/data/array_file.h"
#include "kindred/experts/experts.h"
#include "kindred/experts/ppo/ppo.h"
#include "kindred/experts/rollout.h"
#include "kindred/experts/sac/sac.h"

namespace kindred {

/// The files of trained/, in the program.
std::span<const EmbeddedFile> trained_policies();

namespace {

constexpr double kMediumShare = 0.4;        // of the expert's return, as D4RL's medium
constexpr std::int64_t kCurvePoints = 200;  // kept of a training
constexpr std::int64_t kEvaluated = 100;    // episodes

std::vector<Recipe> extra() {
  const PpoOptions ppo{.steps = 11'000'000,
                       .lanes = 256,
                       .lane_steps = 64,
                       .epochs = 4,
                       .minibatch = 2048,
                       .hidden = 64,
                       .learning_rate = 1e-3,
                       .entropy = 0.01,
                       .final_entropy = 0.001};
  return {
      {"extra",
       "plus",
       "Visits both special cells, then goes to the goal.",
       {{"reward", "plus"}},
       ppo},
      {"extra",
       "minus",
       "Goes to the goal and keeps away from the special cells.",
       {{"reward", "minus"}},
       ppo},
      {"extra",
       "zero",
       "Goes to the goal as if there were no special cells.",
       {{"reward", "zero"}},
       ppo},
  };
}

std::vector<Recipe> path_following() {
  const PpoOptions ppo{.steps = 3'000'000,
                       .lanes = 64,
                       .lane_steps = 100,
                       .epochs = 10,
                       .minibatch = 1600,
                       .learning_rate = 5e-4,
                       .entropy = 0.01,
                       .deviation = 0.5,
                       .standardise = false,
                       .memory = 20};
  return {
      {"path-following", "free", "Takes the shortest way to the goal.", {{"reward", "free"}}, ppo},
      {"path-following",
       "up-first",
       "Goes up, then right, to the goal.",
       {{"reward", "up-first"}},
       ppo},
      {"path-following",
       "right-first",
       "Goes right, then up, to the goal.",
       {{"reward", "right-first"}},
       ppo},
  };
}

std::vector<Recipe> locomotion(std::string_view environment, std::int64_t steps, PpoOptions ppo,
                               std::vector<std::int64_t> further_seeds = {11, 12, 13, 14}) {
  ppo.steps = steps;
  return {{std::string(environment), "expert", "Moves forward, fully trained.",
           nlohmann::json::object(), ppo, "medium", std::move(further_seeds)}};
}

/// One training, as it went.
struct Course {
  std::vector<CurvePoint> curve;
  std::vector<std::shared_ptr<const NetworkPolicy>> snapshots;  // one per point, if wanted
  double seconds = 0.0;
};

/// What a checkpoint keeps beside the training itself.
std::filesystem::path course_file(std::filesystem::path checkpoint) {
  return checkpoint.replace_extension(".course.h5");
}

void save(const Course& course, const std::filesystem::path& path) {
  ArrayFileWriter file(path);
  nlohmann::ordered_json curve = nlohmann::ordered_json::array();
  for (const auto& point : course.curve) curve.push_back(to_json(point));
  file.write_text("curve", curve.dump());
  file.write("seconds", std::vector<double>{course.seconds});
  for (std::size_t i = 0; i < course.snapshots.size(); ++i) {
    const auto bytes = course.snapshots[i]->to_bytes();
    file.write("snapshots/" + std::to_string(i),
               std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
  }
  file.close();
}

/// The course up to `steps`: it may have been saved a moment later than the training.
Course load_course(const std::filesystem::path& path, std::int64_t steps) try {
  const ArrayFileReader file(path);
  Course course;
  course.seconds = file.read<double>("seconds").values.at(0);
  for (const auto& entry : nlohmann::json::parse(file.read_text("curve"))) {
    const auto name = "snapshots/" + std::to_string(course.curve.size());
    const auto point = curve_point(entry);
    if (point.steps > steps) break;
    course.curve.push_back(point);
    if (!file.contains(name)) continue;
    const auto bytes = file.read<std::uint8_t>(name).values;
    course.snapshots.push_back(NetworkPolicy::from_bytes(
        {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path.string()));
  }
  return course;
} catch (const nlohmann::json::exception&) {
  throw DataFormatError("'{}' holds no learning curve; remove it and its checkpoint to start over",
                        path.string());
}

Course follow(Training& training, const Recipe& recipe, const TrainingRun& run) {
  Course course;
  if (!run.checkpoint.empty() && std::filesystem::exists(run.checkpoint)) {
    training.resume(run.checkpoint);
    course = load_course(course_file(run.checkpoint), training.steps());
  }
  const double seconds_before = course.seconds;
  const Stopwatch watch;
  const auto every = std::max<std::int64_t>(1, training.planned_updates() / kCurvePoints);
  while (!training.finished()) {
    const auto point = training.update();
    if (run.progress) run.progress(point, training);
    if (training.updates() % every == 0 || training.finished()) {
      course.curve.push_back(point);
      if (!recipe.medium.empty())
        course.snapshots.push_back(
            training.policy(recipe.medium, "Moves forward, trained to less than half."));
    }
    course.seconds = seconds_before + watch.seconds();
    if (!run.checkpoint.empty() && training.at_checkpoint()) {
      save(course, course_file(run.checkpoint));
      training.save(run.checkpoint);
    }
  }
  return course;
}

std::unique_ptr<Training> begin(const Recipe& recipe, const Environment& environment) {
  if (recipe.sac) return std::make_unique<Sac>(environment, *recipe.sac);
  return std::make_unique<Ppo>(environment, recipe.ppo);
}

/// Mean return around point i, since a single update sees few episodes.
double smoothed(const std::vector<CurvePoint>& curve, std::size_t i) {
  const auto first = i < 2 ? 0 : i - 2, last = std::min(curve.size() - 1, i + 2);
  double sum = 0.0;
  for (auto j = first; j <= last; ++j) sum += curve[j].mean_return;
  return sum / static_cast<double>(last - first + 1);
}

/// The first point at which training had reached the medium policy's share of its last return.
std::size_t medium_point(const std::vector<CurvePoint>& curve) {
  const double wanted = kMediumShare * smoothed(curve, curve.size() - 1);
  for (std::size_t i = 0; i < curve.size(); ++i)
    if (smoothed(curve, i) >= wanted) return i;
  return curve.size() - 1;
}

nlohmann::ordered_json evaluate(const Environment& environment,
                                std::shared_ptr<const NetworkPolicy> policy, const Recipe& recipe) {
  GenerateOptions options;
  options.per_expert = kEvaluated;
  options.seed = recipe.sac ? recipe.sac->seed : recipe.ppo.seed;
  options.workers = recipe.sac ? recipe.sac->workers : recipe.ppo.workers;
  const auto data = rollout(environment, {std::move(policy)}, options);
  const auto returns = episode_returns(data);
  double sum = 0.0, squares = 0.0;
  for (const double value : returns) sum += value, squares += value * value;
  const double n = static_cast<double>(returns.size()), mean = sum / n;
  return {{"episodes", kEvaluated},
          {"mean_return", mean},
          {"deviation", std::sqrt(std::max(0.0, squares / n - mean * mean))},
          {"mean_length", static_cast<double>(data.steps()) / n}};
}

nlohmann::ordered_json describe(const Recipe& recipe, const Environment& environment,
                                const Training& training, const Course& course, std::size_t point,
                                std::shared_ptr<const NetworkPolicy> policy) {
  nlohmann::ordered_json record = {{"environment", recipe.environment},
                                   {"expert", policy->name()},
                                   {"summary", policy->summary()},
                                   {"environment_options", environment.options()},
                                   {training.algorithm(), training.described_options()},
                                   {"trained_steps", course.curve[point].steps},
                                   {"seconds", course.seconds}};
  record["evaluation"] = evaluate(environment, policy, recipe);
  for (const auto& each : course.curve) record["curve"].push_back(to_json(each));
  return record;
}

std::vector<std::string> strong_names(std::string_view environment) {
  std::vector<std::string> names;
  for (const auto& recipe : strong_recipes(environment))
    names.insert(names.end(), {recipe.medium, recipe.expert});
  return names;
}

std::string shipped_policy(const std::string& environment, const std::string& file) {
  const auto shipped = trained_policies();
  const auto found = std::ranges::find(shipped, file, &EmbeddedFile::name);
  if (found == shipped.end())
    throw InvalidArgument(
        "no trained experts of '{0}' come with this program; make them with 'kindred experts "
        "train {0} -o DIR' and use them with --weights DIR",
        environment);
  return std::string(found->bytes);
}

std::string policy_in(const std::filesystem::path& folder, const std::string& environment,
                      const std::string& file) {
  if (!std::filesystem::exists(folder / file))
    throw InvalidArgument(
        "folder '{0}' has no '{1}'; make it with 'kindred experts train {2} -o {0}'",
        folder.string(), file, environment);
  return read_text(folder / file);
}

void check_fit(const NetworkPolicy& policy, const EnvironmentSpec& spec) {
  if (!policy.view().fits(InputView::of(spec)) || policy.action_width() != spec.action_width ||
      policy.is_discrete() != spec.is_discrete())
    throw InvalidArgument(
        "the trained experts of '{0}' were made for other observations than these options give; "
        "train your own with 'kindred experts train {0} … -o DIR' and use them with --weights DIR",
        spec.name);
}

}  // namespace

std::vector<Recipe> recipes(std::string_view environment) {
  if (environment == "extra") return extra();
  if (environment == "path-following") return path_following();
  const PpoOptions run{.lanes = 16, .lane_steps = 256};
  // Hopper falls late in training when statistics forget: its own success narrows what they see.
  if (environment == "hopper")
    return locomotion(environment, 2'900'000,
                      {.lanes = 16, .lane_steps = 256, .target_kl = 0.03, .memory = 1e6});
  if (environment == "halfcheetah") return locomotion(environment, 5'000'000, run);
  if (environment == "walker2d") return locomotion(environment, 1'900'000, run);
  if (environment == "ant")
    return locomotion(environment, 2'400'000, {.lanes = 64, .lane_steps = 64, .minibatch = 512},
                      {});
  return {};
}

std::vector<std::string> trained_names(std::string_view environment) {
  std::vector<std::string> names;
  for (const auto& recipe : recipes(environment)) {
    if (!recipe.medium.empty()) names.push_back(recipe.medium);
    names.push_back(recipe.expert);
  }
  return names;
}

std::vector<Recipe> strong_recipes(std::string_view environment) {
  constexpr std::array<std::string_view, 4> kBodies = {"hopper", "halfcheetah", "walker2d", "ant"};
  if (std::ranges::find(kBodies, environment) == kBodies.end()) return {};
  return {{.environment = std::string(environment),
           .expert = "strong-expert",
           .summary = "Moves forward, fully trained by SAC.",
           .environment_options = nlohmann::json::object(),
           .ppo = {},
           .medium = "strong-medium",
           .sac = SacOptions{}}};
}

std::vector<std::string> pool_names(std::string_view environment) {
  auto names = trained_names(environment);
  for (const auto& recipe : recipes(environment))
    for (const auto seed : recipe.further_seeds)
      for (const auto& stage : {recipe.medium, recipe.expert})
        names.push_back(fmt::format("{}-{}", stage, seed));
  return names;
}

std::vector<std::string> shipped_names(std::string_view environment) {
  auto names = pool_names(environment);
  const auto shipped = trained_policies();
  for (const auto& name : strong_names(environment))
    if (std::ranges::find(shipped, policy_file(environment, name), &EmbeddedFile::name) !=
        shipped.end())
      names.push_back(name);
  return names;
}

std::vector<TrainedExpert> train(const Recipe& recipe, const Environment& environment,
                                 const TrainingRun& run) {
  const auto training = begin(recipe, environment);
  const auto course = follow(*training, recipe, run);
  std::vector<TrainedExpert> result;
  const auto add = [&](std::size_t point, std::shared_ptr<const NetworkPolicy> policy) {
    auto record = describe(recipe, environment, *training, course, point, policy);
    result.push_back({std::move(policy), std::move(record)});
  };
  if (!recipe.medium.empty()) {
    const auto point = medium_point(course.curve);
    add(point, course.snapshots[point]);
  }
  add(course.curve.size() - 1, training->policy(recipe.expert, recipe.summary));
  return result;
}

void remove_checkpoint(const std::filesystem::path& checkpoint) {
  std::filesystem::remove(checkpoint);
  std::filesystem::remove(course_file(checkpoint));
}

std::string policy_file(std::string_view environment, std::string_view expert) {
  return fmt::format("{}-{}.policy", environment, expert);
}

Policies load_experts(const Environment& environment, const std::filesystem::path& folder,
                      std::string_view list) {
  const auto& spec = environment.spec();
  auto known = trained_names(spec.name);
  if (known.empty())
    throw InvalidArgument("the experts of environment '{}' are not trained", spec.name);
  // The others are nobody's experts until they are named, and no folder holds further trainings.
  if (!list.empty() && folder.empty()) {
    known = shipped_names(spec.name);
  } else if (!list.empty()) {
    const auto strong = strong_names(spec.name);
    known.insert(known.end(), strong.begin(), strong.end());
  }
  Policies experts;
  for (const auto& name : select_names(known, list)) {
    const auto file = policy_file(spec.name, name);
    const auto bytes =
        folder.empty() ? shipped_policy(spec.name, file) : policy_in(folder, spec.name, file);
    auto policy = NetworkPolicy::from_bytes(bytes, "policy file '" + file + "'");
    check_fit(*policy, spec);
    experts.push_back(std::move(policy));
  }
  return experts;
}

}  // namespace kindred
