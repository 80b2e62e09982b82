#include "kindred/data/hdf5_labels.h"

#include <algorithm>
#include <optional>

#include "kindred/core/error.h"
#include "kindred/data/hdf5_copy.h"
#include "kindred/data/hdf5_steps.h"

namespace kindred::hdf5 {
namespace {

/// The one item that an array repeats; nothing when it holds several.
std::optional<std::string> repeated_item(const FoundLabels& found) {
  const auto same = [](const auto& items) {
    return std::ranges::adjacent_find(items, std::not_equal_to<>()) == items.end();
  };
  if (found.size() == 0 || !same(found.numbers) || !same(found.texts)) return std::nullopt;
  return found.texts.empty() ? std::to_string(found.numbers[0]) : found.texts[0];
}

/// The label of one group; empty when it has none.
std::string label_of(const InputFile& file, const std::string& group, const std::string& key) {
  if (const auto number = file.integer_attribute(group, key)) return std::to_string(*number);
  const auto text = is_asked_for(key) ? word_of(file, group, key) : file.text_attribute(group, key);
  if (text) return *text;
  const auto array = join(group, key);
  if (!is_asked_for(key) || !file.has_dataset(array)) return "";
  return repeated_item(read_labels(file, array, true)).value_or("");
}

}  // namespace

bool is_asked_for(const std::string& key) { return key != ReadOptions{}.label_key; }

FoundLabels read_labels(const InputFile& file, const std::string& name, bool asked_for) {
  if (asked_for)
    if (auto words = words_of(file, name)) return {{}, std::move(*words)};
  const auto dataset = file.dataset(name);
  if (!dataset.is_number()) return {{}, dataset.read_strings()};
  if (dataset.kind() != Kind::kInteger || dataset.row_size() != 1)
    throw DataFormatError(
        "{} holds {} of shape {}, expected the policy of each step or episode as integers or text",
        dataset.where(), to_string(dataset.kind()), shape_text(dataset.shape()));
  FoundLabels found;
  found.numbers.resize(static_cast<std::size_t>(dataset.rows()));
  dataset.read(0, dataset.rows(), found.numbers.data());
  return found;
}

FoundLabels read_group_labels(const InputFile& file, const std::vector<std::string>& groups,
                              const std::string& key) {
  std::vector<std::string> texts;
  for (const auto& group : groups) texts.push_back(label_of(file, group, key));
  if (std::ranges::any_of(texts, [](const auto& text) { return !text.empty(); }))
    return labels_from(std::move(texts));
  if (is_asked_for(key) && file.has_dataset(key)) return read_labels(file, key, true);
  return {};
}

}  // namespace kindred::hdf5
