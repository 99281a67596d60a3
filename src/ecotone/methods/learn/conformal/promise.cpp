#include <array>
#include <cmath>

#include "ecotone/methods/learn/conformal/conformal.h"

namespace ecotone {
namespace {

constexpr std::array<std::string_view, 7> method_names = {"auto",      "hcp",      "cdf",   "domainwise",
                                                          "jackknife", "weighted", "pooled"};
constexpr std::array<std::string_view, 6> score_names = {"auto", "lac", "aps", "raps", "absolute", "scaled"};

std::string percent(double share) { return fmt::format("{:.4g}%", 100 * share); }

}  // namespace

std::string_view method_name(ConformalMethod method) { return method_names[static_cast<std::size_t>(method)]; }
std::string_view score_name(ConformalScore score) { return score_names[static_cast<std::size_t>(score)]; }

std::string_view ConformalReport::guarantee() const {
  switch (method) {
    case ConformalMethod::hcp:
    case ConformalMethod::jackknife:
      return "average over new domains";
    case ConformalMethod::domainwise:
      return "share of new domains";
    case ConformalMethod::weighted:
      return "rows like the target's";
    case ConformalMethod::pooled:
      return "rows of known domains";
    default:
      return "none";
  }
}

bool ConformalReport::too_few_domains() const { return too_few(domains); }

bool ConformalReport::coverage_says_nothing() const { return !too_few_domains() && too_few(domains - 1); }

bool ConformalReport::too_few(Index count) const {
  using enum ConformalMethod;
  if (method != hcp && method != jackknife && method != domainwise) return false;
  return largest_level(static_cast<std::size_t>(count)) < (method == domainwise ? share : level) - quantile_slack;
}

std::string ConformalReport::possible() const {
  const auto count = static_cast<std::size_t>(domains);
  return fmt::format("{} domain{} can promise at most {}{}, and useful sets up to {}", count, count == 1 ? "" : "s",
                     percent(largest_level(count)), method == ConformalMethod::domainwise ? " of new domains" : "",
                     percent(useful_level(count)));
}

bool ConformalReport::holds_everything(double quantile) const {
  // 1 - p is at most 1.
  return std::isinf(quantile) || (score == ConformalScore::lac && quantile >= 1 - quantile_slack);
}

double ConformalReport::fewest_rows() const { return std::ceil((1 - quantile_slack) / (1 - level)); }

std::string ConformalReport::promise() const {
  const std::string rows = percent(level);
  std::string few;
  if (too_few_domains()) few = fmt::format(". Sets hold everything: {}", possible());
  if (everything) few = ". Sets hold everything: only so are rows covered whose class has probability 0";
  if (coverage_says_nothing() && !everything)
    few = fmt::format(
        ". With {} domains sets would hold everything, so coverage by domain, each under the others, "
        "says nothing",
        domains - 1);
  switch (method) {
    case ConformalMethod::hcp:
      return fmt::format(
          "{} of rows of a new domain, on average over new domains that differ as these {} do; not in "
          "every domain{}",
          rows, domains, few);
    case ConformalMethod::jackknife:
      return fmt::format(
          "{} of rows of a new domain, on average over new domains that differ as these {} do (proved: "
          "at least {}); not in every domain{}",
          rows, domains, percent(2 * level - 1), few);
    case ConformalMethod::domainwise:
      return fmt::format("{} of the rows in {} of new domains{} that differ as these {} do{}", rows, percent(share),
                         left_out.empty() ? "" : fmt::format(" of at least {:.0f} rows", fewest_rows()), domains, few);
    case ConformalMethod::weighted:
      return fmt::format("{} of rows that lie as the target's do, if labels follow from features as in the sources{}",
                         rows, exponent.value_or(1) < 1 ? "; weights were flattened, so for rows between both" : "");
    case ConformalMethod::pooled:
      return fmt::format("{} of new rows of these {} domains; nothing for a new domain{}", rows, domains, few);
    default:
      return fmt::format(
          "no promise; about {} of rows of a new domain on average if there were many domains. With hcp, {}{}", rows,
          possible(), few);
  }
}

}  // namespace ecotone
