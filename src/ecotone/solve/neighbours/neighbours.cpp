#include "ecotone/solve/neighbours/neighbours.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/base/simd.h"
#include "ecotone/linalg/single.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ecotone {
namespace {

constexpr Index neighbour_tile = 384;
constexpr double single_unit = 0x1p-24;  // half the distance from 1 to the next float

Index parts(Index size) { return (size + neighbour_tile - 1) / neighbour_tile; }

/// The smallest float that is not below the value.
float rounded_up(double value) {
  const auto nearest = static_cast<float>(value);
  return static_cast<double>(nearest) >= value ? nearest
                                               : std::nextafter(nearest, std::numeric_limits<float>::infinity());
}

/// The rows in single precision, shifted to a common origin and scaled so that no entry exceeds 1, with two more
/// columns.
///
/// With n = (1 - 2c) ||x||^2 of shifted and scaled rows, a query row is (x_i, 1, n_i) and a reference row (-2 x_j, n_j,
/// 1), so that their product is g_ij ~ ||x_i - x_j||^2 - 2c (||x_i||^2 + ||x_j||^2). A sum of d + 2 products of rounded
/// floats has an error of at most (d + 6) u (||x_i|| + ||x_j||)^2 <= 2c (||x_i||^2 + ||x_j||^2), u = 2^-24; c is larger
/// than that by more than the errors of double precision. Hence, with `tiny` for underflow,
///   g_ij - tiny <= ||x_i - x_j||^2 <= g_ij + 4c (||x_i||^2 + ||x_j||^2) + tiny.
struct Filter {
  double scale = 1;  ///< a power of two
  double c = 0;
  double tiny = 0;
  Vector query_norm;      ///< ||x||^2
  Vector reference_norm;  ///< ||x||^2
  SingleMatrix query;
  SingleMatrix reference;
};

/// Which of the extra columns holds n; the other holds 1.
enum class Side { query, reference };

/// Fills one side of the filter.
void fill(ConstMatrixView x, const Eigen::RowVectorXd& origin, Side side, const Filter& filter, SingleMatrix& rows,
          Vector& norms, const Context& context) {
  const Index d = x.cols();
  const bool query = side == Side::query;
  rows.resize(x.rows(), d + 2);
  norms.resize(x.rows());
  context.parallel(parts(x.rows()), [&](Index t) {
    Eigen::RowVectorXd row(d);
    for (Index i = t * neighbour_tile; i < std::min(x.rows(), (t + 1) * neighbour_tile); ++i) {
      row = (x.row(i) - origin) * filter.scale;
      norms[i] = row.squaredNorm();
      rows.row(i).head(d) = ((query ? 1.0 : -2.0) * row).cast<float>();
      rows(i, query ? d : d + 1) = 1;
      rows(i, query ? d + 1 : d) = static_cast<float>((1 - 2 * filter.c) * norms[i]);
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
  // For single precision, and for distances in the given units.
  filter.tiny = (d + 4) * (0x1p-120 + 0x1p-1070 * filter.scale * filter.scale);
  fill(query, origin, Side::query, filter, filter.query, filter.query_norm, context);
  fill(reference, origin, Side::reference, filter, filter.reference, filter.reference_norm, context);
  return filter;
}

/// The query rows, the reference rows and what to search for.
struct NeighbourSearch {
  ConstMatrixView query;
  ConstMatrixView reference;
  Index k;
  Self self;
  const Filter& filter;
};

/// A reference row that may be a neighbour, with its product g.
struct NearRow {
  float product;
  std::int32_t row;
};

/// A reference row with its exact squared distance, which is compared first.
using Measured = std::pair<double, Index>;

/// The candidates of one query row. Their number is bounded: if there are too many, those that cannot be among the k
/// nearest are dropped; if that helps little (many close rows), the rest are measured. What remains does not depend on
/// the order in which they came.
class Candidates {
 public:
  /// `threshold` is kept up to date: a product above it cannot belong to a neighbour.
  Candidates(const NeighbourSearch& search, Index query, float& threshold)
      : search_(&search), query_(query), threshold_(&threshold), limit_(few()) {
    threshold = std::numeric_limits<float>::infinity();
    found_.reserve(limit_);
  }

  void add(float product, Index row) {
    if (row == query_ && search_->self == Self::leave_out) return;
    found_.push_back({product, static_cast<std::int32_t>(row)});
    if (found_.size() < limit_) return;
    shrink();
    if (found_.size() > 8 * few()) measure();
    limit_ = std::max(few(), 2 * found_.size());
  }

  /// The k nearest, in order.
  const std::vector<Measured>& settle() {
    shrink();
    measure();
    return nearest_;
  }

 private:
  const NeighbourSearch* search_;
  Index query_;
  float* threshold_;
  std::size_t limit_;
  std::vector<NearRow> found_;
  std::vector<Measured> nearest_;

  std::size_t k() const { return static_cast<std::size_t>(search_->k); }
  std::size_t few() const { return 2 * k() + 16; }

  /// `bound` is at least the k-th squared distance, scaled: a product above it by more than `tiny` cannot belong to a
  /// neighbour.
  void lower_threshold(double bound) { *threshold_ = std::min(*threshold_, rounded_up(bound + search_->filter.tiny)); }

  void shrink() {
    if (found_.size() <= k()) return;
    const Filter& filter = search_->filter;
    const auto kth = found_.begin() + static_cast<std::ptrdiff_t>(k());
    std::nth_element(found_.begin(), kth - 1, found_.end(),
                     [](const NearRow& a, const NearRow& b) { return a.product < b.product; });
    // The largest upper bound of k distances.
    double norm = 0;
    for (auto each = found_.begin(); each != kth; ++each) norm = std::max(norm, filter.reference_norm[each->row]);
    lower_threshold(static_cast<double>(kth[-1].product) + 4 * filter.c * (filter.query_norm[query_] + norm) +
                    filter.tiny);
    const float threshold = *threshold_;
    found_.erase(std::remove_if(kth, found_.end(), [&](const NearRow& each) { return each.product > threshold; }),
                 found_.end());
  }

  /// Measures the candidates from differences and keeps the k nearest of all measured rows.
  void measure() {
    for (const NearRow& each : found_) {
      nearest_.emplace_back((search_->query.row(query_) - search_->reference.row(each.row)).squaredNorm(), each.row);
    }
    found_.clear();
    const auto kept = static_cast<std::ptrdiff_t>(std::min(k(), nearest_.size()));
    std::partial_sort(nearest_.begin(), nearest_.begin() + kept, nearest_.end());
    nearest_.resize(static_cast<std::size_t>(kept));
    if (nearest_.size() < k()) return;
    const double scale = search_->filter.scale;
    lower_threshold(nearest_.back().first * scale * scale * (1 + 1e-12));
  }
};

/// Candidates and thresholds of query rows [first, first + size).
struct Lists {
  Index first;
  std::vector<float> threshold;
  std::vector<Candidates> candidates;

  Lists(const NeighbourSearch& search, Index begin, Index size)
      : first(begin), threshold(static_cast<std::size_t>(size)) {
    candidates.reserve(threshold.size());
    for (Index i = 0; i < size; ++i) candidates.emplace_back(search, begin + i, threshold[at(i)]);
  }
  // The candidates point to the thresholds.
  Lists(Lists&&) = default;
  Lists(const Lists&) = delete;
};

/// The products of one query row with the reference rows of a tile, which may be query rows too.
struct ProductRow {
  const float* product;
  Index count;
  Lists& rows;
  Index row;              ///< in `rows`
  Index first_reference;  ///< of the tile
  Lists* columns;         ///< the reference rows as query rows; null: they are not query rows

  void add_to_row(Index j) const { rows.candidates[at(row)].add(product[j], first_reference + j); }
  void add_to_column(Index j) const { columns->candidates[at(j)].add(product[j], rows.first + row); }
};

void plain_scan(const ProductRow& r, Index begin) {
  const float& limit = r.rows.threshold[at(r.row)];
  for (Index j = begin; j < r.count; ++j) {
    if (r.product[j] <= limit) r.add_to_row(j);
    if (r.columns != nullptr && r.product[j] <= r.columns->threshold[at(j)]) r.add_to_column(j);
  }
}

#if defined(__x86_64__)
/// The same, 16 products at a time: nearly all of them are above the thresholds.
[[gnu::target("avx2")]] void wide_scan(const ProductRow& r) {
  const float& limit = r.rows.threshold[at(r.row)];
  const float* const limits = r.columns == nullptr ? nullptr : r.columns->threshold.data();
  Index j = 0;
  for (; j + 16 <= r.count; j += 16) {
    const __m256 a = _mm256_loadu_ps(r.product + j);
    const __m256 b = _mm256_loadu_ps(r.product + j + 8);
    const __m256 row = _mm256_set1_ps(limit);
    const __m256 row_a = _mm256_cmp_ps(a, row, _CMP_LE_OQ);
    const __m256 row_b = _mm256_cmp_ps(b, row, _CMP_LE_OQ);
    __m256 column_a = _mm256_setzero_ps();
    __m256 column_b = _mm256_setzero_ps();
    if (limits != nullptr) {
      column_a = _mm256_cmp_ps(a, _mm256_loadu_ps(limits + j), _CMP_LE_OQ);
      column_b = _mm256_cmp_ps(b, _mm256_loadu_ps(limits + j + 8), _CMP_LE_OQ);
    }
    if (_mm256_movemask_ps(_mm256_or_ps(_mm256_or_ps(row_a, row_b), _mm256_or_ps(column_a, column_b))) == 0) continue;
    auto bits = static_cast<std::uint32_t>(_mm256_movemask_ps(row_a) | _mm256_movemask_ps(row_b) << 8);
    for (; bits != 0; bits &= bits - 1) r.add_to_row(j + std::countr_zero(bits));
    bits = static_cast<std::uint32_t>(_mm256_movemask_ps(column_a) | _mm256_movemask_ps(column_b) << 8);
    for (; bits != 0; bits &= bits - 1) r.add_to_column(j + std::countr_zero(bits));
  }
  plain_scan(r, j);
}
#endif

/// Adds the products that are not above their thresholds.
void scan(const ProductRow& row) {
#if defined(__x86_64__)
  if (may_use(Instructions::avx2)) return wide_scan(row);
#endif
  plain_scan(row, 0);
}

void scan_tile(const SingleMatrix& products, Lists& rows, Index first_reference, Lists* columns) {
  for (Index i = 0; i < products.rows(); ++i) {
    scan({products.data() + i * products.cols(), products.cols(), rows, i, first_reference, columns});
  }
}

SingleMatrix tile_products(const Filter& filter, Index i, Index j) {
  SingleMatrix products(std::min(neighbour_tile, filter.query.rows() - i),
                        std::min(neighbour_tile, filter.reference.rows() - j));
  multiply_by_transpose(filter.query.middleRows(i, products.rows()), filter.reference.middleRows(j, products.cols()),
                        products);
  return products;
}

void settle(Lists& lists, Neighbours& result) {
  for (std::size_t i = 0; i < lists.candidates.size(); ++i) {
    const std::vector<Measured>& nearest = lists.candidates[i].settle();
    const Index row = lists.first + static_cast<Index>(i);
    for (Index j = 0; j < result.index.cols(); ++j) {
      const Measured& each = nearest[at(j)];
      result.squared_distance(row, j) = each.first;
      result.index(row, j) = each.second;
    }
  }
}

/// Query rows by tiles, each against all reference rows.
void search_all(const NeighbourSearch& search, Neighbours& result, const Context& context) {
  context.parallel(parts(search.query.rows()), [&](Index t) {
    Lists lists(search, t * neighbour_tile, std::min(neighbour_tile, search.query.rows() - t * neighbour_tile));
    for (Index j = 0; j < search.reference.rows(); j += neighbour_tile) {
      scan_tile(tile_products(search.filter, t * neighbour_tile, j), lists, j, nullptr);
    }
    settle(lists, result);
  });
}

/// For neighbours among the rows themselves: each product serves both of its rows, so half of the tiles suffice. Tiles
/// of different tasks may involve the same rows, one after the other; their order does not affect the result.
void search_pairs(const NeighbourSearch& search, Neighbours& result, const Context& context) {
  const Index n = search.query.rows();
  const Index tiles = parts(n);
  std::vector<Lists> lists;
  lists.reserve(static_cast<std::size_t>(tiles));
  for (Index t = 0; t < tiles; ++t)
    lists.emplace_back(search, t * neighbour_tile, std::min(neighbour_tile, n - t * neighbour_tile));
  std::vector<std::mutex> busy(static_cast<std::size_t>(tiles));
  // Tile t with tile t + apart; neighbouring tasks have no tile in common, except for apart = 1.
  std::vector<std::pair<Index, Index>> tasks;
  for (Index apart = 0; apart < tiles; ++apart) {
    for (Index t = 0; t + apart < tiles; ++t) tasks.emplace_back(t, t + apart);
  }
  context.parallel(static_cast<Index>(tasks.size()), [&](Index task) {
    const auto i = static_cast<std::size_t>(tasks[at(task)].first);
    const auto j = static_cast<std::size_t>(tasks[at(task)].second);
    const SingleMatrix products = tile_products(search.filter, lists[i].first, lists[j].first);
    const std::lock_guard first(busy[i]);
    if (i == j) return scan_tile(products, lists[i], lists[i].first, nullptr);
    const std::lock_guard second(busy[j]);
    scan_tile(products, lists[i], lists[j].first, &lists[j]);
  });
  context.parallel(tiles, [&](Index t) { settle(lists[at(t)], result); });
}

/// Checks that rows are finite, and so is the square of any distance between them.
void check_finite(ConstMatrixView x, const char* who) {
  for (Index i = 0; i < x.rows(); ++i) {
    if (!x.row(i).allFinite()) data_error("non_finite", "{}: row {} holds a value that is not finite", who, i + 1);
    // ||x - y||^2 <= 2 ||x||^2 + 2 ||y||^2
    if (!std::isfinite(4 * x.row(i).squaredNorm())) {
      data_error("non_finite", "{}: the values of row {} are too large to compute distances", who, i + 1);
    }
  }
}

void check(ConstMatrixView query, ConstMatrixView reference, Index k, Self self, bool pairs, const char* who) {
  if (query.cols() != reference.cols()) {
    data_error("shape_mismatch", "{}: the query rows have {} columns, the reference rows {}", who, query.cols(),
               reference.cols());
  }
  const Index others = std::max<Index>(0, reference.rows() - (self == Self::leave_out ? 1 : 0));
  if (self == Self::leave_out && query.rows() > reference.rows()) {
    data_error("shape_mismatch", "{}: {} query rows cannot be among {} reference rows", who, query.rows(),
               reference.rows());
  }
  if (reference.rows() > std::numeric_limits<std::int32_t>::max()) {
    data_error("too_many_rows", "{}: the neighbour search supports up to {} rows, got {}", who,
               std::numeric_limits<std::int32_t>::max(), reference.rows());
  }
  if (k < 1 || k > others) {
    data_error("bad_k", "{}: k must be between 1 and the {} rows to choose from, got {}", who, others, k);
  }
  check_finite(reference, who);
  if (!pairs) check_finite(query, who);
  const auto rows = static_cast<std::size_t>(query.rows());
  const auto singles = (rows + static_cast<std::size_t>(reference.rows())) * static_cast<std::size_t>(query.cols() + 4);
  const auto each = static_cast<std::size_t>(k) * (sizeof(double) + sizeof(Index));
  const std::size_t list = 2 * static_cast<std::size_t>(2 * k + 16) * sizeof(NearRow) + sizeof(Candidates);
  require_memory(singles * sizeof(float) + rows * each + (pairs ? rows * (list + each) : 0), who,
                 "the neighbour search", "use fewer rows");
}

}  // namespace

Neighbours nearest_neighbours(ConstMatrixView query, ConstMatrixView reference, Index k, Self self,
                              const Context& context, const char* who) {
  const bool pairs = query.data() == reference.data() && query.rows() == reference.rows() &&
                     query.outerStride() == reference.outerStride();
  check(query, reference, k, self, pairs, who);
  Neighbours result;
  result.index.resize(query.rows(), k);
  result.squared_distance.resize(query.rows(), k);
  const Filter filter = make_filter(query, reference, context);
  const NeighbourSearch search{query, reference, k, self, filter};
  if (pairs) {
    search_pairs(search, result, context);
  } else {
    search_all(search, result, context);
  }
  return result;
}

}  // namespace ecotone
