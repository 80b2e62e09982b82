#include "kindred/nn/autoencoder.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include <numeric>
#include <vector>

#include "kindred/latent/batches.h"
#include "kindred/latent/dataset_autoencoder.h"
#include "kindred/latent/encoder.h"
#include "kindred/latent/model.h"
#include "kindred/nn/latent_losses.h"
#include "kindred/nn/tensor_adam.h"
#include "kindred/nn/torch_threads.h"
#include "rows.h"

namespace bench {
namespace {

using namespace kindred;

const AutoencoderArchitecture kArchitecture{
    .inputs = kInputs, .discrete = false, .actions = kActions};

Trajectories make_data(const Sequences& sequences) {
  Trajectories data;
  std::vector<std::int64_t> offsets{0};
  for (std::int64_t e = 0; e < sequences.count; ++e) {
    offsets.push_back(offsets.back() + sequences.length(e));
    data.ids.push_back(std::to_string(e));
  }
  const auto steps = static_cast<std::size_t>(offsets.back());
  std::vector<float> observations(steps * kInputs), actions(steps * kActions);
  for (std::int64_t e = 0; e < sequences.count; ++e)
    for (auto t = offsets[static_cast<std::size_t>(e)];
         t < offsets[static_cast<std::size_t>(e) + 1]; ++t)
      make_step(t, e % sequences.k, observations.data() + t * kInputs,
                actions.data() + t * kActions);
  data.offsets = std::move(offsets);
  data.observations = Observations::dense(std::move(observations), kInputs);
  data.actions = Actions::continuous(std::move(actions), kActions);
  return data;
}

/// The data, the first parameters and the engine that CAAE trains on the CPU.
struct Task {
  explicit Task(const Settings& settings)
      : sequences(settings.sequences),
        workers(settings.threads),
        data(make_data(sequences)),
        inputs(NetworkInputs::from(data.observations, /*standardize=*/false)),
        source(data, inputs, kActions),
        part_size(settings.device == "cpu" ? latent::kPartSize : sequences.batch),
        engine(settings.device == "cpu" ? make_cpu_autoencoder(kArchitecture, workers)
                                        : make_torch_autoencoder(kArchitecture)) {
    const AutoencoderLayout layout(kArchitecture);
    InitialParameters initial;
    checksum.add(data.observations.floats().span());
    checksum.add(data.actions.floats().span());
    std::vector<at::Tensor> parts;
    const auto next = [&](std::int64_t rows, std::int64_t columns, std::int64_t fan_in) {
      const auto values = initial.next(rows * columns, fan_in);
      checksum.add(values);
      return at::tensor(values);
    };
    for (const auto* block : layout.blocks())
      parts.push_back(next(block->rows, block->columns, block->fan_in));
    parameters = at::cat(parts);
    centroids = next(sequences.k, kArchitecture.features(), 1)
                    .view({sequences.k, kArchitecture.features()})
                    .to(at::Device(settings.device));
  }

  /// The trajectories of an update.
  std::vector<std::int64_t> episodes(std::int64_t update) const {
    const auto rounds = sequences.count / sequences.batch;
    std::vector<std::int64_t> result(static_cast<std::size_t>(sequences.batch));
    std::iota(result.begin(), result.end(), update % rounds * sequences.batch);
    return result;
  }
  void fill(std::int64_t update, latent::MiniBatch& batch) const {
    source.fill(episodes(update), part_size, workers, batch);
  }

  Line about(const char* row) const {
    std::int64_t steps = 0;
    for (std::int64_t i = 0; i < sequences.updates; ++i) {
      latent::MiniBatch batch;
      fill(i, batch);
      steps += batch.steps();
    }
    return {{"row", row},
            {"shape", std::to_string(sequences.batch) + "x" + std::to_string(sequences.longest)},
            {"who", "Kindred"},
            {"data", checksum.text()},
            {"work", steps},
            {"unit", "steps"}};
  }

  Sequences sequences;
  Workers workers;
  Trajectories data;
  NetworkInputs inputs;
  latent::StepSource source;
  std::int64_t part_size;
  std::unique_ptr<AutoencoderEngine> engine;
  Checksum checksum;
  at::Tensor parameters, centroids;
};

}  // namespace

void time_encoder(const Settings& settings) {
  const TorchOnOneThread one_thread;
  const Task task(settings);
  std::vector<latent::MiniBatch> batches(static_cast<std::size_t>(task.sequences.updates));
  for (std::size_t i = 0; i < batches.size(); ++i)
    task.fill(static_cast<std::int64_t>(i), batches[i]);
  const auto parameters = task.parameters.clone().set_requires_grad(true);
  settings.turns.take(task.about("encoder"), [&] {
    double norm = 0.0;
    auto line = timed([&] {
      at::Tensor gradient;
      for (const auto& batch : batches) {
        const auto loss = task.engine->encode(parameters, batch.parts).square().mean();
        gradient = torch::autograd::grad({loss}, {parameters})[0];
      }
      norm = gradient.norm().item<double>();  // waits for the device
    });
    line["before"] = 0.0;
    line["after"] = norm;
    return line;
  });
}

void time_caae(const Settings& settings) {
  const TorchOnOneThread one_thread;
  const Task task(settings);
  RunContext run;
  static_cast<Workers&>(run) = task.workers;
  run.device = settings.device;
  const auto autoencoder = latent::make_dataset_autoencoder(task.data, task.inputs, kArchitecture,
                                                            task.sequences.batch, run);
  const auto loss_of = [&](const at::Tensor& flat, const at::Tensor& centres) {
    const auto z = autoencoder->encode(flat);
    const auto attraction = std::get<0>(squared_distances(z, centres).min(1)).mean();
    return -autoencoder->log_likelihood(flat, z).mean() + attraction - codebook_spread(centres);
  };
  const auto start = task.parameters.to(at::Device(settings.device));
  autoencoder->select(task.episodes(task.sequences.updates - 1));
  const double before = loss_of(start, task.centroids).item<double>();
  settings.turns.take(task.about("caae"), [&] {
    const auto flat = start.clone(), centres = task.centroids.clone();
    TensorAdam adam({flat, centres});
    adam.use(autoencoder->adam());
    double last = 0.0;
    auto line = timed([&] {
      at::Tensor loss;
      for (std::int64_t i = 0; i < task.sequences.updates; ++i) {
        autoencoder->select(task.episodes(i));
        if (const auto found =
                autoencoder->gradient(flat, {.codes = centres, .alpha = 1.0, .lambda = 1.0})) {
          loss = found->loss;
          adam.set_gradient(found->gradient);
        } else {
          loss = loss_of(flat, centres);
          adam.differentiate(loss);
        }
        adam.update({});
      }
      last = loss.item<double>();  // waits for the device
    });
    line["before"] = before;
    line["after"] = last;
    return line;
  });
}

}  // namespace bench
