#include "kindred/cuda/gpu_policies.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kindred/cuda/cuda_internal.h"
#include "kindred/cuda/policy_image.h"

namespace kindred::cuda {
namespace {

/// Half of what is free, so that LibTorch finds room too.
std::size_t room() {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total));
  return free / 2;
}

class Kernels final : public GpuPolicies {
 public:
  Kernels(const PolicyArchitecture& architecture, const Shape& shape, const GpuSteps& steps,
          std::span<const std::int64_t> offsets)
      : shape_(shape),
        count_(steps.count),
        episodes_(std::ssize(offsets) - 1),
        steps_(bytes_of(shape, steps.count)) {
    write_steps(shape_, count_, steps.inputs, steps.row_of_step, steps.actions, steps_.get());
    offsets_.take(offsets.data(), offsets.size());
    const auto places = image_places(architecture, shape);
    places_.take(places.data(), places.size());
  }

  static std::size_t bytes_of(const Shape& shape, std::int64_t steps) {
    return static_cast<std::size_t>(steps) *
           static_cast<std::size_t>(StepLayout(shape.input_tiles, shape.outputs).bytes());
  }

  std::vector<TrainEnd> train(PolicyStack& policies, std::span<const Lesson> lessons,
                              const TrainSettings& settings) override {
    std::vector<Stretch> stretches;
    std::vector<Trainee> trainees;
    std::int64_t listed = 0;
    for (const auto& lesson : lessons) {
      const auto begin = listed;
      for (const auto& part : lesson.parts) {
        stretches.push_back({static_cast<std::int32_t>(part.begin),
                             static_cast<std::int32_t>(part.length), listed});
        listed += part.length;
      }
      trainees.push_back({begin, static_cast<std::uint32_t>(listed - begin), lesson.stream});
    }
    stretches_.take(stretches.data(), stretches.size());
    trainees_.take(trainees.data(), trainees.size());
    pool_.grow(static_cast<std::size_t>(listed));
    write_pool(stretches_.get(), static_cast<int>(stretches.size()), pool_.get());

    upload(policies);
    first_averages_.zero(images_size(policies));
    second_averages_.zero(images_size(policies));
    ends_.grow(lessons.size());
    train_policies(shape_, {.steps = steps_.get(),
                            .pool = pool_.get(),
                            .trainees = trainees_.get(),
                            .images = images_.get(),
                            .first_averages = first_averages_.get(),
                            .second_averages = second_averages_.get(),
                            .ends = ends_.get(),
                            .policies = static_cast<int>(policies.size()),
                            .settings = settings});
    std::vector<TrainEnd> ends(lessons.size());
    ends_.give(ends.data(), ends.size());
    download(policies);
    return ends;
  }

  std::optional<std::vector<double>> score(const PolicyStack& policies,
                                           const StepBound& bound) override {
    upload(policies);
    const auto in_all = policies.size();
    // As many policies at a time as have room for what they say of every step.
    const auto at_once = std::clamp<std::int64_t>(
        static_cast<std::int64_t>(std::max(room(), log_probs_.bytes()) / sizeof(float)) / count_, 1,
        in_all);
    log_probs_.grow(static_cast<std::size_t>(at_once * count_));
    sums_.grow(static_cast<std::size_t>(at_once * episodes_));
    std::vector<double> result(static_cast<std::size_t>(in_all * episodes_));
    for (std::int64_t begin = 0; begin < in_all; begin += at_once) {
      const auto some = std::min(at_once, in_all - begin);
      score_steps(shape_,
                  {.steps = steps_.get(),
                   .images = images_.get() + image_size(shape_) * static_cast<std::size_t>(begin),
                   .log_probs = log_probs_.get(),
                   .count = count_,
                   .policies = static_cast<int>(some)});
      sum_episodes({.log_probs = log_probs_.get(),
                    .common = bound.common,
                    .offsets = offsets_.get(),
                    .sums = sums_.get(),
                    .count = count_,
                    .episodes = episodes_,
                    .policies = static_cast<int>(some),
                    .own_share = static_cast<float>(std::log1p(-bound.common_share)),
                    .common_share = static_cast<float>(std::log(bound.common_share)),
                    .floor = static_cast<float>(bound.floor)});
      std::vector<double> sums(static_cast<std::size_t>(some * episodes_));
      sums_.give(sums.data(), sums.size());
      for (std::int64_t e = 0; e < episodes_; ++e)
        std::copy_n(sums.begin() + e * some, some, result.begin() + e * in_all + begin);
    }
    const bool numbers = std::ranges::all_of(result, [](double x) { return std::isfinite(x); });
    return numbers ? std::optional(std::move(result)) : std::nullopt;
  }

 private:
  std::size_t images_size(const PolicyStack& policies) const {
    return static_cast<std::size_t>(policies.size()) * image_size(shape_);
  }

  /// Calls `move(numbers on the GPU, places, how many per policy)` parameter after parameter.
  template <class Move>
  void for_each_parameter(const PolicyStack& policies, const Move& move) {
    float* numbers = numbers_.get();
    const std::int32_t* places = places_.get();
    for (const auto& parameter : policies.parameters()) {
      move(numbers, places, static_cast<int>(parameter.count()));
      numbers += parameter.values.size();
      places += parameter.count();
    }
  }

  static std::size_t size_of(const PolicyStack& policies) {
    std::size_t size = 0;
    for (const auto& parameter : policies.parameters()) size += parameter.values.size();
    return size;
  }

  /// All policies into images_.
  void upload(const PolicyStack& policies) {
    const auto numbers = staging_.room_for(size_of(policies));
    auto next = numbers.begin();
    for (const auto& parameter : policies.parameters())
      next = std::ranges::copy(parameter.values, next).out;
    numbers_.take(numbers.data(), numbers.size());
    images_.zero(images_size(policies));
    for_each_parameter(policies, [&](float* from, const std::int32_t* places, int count) {
      write_images(from, places, count, static_cast<int>(policies.size()),
                   static_cast<int>(image_size(shape_)), images_.get());
    });
  }

  /// And back.
  void download(PolicyStack& policies) {
    for_each_parameter(policies, [&](float* to, const std::int32_t* places, int count) {
      read_images(images_.get(), places, count, static_cast<int>(policies.size()),
                  static_cast<int>(image_size(shape_)), to);
    });
    const auto numbers = staging_.room_for(size_of(policies));
    numbers_.give(numbers.data(), numbers.size());
    auto next = numbers.begin();
    for (auto& parameter : policies.parameters()) {
      std::copy_n(next, parameter.values.size(), parameter.values.begin());
      next += std::ssize(parameter.values);
    }
  }

  Shape shape_;
  std::int64_t count_, episodes_;
  DeviceArray<unsigned char> steps_;
  DeviceArray<std::int64_t> offsets_;
  DeviceArray<Stretch> stretches_;
  DeviceArray<Trainee> trainees_;
  DeviceArray<std::int32_t> pool_;
  DeviceArray<std::int32_t> places_;  // of a policy's numbers in its image
  DeviceArray<float> numbers_;        // of all policies, parameter after parameter
  DeviceArray<float> images_, first_averages_, second_averages_, log_probs_;
  DeviceArray<TrainEnd> ends_;
  DeviceArray<double> sums_;
  Staging staging_;  // numbers_, on their way
};

}  // namespace

std::unique_ptr<GpuPolicies> make_gpu_policies(const PolicyArchitecture& architecture,
                                               const GpuSteps& steps,
                                               std::span<const std::int64_t> offsets) {
  const auto shape = padded_shape(architecture);
  if (!shape || steps.count == 0 || steps.count > std::numeric_limits<std::int32_t>::max() ||
      !gpu_runs_kernels() || Kernels::bytes_of(*shape, steps.count) > room())
    return nullptr;
  return std::make_unique<Kernels>(architecture, *shape, steps, offsets);
}

}  // namespace kindred::cuda
