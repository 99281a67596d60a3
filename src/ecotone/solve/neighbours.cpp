#include "ecotone/solve/neighbours.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/base/file.h"
#include "ecotone/linalg/single.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ecotone {
namespace {

constexpr Index query_tile = 384;
constexpr Index reference_tile = 384;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double single_unit = 0x1p-24;  // half the distance from 1 to the next float

Index parts(Index size, Index part) { return (size + part - 1) / part; }

/// The smallest float that is not below the value.
float rounded_up(double value) {
  const auto nearest = static_cast<float>(value);
  return static_cast<double>(nearest) >= value ? nearest
                                               : std::nextafter(nearest, std::numeric_limits<float>::infinity());
}

/// The rows in single precision, moved to a common origin and scaled so that no entry is above 1, with one more column.
///
/// With n = ||x||^2 of moved and scaled rows, a query row is (x_i, 1) and a reference row (-2 x_j, (1 - 2c) n_j), so
/// that their product is g_ij ~ ||x_i - x_j||^2 - n_i - 2c n_j. A sum of d + 1 products of rounded floats errs by at
/// most (d + 5) u (n_j + 2 sqrt(n_i n_j)) <= c (n_i + 2 n_j), u = 2^-24; c is larger than that by more than the errors
/// of double precision. Hence, with `tiny` for what underflows,
///   ||x_i - x_j||^2 >= g_ij + (1 - c) n_i - tiny,
///   ||x_i - x_j||^2 <= g_ij + (1 + c) n_i + 4c n_j + tiny.
struct Filter {
  double scale = 1;  ///< a power of two
  double c = 0;
  double tiny = 0;
  Vector query_norm;
  Vector reference_norm;
  SingleMatrix query;
  SingleMatrix reference;
};

/// Fills one side of the filter: rows (factor * scale * (x - origin), last(n)).
template <class Last>
void fill(ConstMatrixView x, const Eigen::RowVectorXd& origin, double scale, double factor, SingleMatrix& rows,
          Vector& norms, const Last& last, const Context& context) {
  const Index d = x.cols();
  rows.resize(x.rows(), d + 1);
  norms.resize(x.rows());
  context.parallel(parts(x.rows(), reference_tile), [&](Index t) {
    Eigen::RowVectorXd row(d);
    for (Index i = t * reference_tile; i < std::min(x.rows(), (t + 1) * reference_tile); ++i) {
      row = (x.row(i) - origin) * scale;
      norms[i] = row.squaredNorm();
      rows.row(i).head(d) = (factor * row).cast<float>();
      rows(i, d) = static_cast<float>(last(norms[i]));
    }
  });
}

double largest_entry(ConstMatrixView x, const Eigen::RowVectorXd& origin) {
  double largest = 0;
  for (Index i = 0; i < x.rows(); ++i) largest = std::max(largest, (x.row(i) - origin).cwiseAbs().maxCoeff());
  return largest;
}

Filter make_filter(ConstMatrixView query, ConstMatrixView reference, const Context& context) {
  const auto d = static_cast<double>(query.cols());
  const Eigen::RowVectorXd origin = reference.colwise().mean();
  const double largest = std::max(largest_entry(query, origin), largest_entry(reference, origin));
  Filter filter;
  if (largest > 0) filter.scale = std::ldexp(1.0, -std::clamp(std::ilogb(largest) + 1, -500, 500));
  filter.c = 1.1 * (d + 8) * single_unit;
  filter.tiny = (d + 4) * 0x1p-120;
  fill(
      query, origin, filter.scale, 1.0, filter.query, filter.query_norm, [](double) { return 1.0; }, context);
  const double less = 1 - 2 * filter.c;
  fill(
      reference, origin, filter.scale, -2.0, filter.reference, filter.reference_norm,
      [less](double norm) { return less * norm; }, context);
  return filter;
}

/// What is looked for, among what.
struct Search {
  ConstMatrixView query;
  ConstMatrixView reference;
  Index k;
  Self self;
  const Filter& filter;
};

/// A reference row that may be a neighbour, with its product g.
struct Candidate {
  float product;
  Index row;
};

/// A reference row with its exact squared distance: what is compared first.
using Measured = std::pair<double, Index>;

/// The candidates of one query row. Their number is bounded: when there are too many, those that cannot be among the k
/// nearest are left out; where that helps little (rows that lie together), the others are measured.
class Candidates {
 public:
  Candidates(const Search& search, Index query)
      : search_(search),
        query_(query),
        k_(static_cast<std::size_t>(search.k)),
        left_out_(search.self == Self::leave_out ? query : Index{-1}),
        few_(2 * k_ + 16),
        many_(8 * few_),
        limit_(few_) {}

  /// Products above this are not of a neighbour.
  float threshold() const { return threshold_; }

  void add(float product, Index row) {
    if (row == left_out_) return;
    found_.push_back({product, row});
    if (found_.size() < limit_) return;
    shrink();
    if (found_.size() > many_) measure();
    limit_ = std::max(few_, 2 * found_.size());
  }

  /// The k nearest, in order.
  const std::vector<Measured>& settle() {
    shrink();
    measure();
    return nearest_;
  }

 private:
  const Search& search_;
  Index query_;
  std::size_t k_;
  Index left_out_;
  std::size_t few_;
  std::size_t many_;
  std::size_t limit_;
  float threshold_ = std::numeric_limits<float>::infinity();
  std::vector<Candidate> found_;
  std::vector<Measured> nearest_;
  std::vector<double> upper_;

  double norm() const { return search_.filter.query_norm[query_]; }

  /// Lowers the threshold to an upper bound of the k-th distance, here without n_i: a lower bound above it is not of a
  /// neighbour.
  void lower_threshold(double bound) {
    // g + (1 - c) n_i - tiny > bound + n_i
    const Filter& filter = search_.filter;
    threshold_ = std::min(threshold_, rounded_up(bound + filter.c * norm() + filter.tiny));
  }

  void shrink() {
    if (found_.size() <= k_) return;
    const Filter& filter = search_.filter;
    upper_.clear();
    for (const Candidate& each : found_) {
      upper_.push_back(static_cast<double>(each.product) + 4 * filter.c * filter.reference_norm[each.row]);
    }
    const auto kth = upper_.begin() + static_cast<std::ptrdiff_t>(k_ - 1);
    std::nth_element(upper_.begin(), kth, upper_.end());
    lower_threshold(*kth + filter.c * norm() + filter.tiny);
    std::erase_if(found_, [&](const Candidate& each) { return each.product > threshold_; });
  }

  /// Measures the candidates from differences and keeps the k nearest of all that were measured.
  void measure() {
    for (const Candidate& each : found_) {
      nearest_.emplace_back((search_.query.row(query_) - search_.reference.row(each.row)).squaredNorm(), each.row);
    }
    found_.clear();
    const auto kept = static_cast<std::ptrdiff_t>(std::min(k_, nearest_.size()));
    std::partial_sort(nearest_.begin(), nearest_.begin() + kept, nearest_.end());
    nearest_.resize(static_cast<std::size_t>(kept));
    if (nearest_.size() < k_) return;
    const double scale = search_.filter.scale;
    lower_threshold(nearest_.back().first * scale * scale - norm());
  }
};

void plain_scan(const float* product, Index count, Index first, Candidates& candidates) {
  for (Index j = 0; j < count; ++j) {
    if (product[j] <= candidates.threshold()) candidates.add(product[j], first + j);
  }
}

#if defined(__x86_64__)
/// The same, 32 products at a time: nearly all of them are above the threshold.
[[gnu::target("avx2")]] void wide_scan(const float* product, Index count, Index first, Candidates& candidates) {
  Index j = 0;
  for (; j + 32 <= count; j += 32) {
    const __m256 limit = _mm256_set1_ps(candidates.threshold());
    const __m256 a = _mm256_cmp_ps(_mm256_loadu_ps(product + j), limit, _CMP_LE_OQ);
    const __m256 b = _mm256_cmp_ps(_mm256_loadu_ps(product + j + 8), limit, _CMP_LE_OQ);
    const __m256 c = _mm256_cmp_ps(_mm256_loadu_ps(product + j + 16), limit, _CMP_LE_OQ);
    const __m256 d = _mm256_cmp_ps(_mm256_loadu_ps(product + j + 24), limit, _CMP_LE_OQ);
    if (_mm256_movemask_ps(_mm256_or_ps(_mm256_or_ps(a, b), _mm256_or_ps(c, d))) == 0) continue;
    auto bits = static_cast<std::uint32_t>(_mm256_movemask_ps(a)) |
                static_cast<std::uint32_t>(_mm256_movemask_ps(b)) << 8U |
                static_cast<std::uint32_t>(_mm256_movemask_ps(c)) << 16U |
                static_cast<std::uint32_t>(_mm256_movemask_ps(d)) << 24U;
    for (; bits != 0; bits &= bits - 1) {
      const Index at = j + std::countr_zero(bits);
      candidates.add(product[at], first + at);
    }
  }
  plain_scan(product + j, count - j, first + j, candidates);
}
#endif

/// Adds the products of one query row with reference rows [first, first + count) that are not above its threshold.
void scan(const float* product, Index count, Index first, Candidates& candidates) {
#if defined(__x86_64__)
  static const bool wide = __builtin_cpu_supports("avx2");
  if (wide) return wide_scan(product, count, first, candidates);
#endif
  plain_scan(product, count, first, candidates);
}

void search_tile(const Search& search, Index first, Neighbours& result) {
  const Filter& filter = search.filter;
  const Index rows = std::min(query_tile, search.query.rows() - first);
  std::vector<Candidates> candidates;
  candidates.reserve(static_cast<std::size_t>(rows));
  for (Index i = first; i < first + rows; ++i) candidates.emplace_back(search, i);
  SingleMatrix products(rows, std::min(reference_tile, search.reference.rows()));
  for (Index j = 0; j < search.reference.rows(); j += reference_tile) {
    const Index cols = std::min(reference_tile, search.reference.rows() - j);
    multiply_by_transpose(filter.query.middleRows(first, rows), filter.reference.middleRows(j, cols),
                          products.leftCols(cols));
    for (Index i = 0; i < rows; ++i) {
      scan(products.data() + i * products.cols(), cols, j, candidates[static_cast<std::size_t>(i)]);
    }
  }
  for (Index i = 0; i < rows; ++i) {
    const std::vector<Measured>& nearest = candidates[static_cast<std::size_t>(i)].settle();
    for (Index j = 0; j < search.k; ++j) {
      const Measured& each = nearest[static_cast<std::size_t>(j)];
      result.squared_distance(first + i, j) = each.first;
      result.index(first + i, j) = each.second;
    }
  }
}

/// Rows are finite, and so is the square of any distance between them.
void check_finite(ConstMatrixView x, const char* who) {
  for (Index i = 0; i < x.rows(); ++i) {
    if (!x.row(i).allFinite()) data_error("non_finite", "{}: row {} holds a value that is not finite", who, i + 1);
    // ||x - y||^2 <= 2 ||x||^2 + 2 ||y||^2
    if (!std::isfinite(4 * x.row(i).squaredNorm())) {
      data_error("non_finite", "{}: the values of row {} are too large to measure distances", who, i + 1);
    }
  }
}

void check(ConstMatrixView query, ConstMatrixView reference, Index k, Self self, const char* who) {
  if (query.cols() != reference.cols()) {
    data_error("shape_mismatch", "{}: {} columns to look up among {}", who, query.cols(), reference.cols());
  }
  const Index others = reference.rows() - (self == Self::leave_out ? 1 : 0);
  if (self == Self::leave_out && query.rows() > reference.rows()) {
    data_error("shape_mismatch", "{}: {} rows are not among {} rows", who, query.rows(), reference.rows());
  }
  if (k < 1 || k > others) {
    data_error("bad_k", "{}: k must be from 1 to the {} rows there are to choose from, got {}", who,
               std::max<Index>(others, 0), k);
  }
  check_finite(query, who);
  check_finite(reference, who);
  const auto bytes = static_cast<std::size_t>((query.rows() + reference.rows()) * (query.cols() + 3)) * sizeof(float) +
                     static_cast<std::size_t>(query.rows() * k) * (sizeof(double) + sizeof(Index));
  require_memory(bytes, who, "finding neighbours", "use fewer rows");
}

}  // namespace

Neighbours nearest_neighbours(ConstMatrixView query, ConstMatrixView reference, Index k, Self self,
                              const Context& context, const char* who) {
  check(query, reference, k, self, who);
  Neighbours result;
  result.index.resize(query.rows(), k);
  result.squared_distance.resize(query.rows(), k);
  const Filter filter = make_filter(query, reference, context);
  const Search search{query, reference, k, self, filter};
  context.parallel(parts(query.rows(), query_tile), [&](Index t) { search_tile(search, t * query_tile, result); });
  return result;
}

}  // namespace ecotone
