#include "ecotone/diagnose/sample.h"

#include <algorithm>
#include <cmath>

namespace ecotone {
namespace {

constexpr Index most_rows = 50000;                 // of a domain, in linear time
constexpr Index most_cells = Index{4} << 20;       // 32 MB
constexpr Index most_test_cells = Index{1} << 19;  // of one side of a test: classifiers of wide tables are slow
constexpr Index least_sample_rows = 100;

/// Rows per domain such that the sample fits in memory.
Index rows_that_fit(Index domains, Index cols) {
  return std::clamp(most_cells / std::max<Index>(1, domains * cols), least_sample_rows, most_rows);
}

/// Standardised in place with the mean and deviation of all rows; constant columns become 0.
void standardise(Matrix& x, const DomainMoments& moments, const Context& context) {
  Vector mean(x.cols()), factor(x.cols());
  for (Index j = 0; j < x.cols(); ++j) {
    const SampleMoments all = moments.without(-1, j);
    mean[j] = all.mean;
    const double deviation = std::sqrt(all.variance());
    factor[j] = deviation > 0 ? 1 / deviation : 0;
  }
  constexpr Index block = 512;
  context.parallel((x.rows() + block - 1) / block, [&](Index b) {
    for (Index i = b * block; i < std::min(x.rows(), (b + 1) * block); ++i)
      x.row(i) = ((x.row(i).transpose() - mean).array() * factor.array()).matrix().transpose();
  });
}

}  // namespace

ShiftSample::ShiftSample(const Dataset& data, const DomainMoments& moments, Index rows_per_domain,
                         const Context& context)
    : large_(rows_that_fit(data.domain.count(), data.x.cols())) {
  small_ = std::min({rows_per_domain, large_, std::max(least_sample_rows, most_test_cells / data.x.cols())});
  std::vector<Index> rows;
  for (Index d = 0; d < data.domain.count(); ++d) {
    const std::vector<Index> all = data.domain.rows_of(d);
    const auto total = static_cast<Index>(all.size());
    begin_.push_back(static_cast<Index>(rows.size()));
    total_.push_back(total);
    held_.push_back(std::min(total, large_));
    Random random = context.random("diagnose sample", static_cast<std::uint64_t>(d));
    for (const Index i : random.sample(total, held_.back())) rows.push_back(all[static_cast<std::size_t>(i)]);
  }
  x_ = data.x.copy(rows);
  group_ = take_groups(data.group, rows);
  standardise(x_, moments, context);
}

ShiftSample::Rows ShiftSample::first(Index domain, Index rows) const {
  const auto d = static_cast<std::size_t>(domain);
  Rows result;
  for (Index i = 0; i < std::min(rows, held_[d]); ++i) result.push_back(begin_[d] + i);
  return result;
}

ShiftSample::Rows ShiftSample::rest(Index domain, Index rows, const Context& context) const {
  double others = 0;
  for (Index d = 0; d < domains(); ++d)
    if (d != domain) others += static_cast<double>(total_[static_cast<std::size_t>(d)]);
  const double part = std::min(1.0, static_cast<double>(rows) / std::max(1.0, others));
  Rows pool;
  for (Index d = 0; d < domains(); ++d) {
    if (d == domain) continue;
    const auto wanted = std::ceil(part * static_cast<double>(total_[static_cast<std::size_t>(d)]));
    const Rows own = first(d, static_cast<Index>(wanted));
    pool.insert(pool.end(), own.begin(), own.end());
  }
  Random random = context.random("diagnose rest", static_cast<std::uint64_t>(domain));
  Rows result;
  const auto count = static_cast<Index>(pool.size());
  for (const Index i : random.sample(count, std::min(count, rows))) result.push_back(pool[static_cast<std::size_t>(i)]);
  return result;
}

Matrix ShiftSample::matrix(const Rows& rows) const {
  Matrix result(static_cast<Index>(rows.size()), x_.cols());
  for (Index i = 0; i < result.rows(); ++i) {
    const double* const from = x_.data() + rows[static_cast<std::size_t>(i)] * x_.cols();
    double* const to = result.data() + i * x_.cols();
    for (Index j = 0; j < x_.cols(); ++j) to[j] = from[j] == from[j] ? from[j] : 0.0;
  }
  return result;
}

Groups ShiftSample::groups(const Rows& rows, const Rows& more) const {
  Groups result = take_groups(group_, rows);
  for (const std::int32_t group : take_groups(group_, more)) result.push_back(group);
  return result;
}

std::vector<double> ShiftSample::values(const Rows& rows, Index feature) const {
  std::vector<double> result;
  result.reserve(rows.size());
  for (const Index row : rows)
    if (!std::isnan(x_(row, feature))) result.push_back(x_(row, feature));
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace ecotone
