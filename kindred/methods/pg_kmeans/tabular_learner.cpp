// Exact policies: the action frequencies of each cluster in each observation. The M-step is the
// true maximum of the objective, so the paper's convergence theorem holds to the letter.
#include <cmath>
#include <limits>

#include "kindred/core/error.h"
#include "kindred/methods/pg_kmeans/learners.h"
#include "kindred/policies/centres.h"
#include "kindred/policies/step_counts.h"

namespace kindred::pg_kmeans {
namespace {

class TabularLearner final : public PolicyLearner {
 public:
  TabularLearner(const Trajectories& data, const Options& options, const RunContext& run)
      : data_(data), options_(options), codes_(data, run) {
    const double uniform = -std::log(static_cast<double>(codes_.actions()));
    log_probs_.assign(static_cast<std::size_t>(options.restarts * options.k * codes_.codes()),
                      uniform);
  }

  void fit(std::span<const std::int64_t> slots, const LabelsOfRestart& labels,
           std::int64_t) override {
    const auto counts = codes_.count(slots, options_.k, labels);
    const double* count = counts.data();
    for (const auto slot : slots)
      for (std::int64_t row = 0; row < codes_.distinct(); ++row, count += codes_.actions())
        set_frequencies(count, table(slot) + row * codes_.actions());
  }

  Matrix score(std::span<const std::int64_t> slots) const override {
    return codes_.sum_over_steps(transposed(slots), static_cast<std::int64_t>(slots.size()));
  }

  void reinitialise(std::int64_t, std::int64_t) override {}  // the next fit starts from nothing

  std::shared_ptr<const Centres> centres(std::span<const std::int64_t> slots) const override {
    return std::make_shared<TabularCentres>(data_.observations.table(), data_.observations.dim(),
                                            codes_.actions(), transposed(slots),
                                            static_cast<std::int64_t>(slots.size()));
  }

  void save(ArrayFileWriter& file) const override {
    file.write<double>("learner/log_probs", log_probs_);
  }
  void load(const ArrayFileReader& file) override {
    auto stored = file.read<double>("learner/log_probs").values;
    if (stored.size() != log_probs_.size())
      throw DataFormatError("the stored tables have {} numbers, expected {}", stored.size(),
                            log_probs_.size());
    log_probs_ = std::move(stored);
  }

 private:
  double* table(std::int64_t slot) { return log_probs_.data() + slot * codes_.codes(); }

  void set_frequencies(const double* count, double* log_prob) const {
    const auto actions = codes_.actions();
    double total = 0.0;
    for (std::int64_t a = 0; a < actions; ++a) total += count[a];
    // A cluster that never saw an observation has no opinion on it.
    const double smoothing = total > 0.0 ? options_.smoothing : 1.0;
    total += smoothing * static_cast<double>(actions);
    for (std::int64_t a = 0; a < actions; ++a)
      log_prob[a] = std::log((count[a] + smoothing) / total);
  }

  /// [codes, slots], floored.
  std::vector<double> transposed(std::span<const std::int64_t> slots) const {
    const auto n = static_cast<std::int64_t>(slots.size());
    std::vector<double> result(static_cast<std::size_t>(codes_.codes() * n));
    for (std::int64_t s = 0; s < n; ++s) {
      const double* from = log_probs_.data() + slots[static_cast<std::size_t>(s)] * codes_.codes();
      for (std::int64_t code = 0; code < codes_.codes(); ++code)
        result[static_cast<std::size_t>(code * n + s)] =
            std::max(from[code], options_.log_prob_floor);
    }
    return result;
  }

  const Trajectories& data_;
  Options options_;
  StepCodes codes_;
  std::vector<double> log_probs_;  // [restarts × k, codes]
};

}  // namespace

std::unique_ptr<PolicyLearner> make_tabular_learner(const Trajectories& data,
                                                    const Options& options, const RunContext& run) {
  return std::make_unique<TabularLearner>(data, options, run);
}

}  // namespace kindred::pg_kmeans
