#include "kindred/experts/network_policy.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "kindred/core/error.h"

static_assert(std::endian::native == std::endian::little, "policy files are read as they lie");

namespace kindred {
namespace {

constexpr float kLimit = 10.0F;  // of a standardised number: one strange value must not decide
constexpr std::int64_t kAgentPlane = 1;
constexpr const char* kFormat = "kindred-policy-1";

/// Takes numbers off the front of a file.
class Numbers {
 public:
  Numbers(std::string_view bytes, std::string where) : bytes_(bytes), where_(std::move(where)) {}

  std::vector<float> take(std::int64_t count) {
    const auto size = static_cast<std::size_t>(count) * sizeof(float);
    if (count < 0 || bytes_.size() < size)
      throw DataFormatError("{} ends early: {} bytes are left where {} are expected", where_,
                            bytes_.size(), size);
    std::vector<float> values(static_cast<std::size_t>(count));
    std::memcpy(values.data(), bytes_.data(), size);
    bytes_.remove_prefix(size);
    return values;
  }

  void finish() const {
    if (!bytes_.empty())
      throw DataFormatError("{} has {} bytes more than its network", where_, bytes_.size());
  }

 private:
  std::string_view bytes_;
  std::string where_;
};

}  // namespace

InputView InputView::of(const EnvironmentSpec& spec) {
  InputView view;
  if (spec.observation_shape.size() == 3 && !spec.has_states()) {
    view.kind = Kind::kCentred;
    view.size = spec.observation_shape[0];
    view.planes = spec.observation_shape[2];
  } else {
    view.mean.assign(static_cast<std::size_t>(spec.observation_dim()), 0.0F);
    view.scale.assign(static_cast<std::size_t>(spec.observation_dim()), 1.0F);
  }
  return view;
}

std::int64_t InputView::inputs() const {
  if (kind == Kind::kStandardised) return static_cast<std::int64_t>(mean.size());
  const auto window = 2 * (size - 3) + 1;  // free cells are at most size - 3 apart
  return window * window * (planes - 1);
}

void InputView::apply(std::int64_t rows, const float* observations, float* out) const {
  if (kind == Kind::kCentred) {
    for (std::int64_t r = 0; r < rows; ++r)
      apply_centred(observations + r * size * size * planes, out + r * inputs());
    return;
  }
  const auto dim = mean.size();
  for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r)
    for (std::size_t i = 0; i < dim; ++i)
      out[r * dim + i] =
          std::clamp((observations[r * dim + i] - mean[i]) * scale[i], -kLimit, kLimit);
}

void InputView::apply_centred(const float* observation, float* out) const {
  const auto reach = size - 3;
  const auto window = 2 * reach + 1;
  std::fill_n(out, inputs(), 0.0F);
  std::int64_t agent = 0;
  while (agent + 1 < size * size && observation[agent * planes + kAgentPlane] == 0.0F) ++agent;
  const auto first_row = agent / size - reach, first_column = agent % size - reach;

  for (auto row = std::max<std::int64_t>(first_row, 0); row < std::min(size, first_row + window);
       ++row)
    for (auto column = std::max<std::int64_t>(first_column, 0);
         column < std::min(size, first_column + window); ++column) {
      const float* from = observation + (row * size + column) * planes;
      float* to = out + ((row - first_row) * window + column - first_column) * (planes - 1);
      *to++ = from[0];
      std::copy_n(from + kAgentPlane + 1, planes - kAgentPlane - 1, to);
    }
}

void to_distribution(std::int64_t rows, std::span<const float> outputs, std::int64_t stride,
                     std::int64_t actions, std::span<const float> log_deviation,
                     std::span<float> out) {
  const bool discrete = log_deviation.empty();
  const float* from = outputs.data();
  float* to = out.data();
  for (std::int64_t r = 0; r < rows; ++r, from += stride, to += discrete ? actions : 2 * actions) {
    if (!discrete) {
      std::copy_n(from, actions, to);
      std::ranges::transform(log_deviation, to + actions, [](float d) { return std::exp(d); });
      continue;
    }
    const float most = *std::max_element(from, from + actions);
    float sum = 0.0F;
    for (std::int64_t a = 0; a < actions; ++a) sum += to[a] = std::exp(from[a] - most);
    for (std::int64_t a = 0; a < actions; ++a) to[a] /= sum;
  }
}

NetworkPolicy::NetworkPolicy(std::string name, std::string summary, InputView view, Mlp network,
                             std::vector<float> log_deviation)
    : Policy(std::move(name), std::move(summary)),
      view_(std::move(view)),
      network_(std::move(network)),
      log_deviation_(std::move(log_deviation)) {}

void NetworkPolicy::distribution(const Situations& seen, std::span<float> out) const {
  thread_local std::vector<float> inputs;
  thread_local Mlp::Pass pass;
  inputs.resize(static_cast<std::size_t>(seen.count * view_.inputs()));
  view_.apply(seen.count, seen.observations.data(), inputs.data());
  const auto outputs = network_.forward(seen.count, inputs.data(), pass);
  to_distribution(seen.count, outputs, network_.output_stride(), network_.shape().outputs,
                  log_deviation_, out);
}

std::string NetworkPolicy::to_bytes() const {
  const bool centred = view_.kind == InputView::Kind::kCentred;
  nlohmann::ordered_json header = {{"format", kFormat},
                                   {"name", name()},
                                   {"summary", summary()},
                                   {"view", centred ? "centred" : "standardised"}};
  if (centred) {
    header["size"] = view_.size;
    header["planes"] = view_.planes;
  }
  header["inputs"] = view_.inputs();
  header["hidden"] = network_.shape().hidden;
  header["outputs"] = network_.shape().outputs;
  header["actions"] = is_discrete() ? "discrete" : "continuous";
  std::string bytes = header.dump() + "\n";
  const auto put = [&](const std::vector<float>& values) {
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  };
  put(view_.mean);
  put(view_.scale);
  put(log_deviation_);
  put(network_.packed());
  return bytes;
}

std::shared_ptr<const NetworkPolicy> NetworkPolicy::from_bytes(std::string_view bytes,
                                                               const std::string& where) {
  try {
    const auto line = bytes.substr(0, bytes.find('\n'));
    const auto header = nlohmann::json::parse(line);
    if (header.at("format") != kFormat)
      throw DataFormatError("{} has format {}, expected {}", where, header.at("format").dump(),
                            kFormat);
    InputView view;
    MlpShape shape{.inputs = header.at("inputs"),
                   .hidden = header.at("hidden"),
                   .outputs = header.at("outputs")};
    Numbers numbers(bytes.substr(std::min(bytes.size(), line.size() + 1)), where);
    if (header.at("view") == "centred") {
      view.kind = InputView::Kind::kCentred;
      view.size = header.at("size");
      view.planes = header.at("planes");
      shape.sparse = true;
      if (view.inputs() != shape.inputs)
        throw DataFormatError("{}: a picture of {} x {} x {} gives {} inputs, not {}", where,
                              view.size, view.size, view.planes, view.inputs(), shape.inputs);
    } else {
      view.mean = numbers.take(shape.inputs);
      view.scale = numbers.take(shape.inputs);
    }
    auto log_deviation =
        numbers.take(header.at("actions") == "discrete" ? 0 : std::int64_t{header.at("outputs")});
    Mlp network(shape);
    network.unpack(numbers.take(network.packed_size()));
    numbers.finish();
    return std::make_shared<NetworkPolicy>(header.at("name"), header.at("summary"), std::move(view),
                                           std::move(network), std::move(log_deviation));
  } catch (const nlohmann::json::exception&) {
    throw DataFormatError("{} is not a policy file: its first line does not describe a network",
                          where);
  }
}

}  // namespace kindred
