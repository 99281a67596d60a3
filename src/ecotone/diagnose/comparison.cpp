#include "ecotone/diagnose/comparison.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ecotone/kernels/mmd.h"
#include "ecotone/linalg/eigen.h"
#include "ecotone/linalg/products.h"
#include "ecotone/linalg/stacked.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/solve/ratios/density_ratio.h"

namespace ecotone {
namespace {

constexpr Index folds = 5;
constexpr Index least_rows = 5;     // of each sample, for a classifier
constexpr Index block = 200;        // rows of the smaller sample in a block of the linear-time estimate
constexpr Index least_blocks = 20;  // fewer rows say little about the spread
constexpr double far_apart = 5;     // larger standardised mean differences suggest another unit

/// Effective share of rows weighted by exp(log_weight).
double effective_share(const Vector& log_weight) {
  const Vector weight = (log_weight.array() - log_weight.maxCoeff()).exp();
  return effective_sample_size(weight) / static_cast<double>(weight.size());
}

/// 2 (1 - 2 err) of the sign of s - ln(n_a / n_b): both samples count equally, whatever their sizes.
double proxy_distance(const Vector& scores, Index a) {
  const Index b = scores.size() - a;
  const double middle = std::log(static_cast<double>(a) / static_cast<double>(b));
  const auto wrong_a = static_cast<double>((scores.head(a).array() <= middle).count());
  const auto wrong_b = static_cast<double>((scores.tail(b).array() > middle).count());
  const double error = (wrong_a / static_cast<double>(a) + wrong_b / static_cast<double>(b)) / 2;
  return std::max(0.0, 2 * (1 - 2 * error));
}

/// The rows in coordinates of the space that they span, X X' = V L V' -> V L^(1/2), with at most as many columns as
/// rows. Ridge regressions of X and of these coordinates have the same scores.
Matrix spanned(const Matrix& x, const Context& context) {
  const SymmetricEigen found = symmetric_eigen(product(x, Matrix(x.transpose()), context), context);
  Index rank = 1;
  while (rank < found.values.size() && found.values[rank] > 1e-12 * found.values[0]) ++rank;
  return found.vectors.leftCols(rank) * found.values.head(rank).cwiseMax(0.0).cwiseSqrt().asDiagonal();
}

/// AUROC and proxy A-distance on held-out rows; effective shares of the weights from the classifier fitted on all rows.
void classify(Comparison& result, const Matrix& all, Index a, const Groups& group, const Context& context) {
  if (a < least_rows || all.rows() - a < least_rows) return;
  const Matrix both = all.cols() > all.rows() ? spanned(all, context) : all;
  const RatioOptions options{.who = "diagnose", .group = group};
  const Features x = Features::dense(both);
  const Context quiet = context.observed_by(nullptr);
  if (const auto held_out = held_out_scores(x, a, options, folds, quiet)) {
    result.auroc = separation(*held_out, a);
    result.a_distance = proxy_distance(held_out->score, a);
  }
  const LinearFit fit = logistic_ratio(x, a, options, quiet).classifier;
  const Vector score = both * fit.weights.row(0).transpose();
  // ln(p_b / p_a) at a row is a constant minus its score.
  result.ess_a_to_b = effective_share(-score.head(a));
  result.ess_b_to_a = effective_share(score.tail(score.size() - a));
}

/// The permutation test of the used rows.
void test(Comparison& result, const ComparisonPlan& plan, const Matrix& both, Index a, const Context& context) {
  if (a < 2 || both.rows() - a < 2) return;
  const MmdTest found = mmd_test(both, a, plan.sigma, plan.options.permutations, context);
  result.mmd2 = found.mmd2;
  result.p = found.p;
}

/// MMD^2 of as many rows as linear time allows, where not all were used in the test.
void average_blocks(Comparison& result, const ComparisonPlan& plan, const ShiftSample::Rows& a,
                    const ShiftSample::Rows& b, const Context& context) {
  const bool all_used = result.used_a == static_cast<Index>(a.size()) && result.used_b == static_cast<Index>(b.size());
  if (all_used || static_cast<Index>(std::min(a.size(), b.size())) < block * least_blocks) return;
  const BlockMmd blocks = block_mmd(plan.sample.matrix(a), plan.sample.matrix(b), plan.sigma, block, context);
  result.mmd2 = blocks.mmd2;
  result.mmd2_error = blocks.standard_error;
  result.block_p = blocks.p;
}

/// A possible cause of a difference. A category occurs here, there or in both; a constant has no spread to measure a
/// distance in.
std::string_view remark(const SampleMoments& here, const SampleMoments& there, const std::optional<double>& smd,
                        bool category) {
  if (here.count == 0 || there.count == 0) return "";
  if (category) return there.mean == 0 ? "seen only here" : here.mean == 0 ? "never seen here" : "";
  const bool constant = here.m2 == 0 || there.m2 == 0;
  return !constant && smd && std::abs(*smd) > far_apart ? "another unit?" : "";
}

FeatureShift compare_feature(const ComparisonPlan& plan, Index a, Index b, Index feature,
                             const ShiftSample::Rows& rows_a, const ShiftSample::Rows& rows_b) {
  FeatureShift shift;
  shift.feature = plan.data.x.name(feature);
  if (b < 0) shift.domain = plan.data.domain.names[static_cast<std::size_t>(a)];
  const SampleMoments here = plan.moments.of(a, feature);
  const SampleMoments there = b < 0 ? plan.moments.without(a, feature) : plan.moments.of(b, feature);
  shift.smd = standardised_mean_difference(here, there);
  if (b < 0) shift.remark = remark(here, there, shift.smd, plan.category[static_cast<std::size_t>(feature)]);
  const KolmogorovSmirnov ks =
      kolmogorov_smirnov(plan.sample.values(rows_a, feature), plan.sample.values(rows_b, feature));
  shift.ks = ks.statistic;
  shift.p = ks.p;
  return shift;
}

/// The same comparison with the two sides exchanged.
Comparison turned(Comparison one) {
  std::swap(one.a, one.b);
  std::swap(one.rows_a, one.rows_b);
  std::swap(one.used_a, one.used_b);
  std::swap(one.ess_a_to_b, one.ess_b_to_a);
  for (FeatureShift& shift : one.features)
    if (shift.smd) shift.smd = -*shift.smd;
  return one;
}

}  // namespace

Comparison compare_domains(const ComparisonPlan& plan, Index a, Index b, const Context& parent) {
  if (b >= 0 && b < a) return turned(compare_domains(plan, b, a, parent));
  // b + 1 = 0 means all others.
  const auto key = static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(plan.sample.domains() + 1) +
                   static_cast<std::uint64_t>(b + 1);
  const Context context = parent.derived("diagnose comparison", key);
  const ShiftSample& sample = plan.sample;
  const auto& names = plan.data.domain.names;
  Comparison result;
  result.a = names[static_cast<std::size_t>(a)];
  result.b = b < 0 ? "" : names[static_cast<std::size_t>(b)];
  result.rows_a = sample.total(a);
  result.rows_b = b < 0 ? plan.data.rows() - result.rows_a : sample.total(b);
  const auto rows_a = sample.small(a);
  const auto rows_b = b < 0 ? sample.small_rest(a, parent) : sample.small(b);
  result.used_a = static_cast<Index>(rows_a.size());
  result.used_b = static_cast<Index>(rows_b.size());

  const Matrix both = stacked(sample.matrix(rows_a), sample.matrix(rows_b));
  test(result, plan, both, result.used_a, context);
  average_blocks(result, plan, sample.large(a), b < 0 ? sample.large_rest(a, parent) : sample.large(b), context);
  classify(result, both, result.used_a, sample.groups(rows_a, rows_b), context);
  for (Index j = 0; j < sample.cols(); ++j) result.features.push_back(compare_feature(plan, a, b, j, rows_a, rows_b));
  return result;
}

}  // namespace ecotone
