// The permutation test of MMD^2. With z = 1 in one sample (s rows) and 0 in the other (t rows), K without its diagonal,
// a = z'Kz, b = z'K1, c = 1'K1:
//   MMD^2(z) = a / (s (s - 1)) + (c - 2 b + a) / (t (t - 1)) - 2 (b - a) / (s t).
// Subtracting a constant from all of K does not change it; K - mean(K) keeps small what single precision rounds.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "ecotone/base/blocks.h"
#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/kernels/mmd.h"
#include "ecotone/kernels/rbf.h"
#include "ecotone/linalg/products.h"
#include "ecotone/linalg/single.h"

namespace ecotone {
namespace {

constexpr Index line = 16;            // columns that share a cache line
constexpr Index strip_width = 1024;   // columns of K per product
constexpr double equal_up_to = 1e-6;  // relative to the spread of K: the rounding of single precision

/// Uniform numbers below a bound that fits 32 bits, two from each 64 random bits; exact by rejection (lemire2019).
class SmallNumbers {
 public:
  explicit SmallNumbers(Random random) : random_(random) {}

  std::uint32_t below(std::uint32_t bound) {
    std::uint64_t wide = std::uint64_t{next()} * bound;
    if (static_cast<std::uint32_t>(wide) < bound) {
      const std::uint32_t least = (0U - bound) % bound;
      while (static_cast<std::uint32_t>(wide) < least) wide = std::uint64_t{next()} * bound;
    }
    return static_cast<std::uint32_t>(wide >> 32);
  }

 private:
  Random random_;
  std::uint64_t bits_ = 0;
  bool half_ = false;

  std::uint32_t next() {
    half_ = !half_;
    if (half_) bits_ = random_.bits();
    return static_cast<std::uint32_t>(half_ ? bits_ : bits_ >> 32);
  }
};

/// Marks `marked` of the rows at random: the first part of a Fisher-Yates shuffle.
void mark(std::vector<std::uint8_t>& mark_of, std::vector<std::uint32_t>& order, Index marked, Random random) {
  SmallNumbers numbers(random);
  std::iota(order.begin(), order.end(), 0U);
  std::fill(mark_of.begin(), mark_of.end(), std::uint8_t{0});
  const auto rows = static_cast<std::uint32_t>(order.size());
  for (std::uint32_t k = 0; k < static_cast<std::uint32_t>(marked); ++k) {
    std::swap(order[k], order[k + numbers.below(rows - k)]);
    mark_of[order[k]] = 1;
  }
}

/// z of the observed labels in column 0, of permutation p in column p; columns are padded to whole cache lines.
SingleMatrix indicators(Index rows, Index first, Index permutations, const Context& context) {
  const Index lines = (permutations + line) / line;
  SingleMatrix z(rows, lines * line);
  // The smaller sample is marked: MMD^2 is the same, and fewer rows need to be drawn.
  const bool mark_first = first <= rows - first;
  const Index marked = mark_first ? first : rows - first;
  const Index begin = mark_first ? 0 : first;
  context.parallel(lines, [&](Index group) {
    const auto size = static_cast<std::size_t>(rows);
    std::vector<std::uint32_t> order(size);
    std::vector<std::vector<std::uint8_t>> marks(line, std::vector<std::uint8_t>(size, 0));
    for (Index k = 0; k < line; ++k) {
      const Index p = group * line + k;
      auto& of = marks[at(k)];
      if (p == 0) std::fill_n(of.begin() + begin, marked, std::uint8_t{1});
      if (p > 0 && p <= permutations)
        mark(of, order, marked, context.random("mmd_test", static_cast<std::uint64_t>(p)));
    }
    for (Index i = 0; i < rows; ++i)
      for (Index k = 0; k < line; ++k) z(i, group * line + k) = static_cast<float>(marks[at(k)][at(i)]);
  });
  return z;
}

/// Workspace of one thread; made at its first tile.
struct Room {
  Matrix k;
  SingleMatrix single;
  SingleMatrix product;
  Eigen::VectorXf part;
};

/// Sums over strips. `form` is z'Kz of every column; `row` is K1.
struct Sums {
  Vector form;
  Vector row;
  double squares = 0;  // of K over pairs within diagonal tiles: the spread of K is estimated from these
  double square_pairs = 0;
  double between = 0;  // z'K(1 - z) of the observed labels in double precision, and the sums within each sample
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
    square_pairs += other.square_pairs;
    between += other.between;
    within_first += other.within_first;
    within_second += other.within_second;
  }
};

/// Some columns of the rows of one tile: left of the diagonal (they count twice), or the diagonal tile.
struct Strip {
  Index i, rows, j, cols;
  bool diagonal;

  double times() const { return diagonal ? 1 : 2; }
};

std::vector<Strip> strips_of(Index n) {
  constexpr Index side = RbfTiles::side;
  std::vector<Strip> strips;
  for (Index i = 0; i < n; i += side) {
    const Index rows = std::min(side, n - i);
    for (Index j = 0; j < i; j += strip_width) strips.push_back({i, rows, j, std::min(strip_width, i - j), false});
    strips.push_back({i, rows, i, rows, true});
  }
  return strips;
}

class Strips {
 public:
  Strips(ConstMatrixView x, Index first, double sigma, const SingleMatrix& z)
      : kernel_(x, sigma), strips_(strips_of(x.rows())), first_(first), z_(z) {
    const Index rows = strips_.front().rows;
    Matrix k(rows, rows);
    kernel_.tile(0, 0, k);
    centre_ = (k.sum() - k.trace()) / static_cast<double>(rows * (rows - 1));
  }

  Index count() const { return static_cast<Index>(strips_.size()); }

  void add(Sums& sums, Index s) const {
    if (!sums.room) sums.room = std::make_unique<Room>();
    Room& room = *sums.room;
    const Strip& strip = strips_[at(s)];
    room.single.resize(strip.rows, strip.cols);
    for (Index j = 0; j < strip.cols; j += RbfTiles::side) {
      const Index cols = std::min(RbfTiles::side, strip.cols - j);
      room.k.resize(strip.rows, cols);
      kernel_.tile(strip.i, strip.j + j, room.k);
      room.k.array() -= centre_;
      if (strip.diagonal) {
        mirror_lower(room.k);
        room.k.diagonal().setZero();
        sums.squares += room.k.squaredNorm();
        sums.square_pairs += static_cast<double>(strip.rows * (strip.rows - 1));
      }
      add_rows(sums, room.k, {strip.i, strip.rows, strip.j + j, cols, strip.diagonal});
      room.single.middleCols(j, cols) = room.k.cast<float>();
    }
    add_forms(sums, room, strip);
  }

 private:
  RbfTiles kernel_;
  std::vector<Strip> strips_;
  Index first_;
  const SingleMatrix& z_;
  double centre_ = 0;

  /// K1 and the observed sums, in double precision.
  void add_rows(Sums& sums, const Matrix& k, const Strip& strip) const {
    const Index left = std::clamp<Index>(first_ - strip.j, 0, strip.cols);  // columns of the first sample
    for (Index r = 0; r < strip.rows; ++r) {
      const double of_first = k.row(r).head(left).sum();
      const double of_second = k.row(r).tail(strip.cols - left).sum();
      const bool in_first = strip.i + r < first_;
      sums.row[strip.i + r] += of_first + of_second;
      (in_first ? sums.within_first : sums.within_second) += strip.times() * (in_first ? of_first : of_second);
      sums.between += strip.times() * (in_first ? of_second : of_first);
      if (!strip.diagonal) sums.row.segment(strip.j, strip.cols) += k.row(r).transpose();
    }
  }

  /// z'Kz of all columns.
  void add_forms(Sums& sums, Room& room, const Strip& strip) const {
    constexpr Index together = 16;  // rows added in single precision
    room.product.resize(strip.rows, z_.cols());
    multiply(room.single, z_.middleRows(strip.j, strip.cols), room.product);
    for (Index r = 0; r < strip.rows; r += together) {
      room.part = Eigen::VectorXf::Zero(z_.cols());
      for (Index i = r; i < std::min(strip.rows, r + together); ++i)
        room.part.array() += (z_.row(strip.i + i).array() * room.product.row(i).array()).transpose();
      sums.form += strip.times() * room.part.cast<double>();
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
    data_error("too_few_rows", "mmd: each sample needs at least two rows, got {} and {}", first, x.rows() - first);
  if (permutations < 1) option_error("bad_option", "mmd: permutations must be at least 1, got {}", permutations);
  require_memory(static_cast<std::size_t>(x.rows() * (permutations + line)) * sizeof(float), "mmd",
                 fmt::format("the labels of {} permutations of {} rows", permutations, x.rows()),
                 "use fewer rows or permutations");
}

}  // namespace

MmdTest mmd_test(ConstMatrixView x, Index first, double sigma, Index permutations, const Context& context) {
  check(x, first, permutations);
  const SingleMatrix z = indicators(x.rows(), first, permutations, context);
  const Strips strips(x, first, sigma, z);
  const Sums sums =
      sum_blocks(strips.count(), context, Sums(z.cols(), x.rows()), [&](Sums& acc, Index t) { strips.add(acc, t); });
  const Vector marked = sums_of_marked(z, sums.row, context);
  const auto n = static_cast<double>(x.rows());
  const auto s = static_cast<double>(std::min(first, x.rows() - first));
  const Sizes sizes{s, n - s};
  const double all = sums.row.sum();
  const double rounding = equal_up_to * std::sqrt(sums.squares / sums.square_pairs);
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
