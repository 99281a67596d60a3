#include "ecotone/trust/disagreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <limits>
#include <map>

#include "ecotone/measure/shift.h"
#include "ecotone/measure/weighted_quantile.h"

namespace ecotone {
namespace {

constexpr double fewest_rows = 10;  // effective, of a region on each side
constexpr double rare = 0.05;       // share of a category that is shown by itself
constexpr std::size_t most_regions = 20;

/// A region of a column: which rows are in it, by number, and its words.
struct Regions {
  std::vector<std::string> words;
  std::vector<Index> source, target;  ///< of each row
};

/// Weighted losses of the rows of one region on one side.
struct RegionLoss {
  double weight = 0, squares = 0, sum = 0;
  double least = std::numeric_limits<double>::infinity(), most = -least;
  double effective() const { return squares > 0 ? weight * weight / squares : 0; }
  double mean() const { return sum / weight; }
};

std::vector<RegionLoss> losses_in(const std::vector<Index>& region, const SharedSide& side, std::size_t regions) {
  std::vector<RegionLoss> result(regions);
  for (std::size_t i = 0; i < region.size(); ++i) {
    RegionLoss& own = result[at(region[i])];
    const auto row = static_cast<Index>(i);
    own.weight += side.weight[row];
    own.squares += side.weight[row] * side.weight[row];
    own.sum += side.weight[row] * side.loss[row];
    own.least = std::min(own.least, side.loss[row]);
    own.most = std::max(own.most, side.loss[row]);
  }
  return result;
}

/// sqrt(sum w^2 (l - mean)^2) / sum w of every region.
std::vector<double> errors_in(const std::vector<Index>& region, const SharedSide& side,
                              const std::vector<RegionLoss>& losses) {
  std::vector<double> sums(losses.size(), 0.0);
  for (std::size_t i = 0; i < region.size(); ++i) {
    const auto row = static_cast<Index>(i);
    const RegionLoss& own = losses[at(region[i])];
    const double part = own.weight > 0 ? side.weight[row] * (side.loss[row] - own.mean()) : 0;
    sums[at(region[i])] += part * part;
  }
  for (std::size_t b = 0; b < sums.size(); ++b)
    sums[b] = losses[b].weight > 0 ? std::sqrt(sums[b]) / losses[b].weight : 0;
  return sums;
}

/// The standard error of a mean is at least this, since equal losses of a few rows do not make it certain. Of errors,
/// which are 0 or 1, it is that of the share (k + 1/2) / (n + 1); of other losses, that of one row at the other end of
/// their range.
double least_error(const RegionLoss& losses, RowLoss loss, double range) {
  const double n = losses.effective();
  if (loss != RowLoss::error) return range / n;
  const double share = (losses.mean() * n + 0.5) / (n + 1);
  return std::sqrt(share * (1 - share) / (n + 1));
}

/// The columns of all rows in one matrix.
Matrix values_of(const Dataset& data, const std::vector<Index>& rows) { return data.x.copy(rows); }

Regions number_regions(const std::string& name, const Vector& source, const Vector& target, const SharedSide& of_source,
                       const SharedSide& of_target) {
  std::vector<double> values, weights;
  const auto add = [&](const Vector& column, const Vector& weight) {
    for (Index i = 0; i < column.size(); ++i) {
      if (!std::isfinite(column[i])) continue;
      values.push_back(column[i]);
      weights.push_back(weight[i] / weight.sum());
    }
  };
  add(source, of_source.weight);
  add(target, of_target.weight);
  std::vector<double> edges;
  double total = 0;
  for (const double w : weights) total += w;
  if (total > 0) {
    const WeightedQuantiles quantiles(values, weights);
    for (const double level : {0.25, 0.5, 0.75}) {
      const double edge = quantiles.at(level);
      if ((edges.empty() || edge > edges.back()) && edge < quantiles.scores().back()) edges.push_back(edge);
    }
  }
  Regions regions;
  for (std::size_t b = 0; b <= edges.size(); ++b) {
    if (edges.empty()) {
      regions.words.push_back(fmt::format("{} known", name));
    } else if (b == 0) {
      regions.words.push_back(fmt::format("{} up to {:.4g}", name, edges[0]));
    } else if (b == edges.size()) {
      regions.words.push_back(fmt::format("{} above {:.4g}", name, edges.back()));
    } else {
      regions.words.push_back(fmt::format("{} above {:.4g}, up to {:.4g}", name, edges[b - 1], edges[b]));
    }
  }
  regions.words.push_back(fmt::format("{} missing", name));
  const auto place = [&](const Vector& column, std::vector<Index>& into) {
    for (const double value : column)
      into.push_back(std::isfinite(value) ? std::ranges::lower_bound(edges, value) - edges.begin()
                                          : std::ssize(edges) + 1);
  };
  place(source, regions.source);
  place(target, regions.target);
  return regions;
}

/// `source`, `target`: indicators of the levels of one column.
Regions category_regions(const std::string& name, const std::vector<std::string>& levels, const Matrix& source,
                         const Matrix& target, const SharedSide& of_source, const SharedSide& of_target) {
  const auto level_of = [&](const Matrix& x, Index row) {
    for (Index k = 0; k < x.cols(); ++k)
      if (x(row, k) != 0) return k;
    return x.cols();  // missing, or another level
  };
  std::vector<double> share(levels.size() + 1, 0.0);
  for (Index i = 0; i < source.rows(); ++i)
    share[at(level_of(source, i))] += of_source.weight[i] / of_source.weight.sum() / 2;
  for (Index i = 0; i < target.rows(); ++i)
    share[at(level_of(target, i))] += of_target.weight[i] / of_target.weight.sum() / 2;
  Regions regions;
  std::vector<Index> number(share.size(), -1);
  for (std::size_t k = 0; k < levels.size(); ++k)
    if (share[k] >= rare) {
      number[k] = std::ssize(regions.words);
      regions.words.push_back(fmt::format("{} is {}", name, levels[k]));
    }
  const Index others = std::ssize(regions.words);
  regions.words.push_back(fmt::format("{} is rare or missing", name));
  for (Index& each : number)
    if (each < 0) each = others;
  for (Index i = 0; i < source.rows(); ++i) regions.source.push_back(number[at(level_of(source, i))]);
  for (Index i = 0; i < target.rows(); ++i) regions.target.push_back(number[at(level_of(target, i))]);
  return regions;
}

/// Adds a column's regions; whether there are two to compare.
bool add_column(Explanation& explanation, const std::string& name, const Regions& regions, const SharedSide& source,
                const SharedSide& target, std::vector<double>& p_values) {
  const auto of_source = losses_in(regions.source, source, regions.words.size());
  const auto of_target = losses_in(regions.target, target, regions.words.size());
  const auto source_error = errors_in(regions.source, source, of_source);
  const auto target_error = errors_in(regions.target, target, of_target);
  const double source_weight = source.weight.sum(), target_weight = target.weight.sum();
  const double whole_range = std::max(source.loss.maxCoeff(), target.loss.maxCoeff()) -
                             std::min(source.loss.minCoeff(), target.loss.minCoeff());
  std::vector<DisagreeingRegion> found;
  for (std::size_t b = 0; b < regions.words.size(); ++b) {
    if (of_source[b].effective() < fewest_rows || of_target[b].effective() < fewest_rows) continue;
    DisagreeingRegion region{.column = name, .words = regions.words[b]};
    region.share = (of_source[b].weight / source_weight + of_target[b].weight / target_weight) / 2;
    region.source = of_source[b].mean();
    region.target = of_target[b].mean();
    region.difference = region.target - region.source;
    const double own_range =
        std::max(of_source[b].most, of_target[b].most) - std::min(of_source[b].least, of_target[b].least);
    const double range = own_range > 0 ? own_range : whole_range;
    region.error = std::hypot(std::max(source_error[b], least_error(of_source[b], explanation.loss, range)),
                              std::max(target_error[b], least_error(of_target[b], explanation.loss, range)));
    region.contribution = region.share * region.difference;
    found.push_back(std::move(region));
  }
  double inverse = 0, mean = 0;
  for (const DisagreeingRegion& region : found) {
    if (!(region.error > 0)) continue;  // all losses are equal
    inverse += 1 / (region.error * region.error);
    mean += region.difference / (region.error * region.error);
  }
  DisagreeingColumn column{.column = name};
  for (const DisagreeingRegion& region : found) {
    if (!(region.error > 0)) continue;
    column.spread += std::pow((region.difference - mean / inverse) / region.error, 2);
    ++column.freedom;
  }
  explanation.regions.insert(explanation.regions.end(), found.begin(), found.end());
  if (--column.freedom < 1) return false;
  p_values.push_back(
      boost::math::cdf(boost::math::complement(boost::math::chi_squared(column.freedom), column.spread)));
  explanation.columns.push_back(column);
  return true;
}

}  // namespace

void find_disagreement(Explanation& explanation, const Dataset& data, const SharedSide& source,
                       const SharedSide& target) {
  const Matrix of_source = values_of(data, source.row), of_target = values_of(data, target.row);
  const std::vector<Column> columns = data.table_columns();
  std::vector<double> p_values;
  Index first = 0;
  for (const Column& column : columns) {
    const auto width = static_cast<Index>(column.width());
    if (column.one_hot()) {
      const Regions regions = category_regions(column.name, column.levels, of_source.middleCols(first, width),
                                               of_target.middleCols(first, width), source, target);
      add_column(explanation, column.name, regions, source, target, p_values);
    } else {
      const Regions regions = number_regions(column.name, of_source.col(first), of_target.col(first), source, target);
      add_column(explanation, column.name, regions, source, target, p_values);
    }
    first += width;
  }
  const std::vector<double> adjusted = holm(p_values);
  for (std::size_t c = 0; c < adjusted.size(); ++c) explanation.columns[c].p_value = adjusted[c];
  std::ranges::stable_sort(explanation.columns, [](const auto& a, const auto& b) {
    return a.p_value != b.p_value ? a.p_value < b.p_value : a.spread > b.spread;
  });
  // Those that make the relation part what it is come first, whichever sign it has.
  const double sign = explanation.shift && explanation.shift->y_given_x() < 0 ? -1 : 1;
  std::ranges::stable_sort(explanation.regions,
                           [&](const auto& a, const auto& b) { return sign * a.contribution > sign * b.contribution; });
  if (explanation.regions.size() > most_regions) explanation.regions.resize(most_regions);
}

}  // namespace ecotone
