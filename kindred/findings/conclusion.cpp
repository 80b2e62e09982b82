#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>

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

/// Where only some of the trajectories were searched or judged: " on 4,000 of them".
std::string found_on(const RunRecord& record) {
  const auto judged = record.result.value("v_judged", std::int64_t{0});
  const auto searched = record.result.value("searched", judged);
  return searched > 0 && searched < record.dataset.at("episodes").get<std::int64_t>()
             ? fmt::format(" on {} of the trajectories", grouped(searched))
             : "";
}

/// "; 3 or 4 fit almost as well", or nothing.
std::string others_that_fit(const RunRecord& record) {
  std::vector<std::string> numbers;
  for (const auto& k : record.result.value("almost_as_good", nlohmann::ordered_json::array()))
    numbers.push_back(std::to_string(k.get<std::int64_t>()));
  if (numbers.empty()) return "";
  return fmt::format("; {} {} almost as well", fmt::join(numbers, " or "),
                     numbers.back() == "1" ? "fits" : "fit");
}

/// "five clusters, as asked": whether their number was chosen for the run or found by it.
std::string how_many(const RunRecord& record) {
  const auto k = record.result.at("k").get<std::int64_t>();
  auto clusters = fmt::format("{} {}", in_words(k), k == 1 ? "cluster" : "clusters");
  if (record.result.value("k_found", false))
    return fmt::format("{} (found{}{})", clusters, found_on(record), others_that_fit(record));
  const auto asked = asked_k(record.options);
  if (!asked) return clusters;
  if (k == *asked) return clusters + ", as asked";
  return fmt::format("{} ({} were asked for, {} {} left)", clusters, *asked, k,
                     k == 1 ? "is" : "are");
}

/// `same`: restarts with the answer of the best, itself among them.
std::string not_found_again(std::int64_t same, std::int64_t restarts) {
  constexpr auto kAdvice = "more restarts may find a better division";
  if (restarts == 2)
    return fmt::format(", but the other restart divided them differently: {}", kAdvice);
  if (same < 2)
    return fmt::format(", but the other {} restarts divided them differently: {}",
                       in_words(restarts - 1), kAdvice);
  return fmt::format(", but only {} of {} restarts found them: {}", in_words(same),
                     in_words(restarts), kAdvice);
}

/// Restarts count as agreeing from an NMI of 0.9 on.
std::string how_closely(double least_nmi) {
  if (least_nmi >= 0.995) return "agree on them";
  return fmt::format("agree on them with an NMI of at least {:.2f}",
                     std::floor(100.0 * least_nmi) / 100.0);
}

/// Whether restarts with the same k found the same clusters. It says nothing about k. Nothing where
/// the method has no restarts.
std::string how_stable(const RunRecord& record) {
  if (record.k() == 1) return "";  // all agree on one
  const auto& agreement = record.result.at("agreement");
  const auto restarts = static_cast<std::int64_t>(record.restarts.size());
  const auto verdict = agreement.at("verdict").get<std::string>();
  const auto good = agreement.at("good_restarts").get<std::int64_t>();
  if (verdict == "single" && record.options.is_object() && !record.options.contains("restarts"))
    return "";
  if (verdict == "single") return ", by one restart, so there is nothing to compare them with";
  if (verdict == "unstable") return not_found_again(agreement.value("same_restarts", 1), restarts);
  if (verdict == "several" && record.result.contains("alternatives"))
    return fmt::format(
        ", but {} divisions predict held-out trajectories equally well: this is one of several "
        "answers",
        in_words(good));
  if (verdict == "several")
    return fmt::format(
        ", but {} restarts that explain the data about equally well disagree: this is one of "
        "several answers",
        in_words(good));
  const auto same = good > 1 ? good : agreement.value("same_restarts", good);
  const auto agree = how_closely(agreement.value("least_nmi", 1.0));
  return same == restarts
             ? fmt::format(", and all {} restarts {}", in_words(same), agree)
             : fmt::format(", and {} of {} restarts {}", in_words(same), in_words(restarts), agree);
}

/// Never rounded up to 1, which would say that all is right.
std::string two_digits(double measure) {
  return measure < 1.0 - 1e-9 && measure >= 0.995 ? "above 0.99" : fmt::format("{:.2f}", measure);
}

/// A smaller NMI by chance hides in the digits that are shown.
constexpr double kWorthSaying = 0.005;

/// Nothing where the true policies are not known. The oracle's NMI is not a bound, so it is said
/// who reaches it.
std::string how_right(const nlohmann::ordered_json& result) {
  if (!result.contains("nmi") || !result["nmi"].is_number()) return "";
  const double nmi = result["nmi"];
  if (nmi > 1.0 - 1e-9 && result.at("k") == 1) return "; there is one true policy, too";
  if (nmi > 1.0 - 1e-9) return "; the clusters are exactly the true policies (NMI 1)";
  auto reached = "; NMI with the true policies is " + two_digits(nmi);
  if (const double chance = result.value("chance_nmi", 0.0); chance >= kWorthSaying)
    reached += fmt::format(" (chance: {})", two_digits(chance));
  if (!result.contains("ceiling") || !result["ceiling"].is_number()) return reached;
  return fmt::format(
      "{}, where somebody who knows them and assigns each trajectory to its most likely one "
      "reaches {}",
      reached, two_digits(result["ceiling"].get<double>()));
}

}  // namespace

std::string conclusion(const RunRecord& record) {
  const auto episodes = record.dataset.at("episodes").get<std::int64_t>();
  return fmt::format("{} {} {} {}{}{}.", grouped(episodes),
                     episodes == 1 ? "trajectory was" : "trajectories were",
                     record.k() == 1 ? "kept together in" : "divided into", how_many(record),
                     how_stable(record), how_right(record.result));
}

}  // namespace kindred
