#include "kindred/methods/policy_search/partition_judge.h"

#include <algorithm>

#include "kindred/core/error.h"
#include "kindred/data/select.h"
#include "kindred/methods/policy_search/evidence/table_evidence.h"

namespace kindred::policy_search {
namespace {

constexpr std::int64_t kMostOnPlanes = 10000;  // episodes

bool fit_in_tables(const Trajectories& data) {
  return data.observations.is_interned() && data.actions.is_discrete();
}

SearchOptions judging_options(const Trajectories& data) {
  SearchOptions options;
  options.tables = fit_in_tables(data);
  return options;
}

std::optional<std::vector<std::int64_t>> judged_in_closed_form(const Trajectories& data) {
  try {
    return episodes_to_search(data, judging_options(data));
  } catch (const InvalidArgument&) {
    return std::nullopt;
  }
}

}  // namespace

std::optional<std::vector<std::int64_t>> episodes_to_judge(const Trajectories& data) {
  if (judged_on_planes(data)) return sample_by_id(data.ids, kMostOnPlanes, {});
  return judged_in_closed_form(data);
}

bool too_wide_for_closed_form(const Trajectories& data) {
  constexpr std::int64_t kWide = 100, kStepsForANumber = 50;
  if (fit_in_tables(data) || data.observations.dim() < kWide) return false;
  const auto judged = judged_in_closed_form(data);
  if (!judged) return true;
  std::int64_t steps = 0;
  for (const auto episode : *judged) steps += data.length(episode);
  return steps < kStepsForANumber * (1 + data.observations.dim());
}

bool judged_on_planes(const Trajectories& data) {
  return data.actions.is_discrete() && too_wide_for_closed_form(data) && PlaneView::suits(data);
}

PartitionJudge::PartitionJudge(const Trajectories& data, std::vector<std::int64_t> judged,
                               const Workers& workers)
    : judged_(std::move(judged)),
      part_(select_episodes(data, judged_)),
      workers_(workers),
      options_(judging_options(data)) {
  if (options_.tables) {
    evidence_ = std::make_shared<TableEvidence>(part_, workers_);
    return;
  }
  if (judged_on_planes(data)) {
    planes_ = std::make_unique<PlaneJudge>(part_, workers_);
    return;
  }
  sight_ = Sight::look(View::kRecorded, part_, part_, options_.cosines, workers_);
  sight_.features = sight_.evidence(part_, *sight_.map, options_.ridge, workers_);
  evidence_ = sight_.features;
}

Answer PartitionJudge::judge(std::span<const std::int32_t> labels) const {
  Answer answer;
  for (const auto i : judged_) answer.fit.labels.push_back(labels[static_cast<std::size_t>(i)]);
  answer.fit.labels = consecutive_labels(std::move(answer.fit.labels));
  answer.fit.k = 1 + *std::ranges::max_element(answer.fit.labels);
  answer.held_out = score(answer.fit.labels, answer.fit.k);
  return answer;
}

Answer PartitionJudge::judge_one() const {
  Answer answer;
  answer.fit.labels.assign(judged_.size(), 0);
  answer.fit.k = 1;
  answer.held_out = score(answer.fit.labels, 1);
  return answer;
}

HeldOutScore PartitionJudge::score(std::span<const std::int32_t> labels, std::int64_t k) const {
  return planes_ ? planes_->score(labels, k) : evidence_->score(labels, k);
}

PairedGain PartitionJudge::gain(const Answer& from, const Answer& to) const {
  if (!planes_) return evidence_->gain(from.held_out, to.held_out);
  const auto costs = [](const HeldOutScore& score) {
    auto nats = score.errors;
    for (std::size_t i = 0; i < nats.size(); ++i) nats[i] += score.naming[i];
    return nats;
  };
  return paired_gain(costs(from.held_out), costs(to.held_out), static_cast<double>(part_.steps()));
}

bool PartitionJudge::believes(Answer& answer, double v_of_fewer) {
  if (answer.held_out.v <= v_of_fewer) return false;
  if (planes_) return true;
  if (!conflicts_)
    conflicts_ =
        options_.tables
            ? std::make_unique<PartitionConflicts>(part_, rules_, workers_)
            : std::make_unique<PartitionConflicts>(
                  Background{part_, *sight_.map, part_, sight_.common_policy(options_.ridge)},
                  part_,
                  [&](const Trajectories& half) {
                    return sight_.evidence(half, *sight_.map, options_.ridge, workers_);
                  },
                  rules_, workers_);
  conflicts_->judge(answer);
  return is_partition_of_policies(answer, rules_);
}

HeldOutJudgement PartitionJudge::compare(const Answer& one, const Answer& answer) const {
  const auto better = gain(one, answer);
  return {answer.held_out.v, one.held_out.v, better.mean, better.error, std::ssize(judged_)};
}

std::optional<HeldOutJudgement> judge_partition(const Trajectories& data,
                                                std::span<const std::int32_t> labels,
                                                const Workers& workers) {
  auto judged = episodes_to_judge(data);
  if (!judged) return std::nullopt;
  const PartitionJudge judge(data, std::move(*judged), workers);
  return judge.compare(judge.judge_one(), judge.judge(labels));
}

}  // namespace kindred::policy_search
