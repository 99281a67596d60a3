#include <algorithm>
#include <cmath>

#include "ecotone/diagnose/parts.h"

namespace ecotone {
namespace {

constexpr std::size_t most_named = 3;
constexpr double label_points = 0.1;  // differences of shares worth reporting
constexpr Index label_rows = 10;      // with fewer rows, shares say little
constexpr double missing_points = 0.2;

std::string joined(const std::vector<std::string>& names) {
  if (names.size() < 2) return names.empty() ? "" : names.front();
  const std::vector<std::string> head(names.begin(), names.end() - 1);
  return fmt::format("{} and {}", fmt::join(head, ", "), names.back());
}

/// The features that make up the difference: at least half as far apart as the first.
std::string where(const Comparison& one) {
  std::vector<std::string> names;
  for (const FeatureShift& shift : one.features) {
    if (names.size() == most_named || shift.q > shift_level || shift.ks < one.features.front().ks / 2) break;
    names.push_back(shift.feature + (shift.remark.empty() ? "" : fmt::format(" ({})", shift.remark)));
  }
  return names.empty() ? "differs, but no single column does beyond chance" : "differs mostly in " + joined(names);
}

std::string percent(double share) {
  return share < 0.01 ? std::string("less than 1%") : fmt::format("{:.0f}%", 100 * share);
}

/// The effective share of the other rows left after weighting them towards this domain. Weights of samples that do not
/// overlap may be nearly equal; a large share then means nothing.
std::string weighting(const Comparison& one) {
  if (one.apart()) return "; it hardly overlaps with the others, so weighting cannot help";
  if (!one.ess_b_to_a) return "";
  const double share = *one.ess_b_to_a;
  std::string_view so = "little is lost";
  if (share < 0.5) so = "expect noisier estimates";
  if (share < 0.2) so = "expect much noisier estimates";
  if (share < 0.02) so = "too far for weighting alone";
  return fmt::format("; weighting keeps {} of the sample: {}", percent(share), so);
}

/// The class or mean that sets a domain apart from the others, if the difference is large.
std::string labels(const Diagnosis& diagnosis, std::size_t d) {
  if (diagnosis.labels.empty() || diagnosis.labels[d].share.empty()) return "";
  if (diagnosis.labels[d].rows < label_rows) return "";
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
    if (rows < static_cast<double>(label_rows)) return "";
    const double difference = diagnosis.labels[d].share[k] - of_class / rows;
    // With two classes, people speak of the second one.
    if (std::abs(difference) < label_points || std::abs(difference) < std::abs(best) - 1e-12) continue;
    best = difference;
    text = fmt::format("; {} = {} in {} of its rows, {} elsewhere", diagnosis.label, diagnosis.classes[k],
                       percent(diagnosis.labels[d].share[k]), percent(of_class / rows));
  }
  return text;
}

/// The columns that have values elsewhere but none here.
std::vector<std::string> without_values(const Diagnosis& diagnosis, std::size_t d) {
  std::vector<std::string> names;
  for (const MissingShift& column : diagnosis.missing)
    if (column.share[d] == 1 && column.spread > 0) names.push_back(column.column);
  if (names.size() <= most_named) return names;
  const std::size_t more = names.size() - most_named + 1;
  names.resize(most_named - 1);
  names.push_back(fmt::format("{} more columns", more));
  return names;
}

/// The column with many more missing values here than elsewhere, but not all missing.
std::string missing(const Diagnosis& diagnosis, std::size_t d) {
  double best = missing_points;
  std::string text;
  for (const MissingShift& column : diagnosis.missing) {
    if (column.share[d] == 1) continue;
    double rows = 0, absent = 0;
    for (std::size_t e = 0; e < column.share.size(); ++e) {
      if (e == d) continue;
      rows += static_cast<double>(diagnosis.domain_rows[e]);
      absent += column.share[e] * static_cast<double>(diagnosis.domain_rows[e]);
    }
    if (column.share[d] - absent / rows < best) continue;
    best = column.share[d] - absent / rows;
    text = fmt::format("; {} is missing in {} of its rows, {} elsewhere", column.column, percent(column.share[d]),
                       percent(absent / rows));
  }
  return text;
}

/// How the features of a domain differ and what weighting can do about it; empty if they do not differ beyond chance.
std::string features(const Comparison& one, const std::vector<std::string>& without) {
  const bool single = !one.features.empty() && one.features.front().q <= shift_level;
  if (!without.empty()) {
    const std::string text = fmt::format("has no values of {}, which no weighting can make up for", joined(without));
    return single ? fmt::format("{}; {}", where(one), text) : text;
  }
  return single || (one.q && *one.q <= shift_level) ? where(one) + weighting(one) : "";
}

/// The advice for one domain; empty if there is none.
std::string advice(const Diagnosis& diagnosis, const Comparison& one) {
  const auto d = static_cast<std::size_t>(std::find(diagnosis.domains.begin(), diagnosis.domains.end(), one.a) -
                                          diagnosis.domains.begin());
  if (!one.mmd2) {
    return one.rows_a < 2 ? "has 1 row, too few to compare" : "cannot be compared, as the others have 1 row in total";
  }
  const std::string text = features(one, without_values(diagnosis, d));
  const std::string others = labels(diagnosis, d) + missing(diagnosis, d);
  if (text.empty() && others.empty()) return "";
  return (text.empty() ? "shows no shift of features beyond chance" : text) + others;
}

}  // namespace

void add_advice(Diagnosis& diagnosis) {
  bool compared = false, differs = false;
  for (const Comparison& one : diagnosis.against_rest) {
    const std::string text = advice(diagnosis, one);
    compared = compared || one.mmd2;
    if (text.empty()) continue;
    differs = differs || one.mmd2;
    diagnosis.advice.push_back({one.a, fmt::format("{} {} {}", diagnosis.domain_word, one.a, text)});
  }
  if (!compared || differs) return;
  const char* which = diagnosis.advice.empty() ? "no domain differs" : "no other domain differs";
  diagnosis.advice.push_back({"", fmt::format("{} from the others beyond chance", which)});
}

}  // namespace ecotone
