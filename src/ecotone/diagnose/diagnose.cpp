#include "ecotone/diagnose/diagnose.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ecotone/base/error.h"
#include "ecotone/base/progress.h"
#include "ecotone/data/categories.h"
#include "ecotone/diagnose/comparison.h"
#include "ecotone/diagnose/parts.h"
#include "ecotone/kernels/bandwidth.h"
#include "ecotone/kernels/domain_sums.h"

namespace ecotone {
namespace {

constexpr Index variance_rows = 20000;      // of all domains together
constexpr Index rows_together = 400000;     // used by the tests of all comparisons
constexpr Index least_rows_per_side = 200;  // however many comparisons there are
constexpr std::size_t features_shown = 5;   // of a comparison
constexpr double hardly_overlap = 0.95;     // AUROC or KS
constexpr double rounding = 1e-12;          // of sums of kernel values, which are 1 at most

/// Which of the domains are targets; all false if none are given.
std::vector<bool> target_flags(const Dataset& data, const std::vector<std::string>& targets) {
  const auto& names = data.domain.names;
  std::vector<bool> is_target(names.size(), false);
  for (const std::string& target : targets) {
    const auto found = std::find(names.begin(), names.end(), target);
    if (found == names.end())
      data_error("unknown_domain", "diagnose: no domain '{}'; the domains are {}", target, fmt::join(names, ", "));
    is_target[static_cast<std::size_t>(found - names.begin())] = true;
  }
  return is_target;
}

void check_input(const Dataset& data, const DiagnoseOptions& options, const Context& context) {
  if (data.rows() == 0) data_error("empty_data", "diagnose: the data have no rows");
  if (data.x.cols() == 0) data_error("no_features", "diagnose: the data have no feature column");
  if (data.domain.count() < 2)
    data_error("needs_two_domains",
               "diagnose: at least two domains are needed to compare, got one; name the column with --domain");
  if (options.permutations < 1)
    option_error("bad_option", "diagnose: permutations must be at least 1, got {}", options.permutations);
  if (options.sample < 10) option_error("bad_option", "diagnose: sample must be at least 10, got {}", options.sample);
  if (data.weight.size() > 0) context.note("diagnose: row weights are ignored");
}

/// A comparison to make; b = -1 means all other domains.
struct Wanted {
  Index a, b;
};

std::vector<Wanted> wanted_pairs(const std::vector<bool>& is_target) {
  const auto domains = static_cast<Index>(is_target.size());
  const bool targets = std::find(is_target.begin(), is_target.end(), true) != is_target.end();
  std::vector<Wanted> wanted;
  if (!targets && domains > most_paired_domains) return wanted;
  for (Index a = 0; a < domains; ++a)
    for (Index b = a + 1; b < domains; ++b) {
      const bool first = is_target[static_cast<std::size_t>(a)];
      if (!targets || first || is_target[static_cast<std::size_t>(b)])
        wanted.push_back(targets && first ? Wanted{b, a} : Wanted{a, b});  // the target comes second
    }
  return wanted;
}

/// Fewer rows if there are very many comparisons.
Index rows_per_side(const DiagnoseOptions& options, std::size_t comparisons) {
  const Index fair = rows_together / static_cast<Index>(2 * comparisons);
  return std::min(options.sample, std::max(least_rows_per_side, fair));
}

std::vector<Comparison> compare_all(const ComparisonPlan& plan, const std::vector<Wanted>& wanted,
                                    const Context& context) {
  std::vector<Comparison> result(wanted.size());
  const auto tasks = static_cast<Index>(wanted.size());
  Progress progress(context.observer(), "diagnose", tasks);
  const auto run = [&](Index t) {
    const Wanted& one = wanted[static_cast<std::size_t>(t)];
    result[static_cast<std::size_t>(t)] = compare_domains(plan, one.a, one.b, context);
    progress.advance();
  };
  // Run many comparisons in parallel, or few one after another with all threads inside.
  if (tasks >= 4 * context.threads()) {
    context.parallel(tasks, run);
  } else {
    for (Index t = 0; t < tasks; ++t) run(t);
  }
  return result;
}

void adjust(std::vector<Comparison>& comparisons) {
  std::vector<double> p;
  for (const auto& one : comparisons)
    if (one.p) p.push_back(*one.p);
  const auto q = benjamini_hochberg(p);
  std::size_t next = 0;
  for (auto& one : comparisons)
    if (one.p) one.q = q[next++];
}

/// Shifts beyond chance come first: with few values, the distance is large by itself.
bool more_shifted(const FeatureShift& a, const FeatureShift& b) {
  if ((a.q <= shift_level) != (b.q <= shift_level)) return a.q <= shift_level;
  if (a.ks != b.ks) return a.ks > b.ks;
  return std::abs(a.smd.value_or(INFINITY)) > std::abs(b.smd.value_or(INFINITY));
}

/// Adjusts all p-values together; keeps each feature with the domain in which its distance is largest.
std::vector<FeatureShift> rank_features(std::vector<Comparison>& against_rest) {
  std::vector<double> p;
  for (const auto& one : against_rest)
    for (const auto& shift : one.features) p.push_back(shift.p);
  const auto q = benjamini_hochberg(p);
  std::size_t next = 0;
  std::vector<FeatureShift> ranked;
  for (auto& one : against_rest)
    for (std::size_t j = 0; j < one.features.size(); ++j) {
      one.features[j].q = q[next++];
      if (j == ranked.size()) {
        ranked.push_back(one.features[j]);
      } else if (more_shifted(one.features[j], ranked[j])) {
        ranked[j] = one.features[j];
      }
    }
  std::stable_sort(ranked.begin(), ranked.end(), more_shifted);
  return ranked;
}

/// Within one pair.
void adjust_features(std::vector<Comparison>& pairs) {
  for (auto& pair : pairs) {
    std::vector<double> p;
    for (const auto& shift : pair.features) p.push_back(shift.p);
    const auto q = benjamini_hochberg(p);
    for (std::size_t j = 0; j < q.size(); ++j) pair.features[j].q = q[j];
  }
}

void keep_most_shifted(std::vector<Comparison>& comparisons) {
  for (auto& one : comparisons) {
    std::stable_sort(one.features.begin(), one.features.end(), more_shifted);
    if (one.features.size() > features_shown) one.features.resize(features_shown);
  }
}

/// The farthest first; what cannot be compared comes last.
void sort_by_distance(std::vector<Comparison>& comparisons) {
  const auto distance = [](const Comparison& one) { return one.mmd2.value_or(-INFINITY); };
  std::ranges::stable_sort(comparisons, std::ranges::greater(), distance);
}

double without_rounding(double value) { return std::abs(value) < rounding ? 0 : value; }

/// The bandwidth, and the distributional variance with it.
void embed(Diagnosis& result, const ShiftSample& sample, const Context& context) {
  ShiftSample::Rows rows;
  std::vector<std::int32_t> domain;
  const Index each = std::clamp<Index>(variance_rows / sample.domains(), 2, sample.most());
  for (Index d = 0; d < sample.domains(); ++d) {
    const auto own = sample.first(d, each);
    rows.insert(rows.end(), own.begin(), own.end());
    domain.insert(domain.end(), own.size(), static_cast<std::int32_t>(d));
  }
  const Matrix x = sample.matrix(rows);
  const Bandwidth bandwidth = median_bandwidth(x, context);
  result.sigma = bandwidth.sigma;
  result.sigma_rows = bandwidth.rows;
  const DomainSums sums = rbf_domain_sums(x, domain, sample.domains(), bandwidth.sigma, context);
  // tr(KQ) is not negative.
  result.variance = std::max(0.0, without_rounding(sums.distributional_variance()));
  result.unbiased_variance = without_rounding(sums.unbiased_distributional_variance());
  result.variance_rows = x.rows();
}

}  // namespace

bool Comparison::apart() const {
  if (auroc && *auroc >= hardly_overlap) return true;
  return !features.empty() && features.front().q <= shift_level && features.front().ks >= hardly_overlap;
}

bool Diagnosis::sampled() const {
  const auto part = [](const Comparison& one) { return one.used_a < one.rows_a || one.used_b < one.rows_b; };
  return std::any_of(pairs.begin(), pairs.end(), part) || std::any_of(against_rest.begin(), against_rest.end(), part);
}

Diagnosis diagnose(const Dataset& given, const DiagnoseOptions& options, const Context& context) {
  const Dataset data = levels_to_compare(given, context);
  check_input(data, options, context);
  const std::vector<bool> is_target = target_flags(data, options.targets);
  const DomainMoments moments = domain_moments(data, context);
  std::vector<Wanted> wanted = wanted_pairs(is_target);
  const auto pairs = static_cast<std::ptrdiff_t>(wanted.size());
  for (Index d = 0; d < data.domain.count(); ++d)
    if (options.targets.empty() || is_target[static_cast<std::size_t>(d)]) wanted.push_back({d, -1});
  const ShiftSample sample(data, moments, rows_per_side(options, wanted.size()), context);
  Diagnosis result;
  result.rows = data.rows();
  result.features = data.x.cols();
  result.domain_word = data.schema.domain.empty() ? "domain" : data.schema.domain;
  result.domains = data.domain.names;
  for (Index d = 0; d < sample.domains(); ++d) result.domain_rows.push_back(sample.total(d));
  result.sample = sample.most();
  result.permutations = options.permutations;
  embed(result, sample, context);

  const std::vector<bool> category = category_flags(data);
  auto comparisons = compare_all({data, moments, sample, options, result.sigma, category}, wanted, context);
  result.pairs.assign(comparisons.begin(), comparisons.begin() + pairs);
  result.against_rest.assign(comparisons.begin() + pairs, comparisons.end());
  adjust(result.pairs);
  adjust(result.against_rest);
  adjust_features(result.pairs);
  result.feature_shift = rank_features(result.against_rest);
  add_shift_table(result);
  keep_most_shifted(result.pairs);
  keep_most_shifted(result.against_rest);
  sort_by_distance(result.pairs);
  // Two domains are equally far from each other, but for rounding.
  if (data.domain.count() > 2) sort_by_distance(result.against_rest);
  add_map(result, context);
  add_labels(result, data);
  add_missing(result, data, moments);
  add_advice(result);
  return result;
}

}  // namespace ecotone
