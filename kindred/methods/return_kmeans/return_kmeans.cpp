#include "kindred/methods/return_kmeans/return_kmeans.h"

#include <chrono>

#include "kindred/core/error.h"
#include "kindred/data/returns.h"
#include "kindred/methods/return_kmeans/kmeans_1d.h"

namespace kindred::return_kmeans {
namespace {

std::vector<double> usable_returns(const Trajectories& data) {
  if (data.rewards.empty())
    throw InvalidArgument("return-kmeans needs rewards, and this data has none; try pg-kmeans");
  return finite_returns(data, "return-kmeans cannot place it");
}

/// k mean returns.
class ReturnCentres final : public Centres {
 public:
  explicit ReturnCentres(std::vector<double> means) : means_(std::move(means)) {}

  std::int64_t count() const override { return static_cast<std::int64_t>(means_.size()); }
  Matrix score(const Trajectories& data, const RunContext&) const override {
    const auto returns = usable_returns(data);
    Matrix scores(data.episodes(), count());
    for (std::int64_t i = 0; i < scores.rows; ++i)
      for (std::int64_t c = 0; c < scores.columns; ++c) {
        const double d = returns[static_cast<std::size_t>(i)] - means_[static_cast<std::size_t>(c)];
        scores(i, c) = -d * d;
      }
    return scores;
  }
  bool sums_over_steps() const override { return false; }
  void save(ArrayFileWriter& file) const override { file.write<double>("means", means_); }

 private:
  std::vector<double> means_;
};

}  // namespace

OptionTable Options::describe() {
  return {
      integer("k", k, 1, 10000, "How many groups of returns to find."),
      integer("merge-to", merge_to, 0, 10000,
              "The number of groups wanted in the end: the exact optimum for it replaces k; 0: k."),
  };
}

Options resolve(Options options, const Trajectories& data) {
  if (options.merge_to == 0) options.merge_to = options.k;
  if (options.merge_to > data.episodes())
    throw InvalidArgument("k is {} but there are only {} trajectories; choose a smaller k",
                          options.merge_to, data.episodes());
  usable_returns(data);
  return options;
}

Clustering fit(const Trajectories& data, const Options& requested, const RunContext& run) {
  const auto start = std::chrono::steady_clock::now();
  require_cpu(run, "return-kmeans");
  const Options options = resolve(requested, data);
  auto optimum = kmeans_1d(usable_returns(data), options.merge_to);

  Clustering result;
  result.method = "return-kmeans";
  result.score_meaning = "negative squared distance";
  result.options = to_json(Options(options).describe());
  result.labels = std::move(optimum.labels);
  result.objective = -optimum.cost;
  result.iterations = 1;
  result.converged = true;
  result.centres = std::make_shared<ReturnCentres>(std::move(optimum.centres));
  result.scores = result.centres->score(data, run);
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(result.k()), 0);
  for (const auto label : result.labels) ++sizes[static_cast<std::size_t>(label)];
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.trace = {{0, 1, result.objective, data.episodes(), sizes, result.seconds}};
  result.restarts = {{0, 1, true, result.objective, result.objective, {}, result.labels}};
  return result;
}

std::shared_ptr<const Centres> load_centres(const ArrayFileReader& file) {
  return std::make_shared<ReturnCentres>(file.read_finite<double>("means", {kAnyExtent}).values);
}

}  // namespace kindred::return_kmeans
