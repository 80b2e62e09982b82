#include <fmt/format.h>

#include <array>

#include "kindred/core/words.h"
#include "kindred/findings/findings.h"

namespace kindred {
namespace {

std::string in_words(std::int64_t number) {
  constexpr std::array kWords = {"no",  "one",   "two",   "three", "four", "five",
                                 "six", "seven", "eight", "nine",  "ten"};
  return number >= 0 && number < std::ssize(kWords) ? kWords[static_cast<std::size_t>(number)]
                                                    : std::to_string(number);
}

/// `same`: restarts with the answer of the best, itself among them.
std::string how_unsure(std::int64_t same, std::size_t restarts) {
  const auto all = in_words(static_cast<std::int64_t>(restarts));
  if (restarts == 2) return "but the other restart did not come near it: this is not sure";
  return same < 2
             ? fmt::format("but no other of the {} restarts came near it: this is not sure", all)
             : fmt::format("but only {} of {} restarts found this: it is not sure", in_words(same),
                           all);
}

std::string how_sure(const nlohmann::ordered_json& agreement, std::size_t restarts) {
  const auto verdict = agreement.at("verdict").get<std::string>();
  const auto good = agreement.at("good_restarts").get<std::int64_t>();
  if (verdict == "single") return "from a single restart, so nothing tells how sure that is";
  if (verdict == "unstable") return how_unsure(agreement.value("same_restarts", 1), restarts);
  if (verdict == "several")
    return fmt::format(
        "but {} restarts that explain the data about equally well disagree: it is one of several "
        "answers",
        in_words(good));
  const auto same = good > 1 ? good : agreement.value("same_restarts", good);
  return same == static_cast<std::int64_t>(restarts)
             ? fmt::format("and all {} restarts agree", in_words(same))
             : fmt::format("and {} of {} restarts agree", in_words(same),
                           in_words(static_cast<std::int64_t>(restarts)));
}

/// Never rounded up to 1, which would say that all is right.
std::string two_digits(double measure) {
  return measure < 1.0 - 1e-9 && measure >= 0.995 ? "above 0.99" : fmt::format("{:.2f}", measure);
}

/// Nothing where the true policies are not known.
std::string how_right(const nlohmann::ordered_json& result) {
  if (!result.contains("nmi") || !result["nmi"].is_number()) return "";
  const double nmi = result["nmi"];
  if (nmi > 1.0 - 1e-9) return "; the groups are exactly the true policies' (NMI 1)";
  const auto reached = "; measured against the true policies, NMI is " + two_digits(nmi);
  if (!result.contains("ceiling") || !result["ceiling"].is_number()) return reached;
  return reached + ", and at best it could be " + two_digits(result["ceiling"].get<double>());
}

}  // namespace

std::string conclusion(const RunRecord& record) {
  const auto& result = record.result;
  const auto k = result.at("k").get<std::int64_t>();
  auto count = in_words(k);
  count.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(count.front())));
  return fmt::format("{} {} {} trajectories, {}{}.", count,
                     k == 1 ? "policy explains these" : "policies explain these",
                     grouped(record.dataset.at("episodes").get<std::int64_t>()),
                     how_sure(result.at("agreement"), record.restarts.size()), how_right(result));
}

}  // namespace kindred
