#include "ecotone/label/column_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "ecotone/data/formats/date.h"

namespace ecotone {
namespace {

constexpr Index bins = 24;

std::vector<double> known_values(const Matrix& x, Index column) {
  std::vector<double> values;
  for (Index i = 0; i < x.rows(); ++i)
    if (std::isfinite(x(i, column))) values.push_back(x(i, column));
  std::ranges::sort(values);
  return values;
}

/// The value that this share of the others lie below.
double value_at(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

/// The range in which all but the farthest values lie: a few of them would push all others into one bin.
std::pair<double, double> usual_range(const std::vector<double>& sorted) {
  if (sorted.empty()) return {0, 0};
  const std::pair range{value_at(sorted, 0.01), value_at(sorted, 0.99)};
  return range.first < range.second ? range : std::pair{sorted.front(), sorted.back()};
}

/// The bin of a value between low and high; values beyond go to the nearest.
Index bin_of(double value, double low, double high) {
  // Halves, so that the range of numbers suffices.
  const double share = (value / 2 - low / 2) / (high / 2 - low / 2);
  if (!(high > low) || std::isnan(share)) return bins / 2;
  return std::min<Index>(bins - 1, static_cast<Index>(std::clamp(share, 0.0, 1.0) * static_cast<double>(bins)));
}

/// Shares of the values in each bin; those beyond count in the nearest bin, or not at all.
enum class Beyond { counts, is_left_out };
std::vector<double> histogram(const std::vector<double>& sorted, double low, double high, Beyond beyond) {
  std::vector<double> shares(at(bins), 0.0);
  for (const double value : sorted) {
    if (beyond == Beyond::is_left_out && (value < low || value > high)) continue;
    shares[at(bin_of(value, low, high))] += 1 / static_cast<double>(sorted.size());
  }
  return shares;
}

std::string shown_number(double value) { return fmt::format("{:.6g}", value); }

}  // namespace

std::string label_text(const Labels& y, Index row) {
  if (y.missing(row)) return "";
  return y.task == Task::classify ? y.classes[at(y.index[at(row)])] : fmt::format("{}", y.value[row]);
}

ColumnFacts::ColumnFacts(const Dataset& data, const Context& context) : rows_(data.rows()) {
  Index first = 0;
  for (const Column& column : data.table_columns()) {
    columns_.push_back({.column = column, .first = first, .width = static_cast<Index>(column.width())});
    first += columns_.back().width;
  }
  const Index most = std::clamp<Index>(2'000'000 / std::max<Index>(1, data.x.cols()), 200, 5000);
  std::vector<Index> sources;
  std::vector<std::vector<Index>> of_domain(data.domain.names.size());
  for (Index row = 0; row < data.rows(); ++row) {
    const std::size_t domain = at(data.domain.index[at(row)]);
    of_domain[domain].push_back(row);
    if (data.role[domain] == Role::source) sources.push_back(row);
  }
  const Matrix all = data.x.copy(sample_rows(most));
  const Matrix of_sources = data.x.copy(spread_over(sources, most));
  for (Place& place : columns_) {
    set_scale(place, all);
    place.of_sources = distribution(place, of_sources);
  }
  for (std::vector<Index>& rows : of_domain) {
    context.check_cancelled();
    const Matrix x = data.x.copy(spread_over(rows, most));
    for (Place& place : columns_) place.of_domain.push_back(distribution(place, x));
  }
}

std::vector<Index> ColumnFacts::sample_rows(Index most) const {
  std::vector<Index> rows(at(rows_));
  std::iota(rows.begin(), rows.end(), Index{0});
  return spread_over(rows, most);
}

void ColumnFacts::set_scale(Place& place, const Matrix& sample) const {
  if (is_text(place)) return;
  const std::vector<double> values = known_values(sample, place.first);
  if (values.empty()) return;
  const auto n = static_cast<double>(values.size());
  place.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += (value - place.mean) * (value - place.mean);
  place.sd = squares > 0 ? std::sqrt(squares / n) : 1;
}

ColumnFacts::Distribution ColumnFacts::distribution(const Place& place, const Matrix& x) const {
  Distribution result;
  const auto rows = static_cast<double>(std::max<Index>(1, x.rows()));
  if (is_text(place)) {
    result.share.assign(at(levels(place)), 0.0);
    for (Index i = 0; i < x.rows(); ++i)
      if (const Index level = level_of(place, x.row(i)); level >= 0) result.share[at(level)] += 1;
    for (double& share : result.share) share /= rows;
  } else {
    result.sorted = known_values(x, place.first);
  }
  return result;
}

Index ColumnFacts::find(const std::string& name) const {
  const auto found = std::ranges::find(columns_, name, [](const Place& place) { return place.column.name; });
  return found == columns_.end() ? -1 : found - columns_.begin();
}

Index ColumnFacts::level_of(const Place& place, RowView x) const {
  if (place.column.coded) return std::isnan(x[place.first]) ? -1 : static_cast<Index>(x[place.first]);
  for (Index level = 0; level < place.width; ++level)
    if (x[place.first + level] > 0.5) return level;
  return -1;
}

bool ColumnFacts::missing(Index column, RowView x) const {
  const Place& place = columns_[at(column)];
  return is_text(place) ? level_of(place, x) < 0 : !std::isfinite(x[place.first]);
}

std::string ColumnFacts::text(Index column, RowView x) const {
  if (missing(column, x)) return "";
  const Place& place = columns_[at(column)];
  if (is_text(place)) return place.column.levels[at(level_of(place, x))];
  const double value = x[place.first];
  return place.column.kind == ColumnKind::date && is_date(value) ? date_text(value) : shown_number(value);
}

FieldFact ColumnFacts::fact(Index column, Index domain, RowView x) const {
  const Place& place = columns_[at(column)];
  const Distribution& here = place.of_domain[at(domain)];
  FieldFact fact;
  fact.name = place.column.name;
  fact.value = text(column, x);
  fact.missing = missing(column, x);
  if (is_text(place)) {
    const Index own = level_of(place, x);
    for (Index level = 0; level < levels(place); ++level)
      fact.levels.push_back(
          {place.column.levels[at(level)], here.share[at(level)], place.of_sources.share[at(level)], level == own});
    return fact;
  }
  // In the range of the row's own domain: another one may use other units.
  std::tie(fact.low, fact.high) = usual_range(here.sorted);
  fact.in_domain = histogram(here.sorted, fact.low, fact.high, Beyond::counts);
  fact.in_sources = histogram(place.of_sources.sorted, fact.low, fact.high, Beyond::is_left_out);
  const double value = x[place.first];
  if (fact.missing || here.sorted.empty()) return fact;
  fact.bin = bin_of(value, fact.low, fact.high);
  // Rows below, and half of the equal ones.
  const auto [low, high] = std::equal_range(here.sorted.begin(), here.sorted.end(), value);
  const double below = static_cast<double>(low - here.sorted.begin()) + static_cast<double>(high - low) / 2;
  fact.percentile = 100 * below / static_cast<double>(here.sorted.size());
  return fact;
}

void ColumnFacts::make_usual(Index column, Index domain, Matrix& x, Index row) const {
  const Place& place = columns_[at(column)];
  const Distribution& here = place.of_domain[at(domain)];
  if (is_text(place)) {
    if (levels(place) == 0) return;
    const Index usual = std::ranges::max_element(here.share) - here.share.begin();
    if (place.column.coded) {
      x(row, place.first) = static_cast<double>(usual);
      return;
    }
    x.row(row).segment(place.first, place.width).setZero();
    x(row, place.first + usual) = 1;
  } else if (!here.sorted.empty()) {
    x(row, place.first) = value_at(here.sorted, 0.5);
  }
}

double ColumnFacts::distance(RowView a, RowView b) const {
  double sum = 0;
  for (const Place& place : columns_) {
    if (is_text(place)) {
      sum += level_of(place, a) == level_of(place, b) ? 0 : 1;
      continue;
    }
    const double difference = (a[place.first] - b[place.first]) / place.sd;
    if (std::isfinite(difference)) {
      sum += difference * difference;
    } else if (std::isfinite(a[place.first]) != std::isfinite(b[place.first])) {
      sum += 1;
    }
  }
  return std::sqrt(sum);
}

bool ColumnFacts::differ(Index column, RowView a, RowView b, double deviations) const {
  const Place& place = columns_[at(column)];
  if (missing(column, a) || missing(column, b)) return missing(column, a) != missing(column, b);
  if (is_text(place)) return level_of(place, a) != level_of(place, b);
  return std::abs(a[place.first] - b[place.first]) > deviations * place.sd;
}

}  // namespace ecotone
