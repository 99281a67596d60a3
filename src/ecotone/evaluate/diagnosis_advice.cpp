#include <algorithm>
#include <cmath>

#include "ecotone/evaluate/diagnosis_parts.h"

namespace ecotone {
namespace {

constexpr double far_apart = 5;  // standardised mean differences beyond this smell of another unit
constexpr std::size_t most_named = 3;
constexpr double label_points = 0.1;  // differences of shares worth a word
constexpr double missing_points = 0.2;

std::string joined(const std::vector<std::string>& names) {
  if (names.size() < 2) return names.empty() ? "" : names.front();
  const std::vector<std::string> head(names.begin(), names.end() - 1);
  return fmt::format("{} and {}", fmt::join(head, ", "), names.back());
}

/// The features that carry the difference: at least half as far apart as the first.
std::string where(const Comparison& one) {
  std::vector<std::string> names;
  for (const FeatureShift& shift : one.features) {
    if (names.size() == most_named || shift.q > shift_level || shift.ks < one.features.front().ks / 2) break;
    const bool unit = !shift.smd || std::abs(*shift.smd) > far_apart;
    names.push_back(shift.feature + (unit ? " (another unit?)" : ""));
  }
  return names.empty() ? "differs, but in no single column beyond chance" : "differs mostly in " + joined(names);
}

std::string percent(double share) {
  return share < 0.01 ? std::string("less than 1 %") : fmt::format("{:.0f} %", 100 * share);
}

/// What weighting the others to look like this domain leaves of them.
std::string weighting(const Comparison& one) {
  if (!one.ess_b_to_a) return "";
  const double share = *one.ess_b_to_a;
  std::string_view so = "little is lost";
  if (share < 0.5) so = "some variance";
  if (share < 0.2) so = "expect variance";
  if (share < 0.02) so = "too far for weights alone";
  return fmt::format("; weighting keeps {} of the sample: {}", percent(share), so);
}

/// The class or mean that sets a domain apart from the others, when it is much.
std::string labels(const Diagnosis& diagnosis, std::size_t d) {
  if (diagnosis.labels.empty() || diagnosis.labels[d].share.empty()) return "";
  double best = 0;
  std::string text;
  for (std::size_t k = 0; k < diagnosis.classes.size(); ++k) {
    double rows = 0, of_class = 0;
    for (std::size_t e = 0; e < diagnosis.labels.size(); ++e) {
      const DomainLabels& other = diagnosis.labels[e];
      if (e == d || other.share.empty()) continue;
      rows += static_cast<double>(other.rows);
      of_class += other.share[k] * static_cast<double>(other.rows);
    }
    if (rows == 0) return "";
    const double difference = diagnosis.labels[d].share[k] - of_class / rows;
    // Of two classes the second is the one that people speak of.
    if (std::abs(difference) < label_points || std::abs(difference) < std::abs(best) - 1e-12) continue;
    best = difference;
    text = fmt::format("; {} = {} in {} of its rows, elsewhere in {}", diagnosis.label, diagnosis.classes[k],
                       percent(diagnosis.labels[d].share[k]), percent(of_class / rows));
  }
  return text;
}

/// The column that misses many more values here than elsewhere.
std::string missing(const Diagnosis& diagnosis, std::size_t d) {
  double best = missing_points;
  std::string text;
  for (const MissingShift& column : diagnosis.missing) {
    double rows = 0, absent = 0;
    for (std::size_t e = 0; e < column.share.size(); ++e) {
      if (e == d) continue;
      rows += static_cast<double>(diagnosis.domain_rows[e]);
      absent += column.share[e] * static_cast<double>(diagnosis.domain_rows[e]);
    }
    if (column.share[d] - absent / rows < best) continue;
    best = column.share[d] - absent / rows;
    text = fmt::format("; {} is missing in {} of its rows, elsewhere in {}", column.column, percent(column.share[d]),
                       percent(absent / rows));
  }
  return text;
}

}  // namespace

void add_advice(Diagnosis& diagnosis) {
  for (const Comparison& one : diagnosis.against_rest) {
    const auto d = static_cast<std::size_t>(std::find(diagnosis.domains.begin(), diagnosis.domains.end(), one.a) -
                                            diagnosis.domains.begin());
    const bool features = !one.features.empty() && one.features.front().q <= shift_level;
    const bool differs = (one.q && *one.q <= shift_level) || features;
    const std::string labelled = labels(diagnosis, d);
    const std::string absent = missing(diagnosis, d);
    if (!differs && labelled.empty() && absent.empty()) continue;
    const std::string text = differs ? where(one) + weighting(one) : "shows no shift of its features beyond chance";
    diagnosis.advice.push_back(
        {one.a, fmt::format("{} {} {}{}{}", diagnosis.domain_word, one.a, text, labelled, absent)});
  }
  if (diagnosis.advice.empty()) diagnosis.advice.push_back({"", "no domain differs from the others beyond chance"});
}

}  // namespace ecotone
