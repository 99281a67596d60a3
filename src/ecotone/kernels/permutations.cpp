// The permutation test of MMD^2. With z = 1 in one sample (s rows) and 0 in the other (t rows), K without its diagonal,
// a = z'Kz, b = z'K1, c = 1'K1:
//   MMD^2(z) = a / (s (s - 1)) + (c - 2 b + a) / (t (t - 1)) - 2 (b - a) / (s t).
// A constant that is subtracted from all of K does not change it; K - mean(K) keeps small what single precision rounds.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "ecotone/base/blocks.h"
#include "ecotone/base/error.h"
#include "ecotone/base/file.h"
#include "ecotone/kernels/mmd.h"
#include "ecotone/kernels/rbf.h"
#include "ecotone/linalg/products.h"
#include "ecotone/linalg/single.h"

namespace ecotone {
namespace {

constexpr Index line = 16;            // columns that share a cache line
constexpr double equal_up_to = 1e-6;  // times the spread of K: what single precision may round

/// z of the observed labels in column 0, of permutation p in column p; columns are filled up to whole lines.
SingleMatrix indicators(Index rows, Index first, Index permutations, const Context& context) {
  const Index lines = (permutations + line) / line;
  SingleMatrix z = SingleMatrix::Zero(rows, lines * line);
  // The smaller sample is marked: MMD^2 is the same, and fewer rows are drawn.
  const bool mark_first = first <= rows - first;
  const Index marked = mark_first ? first : rows - first;
  z.col(0).segment(mark_first ? 0 : first, marked).setOnes();
  context.parallel(lines, [&](Index group) {
    std::vector<Index> order(static_cast<std::size_t>(rows));
    for (Index p = std::max<Index>(1, group * line); p < std::min(permutations + 1, (group + 1) * line); ++p) {
      Random random = context.random("mmd_test", static_cast<std::uint64_t>(p));
      std::iota(order.begin(), order.end(), Index{0});
      for (Index k = 0; k < marked; ++k) {
        const auto other = k + static_cast<Index>(random.below(static_cast<std::uint64_t>(rows - k)));
        std::swap(order[static_cast<std::size_t>(k)], order[static_cast<std::size_t>(other)]);
        z(order[static_cast<std::size_t>(k)], p) = 1.0F;
      }
    }
  });
  return z;
}

/// What one thread works in; made at its first tile.
struct Room {
  Matrix k;
  SingleMatrix single;
  SingleMatrix product;
  Eigen::VectorXf part;
};

/// Sums over tiles. `form` is z'Kz of every column; `row` is K1.
struct Sums {
  Vector form;
  Vector row;
  double squares = 0;
  double between = 0;  // z'K(1 - z) of the observed labels in double precision, and within either sample
  double within_first = 0;
  double within_second = 0;
  std::unique_ptr<Room> room;

  Sums(Index columns, Index rows) : form(Vector::Zero(columns)), row(Vector::Zero(rows)) {}
  Sums(const Sums& other) : Sums(other.form.size(), other.row.size()) { merge(other); }
  Sums(Sums&&) = default;
  Sums& operator=(Sums&&) = default;

  void merge(const Sums& other) {
    form += other.form;
    row += other.row;
    squares += other.squares;
    between += other.between;
    within_first += other.within_first;
    within_second += other.within_second;
  }
};

class Tiles {
 public:
  Tiles(ConstMatrixView x, Index first, double sigma, const SingleMatrix& z)
      : kernel_(x, sigma), lower_(x.rows()), first_(first), z_(z) {
    const auto at = lower_.at(0);
    Matrix k(at.rows, at.cols);
    kernel_.tile(0, 0, k);
    const auto pairs = static_cast<double>(at.rows * (at.rows - 1));
    centre_ = (k.sum() - k.trace()) / pairs;
  }

  Index count() const { return lower_.count(); }

  void add(Sums& sums, Index t) const {
    if (!sums.room) sums.room = std::make_unique<Room>();
    Room& room = *sums.room;
    const auto at = lower_.at(t);
    room.k.resize(at.rows, at.cols);
    kernel_.tile(at.i, at.j, room.k);
    room.k.array() -= centre_;
    if (at.diagonal()) {
      mirror_lower(room.k);
      room.k.diagonal().setZero();
    }
    add_rows(sums, room.k, at);
    add_forms(sums, room, at);
  }

 private:
  RbfTiles kernel_;
  LowerTiles lower_;
  Index first_;
  const SingleMatrix& z_;
  double centre_ = 0;

  /// K1 and the observed sums, in double precision.
  void add_rows(Sums& sums, const Matrix& k, const LowerTiles::Tile& at) const {
    const Index left = std::clamp<Index>(first_ - at.j, 0, at.cols);  // columns of the first sample
    const double times = at.diagonal() ? 1 : 2;
    for (Index r = 0; r < at.rows; ++r) {
      const double of_first = k.row(r).head(left).sum();
      const double of_second = k.row(r).tail(at.cols - left).sum();
      const bool in_first = at.i + r < first_;
      sums.row[at.i + r] += of_first + of_second;
      (in_first ? sums.within_first : sums.within_second) += times * (in_first ? of_first : of_second);
      sums.between += times * (in_first ? of_second : of_first);
    }
    if (!at.diagonal()) sums.row.segment(at.j, at.cols) += k.colwise().sum().transpose();
    sums.squares += times * k.squaredNorm();
  }

  /// z'Kz of all columns: the tile counts twice off the diagonal.
  void add_forms(Sums& sums, Room& room, const LowerTiles::Tile& at) const {
    constexpr Index together = 16;  // rows that are added in single precision
    room.single = room.k.cast<float>();
    room.product.resize(at.rows, z_.cols());
    multiply(room.single, z_.middleRows(at.j, at.cols), room.product);
    const double times = at.diagonal() ? 1 : 2;
    for (Index r = 0; r < at.rows; r += together) {
      room.part = Eigen::VectorXf::Zero(z_.cols());
      for (Index i = r; i < std::min(at.rows, r + together); ++i)
        room.part.array() += (z_.row(at.i + i).array() * room.product.row(i).array()).transpose();
      sums.form += times * room.part.cast<double>();
    }
  }
};

/// z'v of every column.
Vector sums_of_marked(const SingleMatrix& z, const Vector& v, const Context& context) {
  Vector result(z.cols());
  context.parallel(z.cols() / line, [&](Index group) {
    Eigen::Array<double, line, 1> sum = Eigen::Array<double, line, 1>::Zero();
    for (Index i = 0; i < z.rows(); ++i)
      sum += v[i] * z.row(i).segment<line>(group * line).cast<double>().array().transpose();
    result.segment<line>(group * line) = sum.matrix();
  });
  return result;
}

struct Sizes {
  double s, t;

  double statistic(double a, double b, double c) const {
    return a / (s * (s - 1)) + (c - 2 * b + a) / (t * (t - 1)) - 2 * (b - a) / (s * t);
  }
};

void check(ConstMatrixView x, Index first, Index permutations) {
  if (first < 2 || x.rows() - first < 2)
    data_error("too_few_rows", "mmd: two rows of each sample are needed, got {} and {}", first, x.rows() - first);
  if (permutations < 1) option_error("bad_option", "mmd: permutations must be at least 1, got {}", permutations);
  require_memory(static_cast<std::size_t>(x.rows() * (permutations + line)) * sizeof(float), "mmd",
                 fmt::format("the labels of {} permutations of {} rows", permutations, x.rows()),
                 "take fewer rows or permutations");
}

}  // namespace

MmdTest mmd_test(ConstMatrixView x, Index first, double sigma, Index permutations, const Context& context) {
  check(x, first, permutations);
  const SingleMatrix z = indicators(x.rows(), first, permutations, context);
  const Tiles tiles(x, first, sigma, z);
  const Sums sums =
      sum_blocks(tiles.count(), context, Sums(z.cols(), x.rows()), [&](Sums& acc, Index t) { tiles.add(acc, t); });
  const Vector marked = sums_of_marked(z, sums.row, context);
  const auto n = static_cast<double>(x.rows());
  const auto s = static_cast<double>(std::min(first, x.rows() - first));
  const Sizes sizes{s, n - s};
  const double all = sums.row.sum();
  const double rounding = equal_up_to * std::sqrt(sums.squares / (n * (n - 1)));
  const double observed = sizes.statistic(sums.form[0], marked[0], all) - rounding;
  Index as_large = 0;
  for (Index p = 1; p <= permutations; ++p)
    as_large += sizes.statistic(sums.form[p], marked[p], all) >= observed ? 1 : 0;
  const auto in_first = static_cast<double>(first);
  const double in_second = n - in_first;
  MmdTest result;
  result.mmd2 = sums.within_first / (in_first * (in_first - 1)) + sums.within_second / (in_second * (in_second - 1)) -
                sums.between / (in_first * in_second);
  result.p = static_cast<double>(1 + as_large) / static_cast<double>(permutations + 1);
  result.permutations = permutations;
  return result;
}

}  // namespace ecotone
