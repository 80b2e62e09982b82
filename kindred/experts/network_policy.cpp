#include "kindred/experts/network_policy.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>

#include "kindred/core/error.h"

static_assert(std::endian::native == std::endian::little, "policy files are read as they lie");

namespace kindred {
namespace {

constexpr std::int64_t kAgentPlane = 1;
constexpr const char* kFormat = "kindred-policy-1";
constexpr std::int64_t kBlock = 256;                        // rows of a batch computed at a time
constexpr std::int64_t kMostUnits = std::int64_t{1} << 20;  // of a layer in a file
constexpr std::size_t kMostLayers = 16;
constexpr float kLeastSquashed = 1e-3F;  // deviation: far above the rounding of recorded actions
const std::vector<std::string> kViews = {"standardised", "centred"};
const std::vector<std::string> kActions = {"discrete", "continuous", "squashed"};
const std::vector<std::string> kActivations = {"relu", "tanh"};

/// The first line of a file: what its network looks like.
class Header {
 public:
  Header(std::string_view line, std::string where)
      : json_(nlohmann::json::parse(line)), where_(std::move(where)) {
    if (json_.at("format") != kFormat)
      throw DataFormatError("{} has format {}, expected \"{}\"", where_, json_.at("format").dump(),
                            kFormat);
  }

  std::string text(const char* key) const { return json_.at(key); }
  std::int64_t count(const char* key) const { return count_in(json_.at(key), key); }

  float positive(const char* key) const {
    const auto& value = json_.at(key);
    if (!value.is_number() || !(value > 0.0) || !(value < 1e30))
      throw DataFormatError("{} has '{}' {}, expected a positive number", where_, key,
                            value.dump());
    return value;
  }

  std::vector<std::int64_t> counts(const char* key) const {
    const auto& list = json_.at(key);
    if (!list.is_array() || list.empty() || list.size() > kMostLayers)
      throw DataFormatError("{} has '{}' {}, expected a list of 1 to {} numbers", where_, key,
                            list.dump(), kMostLayers);
    std::vector<std::int64_t> values;
    for (const auto& value : list) values.push_back(count_in(value, key));
    return values;
  }

  /// Which of the words it can be `key` is.
  std::size_t which(const char* key, const std::vector<std::string>& words) const {
    const auto& found = json_.at(key);
    const auto at =
        std::ranges::find_if(words, [&](const std::string& word) { return found == word; });
    if (at == words.end())
      throw DataFormatError("{} has '{}' {}, expected one of {}", where_, key, found.dump(),
                            nlohmann::json(words).dump());
    return static_cast<std::size_t>(at - words.begin());
  }

  /// What older files do not say.
  bool says(const char* key) const { return json_.contains(key); }

 private:
  std::int64_t count_in(const nlohmann::json& value, const char* key) const {
    if (!value.is_number_unsigned() || value < 1 || value > kMostUnits)
      throw DataFormatError("{} has '{}' {}, expected whole numbers from 1 to {}", where_, key,
                            value.dump(), kMostUnits);
    return value;
  }

  nlohmann::json json_;
  std::string where_;
};

/// Takes numbers off the front of a file.
class Numbers {
 public:
  Numbers(std::string_view bytes, std::string where) : bytes_(bytes), where_(std::move(where)) {}

  std::vector<float> take(std::int64_t count) {
    const auto size = static_cast<std::size_t>(count) * sizeof(float);
    if (bytes_.size() < size)
      throw DataFormatError("{} ends early: {} bytes are left where {} are expected", where_,
                            bytes_.size(), size);
    std::vector<float> values(static_cast<std::size_t>(count));
    std::copy_n(bytes_.data(), size, reinterpret_cast<char*>(values.data()));
    bytes_.remove_prefix(size);
    if (!std::ranges::all_of(values, [](float value) { return std::isfinite(value); }))
      throw DataFormatError("{} holds a number that is not finite", where_);
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
  return window() * window() * (planes - 1);
}

std::int64_t InputView::observed() const {
  return kind == Kind::kStandardised ? static_cast<std::int64_t>(mean.size())
                                     : size * size * planes;
}

bool InputView::fits(const InputView& other) const {
  return kind == other.kind && mean.size() == other.mean.size() && size == other.size &&
         planes == other.planes;
}

void InputView::apply(std::int64_t rows, const float* observations, float* out) const {
  if (kind == Kind::kCentred) {
    for (std::int64_t r = 0; r < rows; ++r)
      apply_centred(observations + r * observed(), out + r * inputs());
    return;
  }
  const auto dim = mean.size();
  for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r)
    for (std::size_t i = 0; i < dim; ++i)
      out[r * dim + i] =
          std::clamp((observations[r * dim + i] - mean[i]) * scale[i], -limit, limit);
}

void InputView::apply_centred(const float* observation, float* out) const {
  std::fill_n(out, inputs(), 0.0F);
  std::int64_t agent = 0;
  while (agent + 1 < size * size && observation[agent * planes + kAgentPlane] == 0.0F) ++agent;
  const auto first_row = agent / size - reach(), first_column = agent % size - reach();

  for (auto row = std::max<std::int64_t>(first_row, 0); row < std::min(size, first_row + window());
       ++row)
    for (auto column = std::max<std::int64_t>(first_column, 0);
         column < std::min(size, first_column + window()); ++column) {
      const float* from = observation + (row * size + column) * planes;
      float* to = out + ((row - first_row) * window() + column - first_column) * (planes - 1);
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

float squashed_log_deviation(float output) { return -1.5F + 3.5F * std::tanh(output); }

void to_squashed_distribution(std::int64_t rows, std::span<const float> outputs,
                              std::int64_t stride, std::int64_t actions, std::span<float> out) {
  const float* from = outputs.data();
  float* to = out.data();
  for (std::int64_t r = 0; r < rows; ++r, from += stride, to += 2 * actions)
    for (std::int64_t a = 0; a < actions; ++a) {
      const float deviation = std::exp(squashed_log_deviation(from[actions + a]));
      const float above = std::tanh(from[a] + deviation), below = std::tanh(from[a] - deviation);
      to[a] = 0.5F * (above + below);
      to[actions + a] = std::max(0.5F * (above - below), kLeastSquashed);
    }
}

NetworkPolicy::NetworkPolicy(std::string name, std::string summary, InputView view, Mlp network,
                             std::vector<float> log_deviation)
    : Policy(std::move(name), std::move(summary)),
      view_(std::move(view)),
      network_(std::move(network)),
      log_deviation_(std::move(log_deviation)),
      actions_(log_deviation_.empty() ? Actions::kDiscrete : Actions::kContinuous) {}

NetworkPolicy::NetworkPolicy(std::string name, std::string summary, InputView view, Mlp network)
    : Policy(std::move(name), std::move(summary)),
      view_(std::move(view)),
      network_(std::move(network)),
      actions_(Actions::kSquashed) {
  if (network_.shape().outputs % 2 != 0)
    throw InvalidArgument("{} outputs are not two for every number of an action",
                          network_.shape().outputs);
}

std::int64_t NetworkPolicy::action_width() const {
  return network_.shape().outputs / (actions_ == Actions::kSquashed ? 2 : 1);
}

void NetworkPolicy::distribution(const Situations& seen, std::span<float> out) const {
  thread_local std::vector<float> inputs;
  thread_local Mlp::Pass pass;
  inputs.resize(static_cast<std::size_t>(std::min(kBlock, seen.count) * view_.inputs()));
  const auto actions = action_width(), width = is_discrete() ? actions : 2 * actions;
  for (std::int64_t done = 0; done < seen.count; done += kBlock) {
    const auto rows = std::min(kBlock, seen.count - done);
    view_.apply(rows, seen.observations.data() + done * view_.observed(), inputs.data());
    const auto outputs = network_.forward(rows, inputs.data(), pass);
    const auto block = out.subspan(static_cast<std::size_t>(done * width));
    if (actions_ == Actions::kSquashed)
      to_squashed_distribution(rows, outputs, network_.output_stride(), actions, block);
    else
      to_distribution(rows, outputs, network_.output_stride(), actions, log_deviation_, block);
  }
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
  header["actions"] = kActions[static_cast<std::size_t>(actions_)];
  // Said only where they are not what they always were: files stay as they are.
  if (view_.limit != InputView().limit) header["limit"] = view_.limit;
  if (network_.shape().activation != MlpShape().activation)
    header["activation"] = kActivations[static_cast<std::size_t>(network_.shape().activation)];
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
    const Header header(line, where);
    Numbers numbers(bytes.substr(std::min(bytes.size(), line.size() + 1)), where);
    MlpShape shape{.inputs = header.count("inputs"),
                   .hidden = header.counts("hidden"),
                   .outputs = header.count("outputs"),
                   .sparse = header.which("view", kViews) == 1};
    if (header.says("activation"))
      shape.activation = static_cast<Activation>(header.which("activation", kActivations));
    InputView view;
    if (shape.sparse) {
      view.kind = InputView::Kind::kCentred;
      view.size = header.count("size");
      view.planes = header.count("planes");
      if (view.size < 3 || view.inputs() != shape.inputs)
        throw DataFormatError("{}: a picture of {} x {} x {} gives {} inputs, not {}", where,
                              view.size, view.size, view.planes, view.inputs(), shape.inputs);
    } else {
      view.mean = numbers.take(shape.inputs);
      view.scale = numbers.take(shape.inputs);
      if (header.says("limit")) view.limit = header.positive("limit");
    }
    const auto actions = static_cast<Actions>(header.which("actions", kActions));
    auto log_deviation = numbers.take(actions == Actions::kContinuous ? shape.outputs : 0);
    // Taken first: a network that the file cannot fill is never made.
    const auto parameters = numbers.take(shape.parameters());
    numbers.finish();
    Mlp network(shape);
    network.unpack(parameters);
    if (actions == Actions::kSquashed)
      return std::make_shared<NetworkPolicy>(header.text("name"), header.text("summary"),
                                             std::move(view), std::move(network));
    return std::make_shared<NetworkPolicy>(header.text("name"), header.text("summary"),
                                           std::move(view), std::move(network),
                                           std::move(log_deviation));
  } catch (const InvalidArgument& error) {
    throw DataFormatError("{} describes an impossible network: {}", where, error.what());
  } catch (const nlohmann::json::exception&) {
    throw DataFormatError("{} is not a policy file: its first line does not describe a network",
                          where);
  }
}

}  // namespace kindred
