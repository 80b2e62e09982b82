// Where the trajectories of each cluster go in a gridworld, and what they do there.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "kindred/findings/behaviour.h"
#include "kindred/findings/grid_stage.h"
#include "kindred/render/render.h"

namespace kindred::findings {
namespace {

constexpr std::size_t kMostContexts = 12;
constexpr std::int64_t kMostSteps = 400'000;  // decoded where observations are not interned

using Objects = std::vector<GridObject>;

bool before(const GridObject& a, const GridObject& b) {
  return std::tuple(a.number, a.cell.row, a.cell.column) <
         std::tuple(b.number, b.cell.row, b.cell.column);
}
struct Fewer {
  bool operator()(const Objects& a, const Objects& b) const {
    return std::ranges::lexicographical_compare(a, b, before);
  }
};

/// Counts of one cluster in one context.
struct Counts {
  std::vector<std::int64_t> visits;   // [cells]
  std::vector<std::int64_t> actions;  // [cells, actions]
};

class GridBehaviour final : public Behaviour {
 public:
  explicit GridBehaviour(const RunData& found)
      : found_(found), stage_(found.data), actions_(found.data.actions.count()) {}

  std::int64_t step_numbers() const override { return 8; }

  Json clusters() const override {
    auto json = stage_.setting();
    json["contexts"] = contexts(stage_.side());
    return json;
  }

  void add_steps(std::int64_t episode, const std::vector<std::int64_t>& steps,
                 Json& trajectory) const override {
    stage_.add_steps(episode, steps, trajectory);
  }

 private:
  std::optional<int> place(const GridScene& now, int side) const {
    if (stage_.is_fixed()) return GridStage::number(now.agent, side);
    if (!now.goal) return std::nullopt;
    return GridStage::number({now.agent.row - now.goal->row + now.size - 1,
                              now.agent.column - now.goal->column + now.size - 1},
                             side);
  }

  /// One in how many episodes is looked at: decoding every observation takes long.
  std::int64_t episode_stride() const {
    return stage_.scenes().empty() ? std::max<std::int64_t>(1, found_.data.steps() / kMostSteps)
                                   : 1;
  }

  /// The sets of objects that lie there at some time; only one, without objects, where there are
  /// too many (objects that move from episode to episode).
  std::vector<Objects> object_sets() const {
    std::set<Objects, Fewer> sets;
    for (const auto& now : stage_.scenes()) sets.insert(now.objects);
    if (sets.empty() || sets.size() > kMostContexts) return {Objects{}};
    return {sets.begin(), sets.end()};
  }

  std::string context_name(const Objects& objects, std::size_t most, std::size_t contexts) const {
    const auto name = object_in(stage_.environment());
    if (contexts == 1) return "all steps";
    if (objects.size() == most) return fmt::format("every {} still there", name);
    if (objects.empty()) return fmt::format("no {} left", name);
    std::vector<int> numbers;
    for (const auto& object : objects) numbers.push_back(object.number);
    return fmt::format("only {} {} left", name, fmt::join(numbers, ", "));
  }

  Json contexts(int side) const {
    const auto sets = object_sets();
    const auto cells = static_cast<std::size_t>(std::int64_t{side} * side);
    const auto k = static_cast<std::size_t>(found_.k());
    std::vector<std::vector<Counts>> counts(
        sets.size(), std::vector<Counts>(k, {std::vector<std::int64_t>(cells, 0),
                                             std::vector<std::int64_t>(
                                                 cells * static_cast<std::size_t>(actions_), 0)}));
    count_steps(sets, side, counts);

    std::size_t most = 0;
    for (const auto& set : sets) most = std::max(most, set.size());
    std::vector<std::pair<std::int64_t, Json>> list;  // with the steps of each
    std::int64_t all = 0;
    for (std::size_t i = 0; i < sets.size(); ++i) {
      std::int64_t steps = 0;
      auto clusters = Json::array();
      for (const auto& cluster : counts[i]) {
        for (const auto visits : cluster.visits) steps += visits;
        clusters.push_back({{"visits", cluster.visits}, {"actions", cluster.actions}});
      }
      all += steps;
      auto objects = Json::array();
      for (const auto& object : sets[i])
        objects.push_back({object.number, GridStage::number(object.cell, side)});
      list.push_back({steps,
                      {{"name", context_name(sets[i], most, sets.size())},
                       {"objects", objects},
                       {"share", 0.0},
                       {"clusters", clusters}}});
    }
    std::ranges::stable_sort(list, std::greater{}, [](const auto& entry) { return entry.first; });
    auto result = Json::array();
    for (auto& [steps, context] : list) {
      context["share"] = brief(static_cast<double>(steps) / static_cast<double>(all));
      result.push_back(std::move(context));
    }
    return result;
  }

  void count_steps(const std::vector<Objects>& sets, int side,
                   std::vector<std::vector<Counts>>& counts) const {
    const auto set_of = [&](const Objects& objects) {
      return sets.size() == 1
                 ? 0
                 : static_cast<std::size_t>(std::ranges::lower_bound(sets, objects, Fewer{}) -
                                            sets.begin());
    };
    struct Known {
      std::size_t set;
      std::optional<int> place;
    };
    std::vector<Known> known;  // of interned observations
    for (const auto& now : stage_.scenes())
      known.push_back({set_of(now.objects), place(now, side)});

    const auto& data = found_.data;
    for (std::int64_t episode = 0; episode < data.episodes(); episode += episode_stride())
      for (auto step = data.offsets[episode]; step < data.offsets[episode + 1]; ++step) {
        const auto [set, at] =
            known.empty() ? Known{0, place(stage_.scene(step), side)}
                          : known[static_cast<std::size_t>(data.observations.index()[step])];
        if (!at) continue;
        auto& cluster = counts[set][static_cast<std::size_t>(found_.label(episode))];
        const auto cell = static_cast<std::size_t>(*at);
        ++cluster.visits[cell];
        ++cluster.actions[cell * static_cast<std::size_t>(actions_) +
                          static_cast<std::size_t>(data.actions.ints()[step])];
      }
  }

  const RunData& found_;
  GridStage stage_;
  std::int64_t actions_;
};

}  // namespace

std::unique_ptr<Behaviour> make_grid_behaviour(const RunData& found) {
  return std::make_unique<GridBehaviour>(found);
}

}  // namespace kindred::findings
