#include "ecotone/methods/learn/linear/separation.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "ecotone/base/blocks.h"
#include "ecotone/methods/prepare/column_moments.h"

namespace ecotone {
namespace {

constexpr std::size_t most_named = 3;
constexpr double most_values = 2e7;  // beyond which no weights are compared

/// The smallest and largest value of each column in each class, over rows that have weight.
struct ClassRanges {
  Matrix low, high;  ///< classes x columns

  ClassRanges(Index classes, Index cols)
      : low(Matrix::Constant(classes, cols, std::numeric_limits<double>::infinity())), high(-low) {}
  void merge(const ClassRanges& other) {
    low = low.cwiseMin(other.low);
    high = high.cwiseMax(other.high);
  }
  template <class Archive>
  void archive(Archive& with) {
    with(low, high);
  }
};

bool counts(const LinearProblem& problem, Index row) { return problem.weight.size() == 0 || problem.weight[row] > 0; }

ClassRanges class_ranges(const LinearProblem& problem, const Context& context) {
  const Features& x = problem.x;
  return sum_rows(x.blocks(), context, ClassRanges(problem.classes, x.cols()), [&](ClassRanges& sum, Index b) {
    Scratch scratch;
    const RowBlock block = x.block(b, scratch);
    for (Index i = 0; i < block.x.rows(); ++i) {
      if (!counts(problem, block.first + i)) continue;
      const Index c = problem.cls[at(block.first + i)];
      sum.low.row(c) = sum.low.row(c).cwiseMin(block.x.row(i));
      sum.high.row(c) = sum.high.row(c).cwiseMax(block.x.row(i));
    }
  });
}

/// A column whose values of one class all lie on one side of those of the others, or touch them.
struct Separator {
  Index column = 0;
  Index cls = 0;
  double value = 0;      ///< at which rows of both sides may lie
  bool touches = false;  ///< whether they do
};

std::vector<Separator> separators(const LinearProblem& problem, const Context& context) {
  const ClassRanges ranges = class_ranges(problem, context);
  std::vector<Separator> found;
  // Of two classes, the second against the first says all.
  for (Index c = problem.classes == 2 ? 1 : 0; c < problem.classes; ++c) {
    for (Index j = 0; j < problem.x.cols(); ++j) {
      double low = std::numeric_limits<double>::infinity(), high = -low;
      for (Index k = 0; k < problem.classes; ++k) {
        if (k == c) continue;
        low = std::min(low, ranges.low(k, j));
        high = std::max(high, ranges.high(k, j));
      }
      const double own_low = ranges.low(c, j), own_high = ranges.high(c, j);
      if (std::min(low, own_low) == std::max(high, own_high)) continue;
      if (high <= own_low) found.push_back({j, c, own_low, high == own_low});
      if (own_high <= low) found.push_back({j, c, low, own_high == low});
    }
  }
  return found;
}

/// How many rows of the class and of the others differ from the value where both sides touch.
struct Differing {
  Index own = 0;
  Index others = 0;
};

Differing differing_rows(const LinearProblem& problem, const Separator& separator) {
  Differing result;
  Scratch scratch;
  for (Index b = 0; b < problem.x.blocks(); ++b) {
    const RowBlock block = problem.x.block(b, scratch);
    for (Index i = 0; i < block.x.rows(); ++i) {
      const Index row = block.first + i;
      if (!counts(problem, row) || block.x(i, separator.column) == separator.value) continue;
      ++(problem.cls[at(row)] == separator.cls ? result.own : result.others);
    }
  }
  return result;
}

std::string text_of(const LinearProblem& problem, const Separator& separator, const std::vector<std::string>& classes) {
  const std::string column = fmt::format("column '{}'", problem.x.name(separator.column));
  const std::string& own = classes[at(separator.cls)];
  const Differing differing = separator.touches ? differing_rows(problem, separator) : Differing{1, 1};
  if (differing.own > 0 && differing.others > 0) return fmt::format("{} alone separates class '{}'", column, own);
  const Index rows = differing.own + differing.others;
  const std::string which = differing.own > 0     ? fmt::format("of class '{}'", own)
                            : classes.size() == 2 ? fmt::format("of class '{}'", classes[at(1 - separator.cls)])
                                                  : fmt::format("not of class '{}'", own);
  return rows == 1 ? fmt::format("{} has the same value in all rows but 1, which is {}", column, which)
                   : fmt::format("{} has the same value in all rows but {}, which are all {}", column, rows, which);
}

/// Names of the columns whose weights, in units of the columns' deviations, grow most from a small penalty to a
/// thousandth of it.
std::vector<std::string> growing_columns(const LinearProblem& problem, const Context& context) {
  const Vector deviation = column_moments(problem.x, context).deviation();
  const double scale = std::max(deviation.squaredNorm() / static_cast<double>(deviation.size()), 1e-300);
  LinearProblem penalised = problem;
  penalised.solver = LinearSolver::automatic;
  penalised.start = nullptr;
  penalised.tolerance = 1e-4;
  Vector size[2];
  for (const int k : {0, 1}) {
    penalised.l2 = (k == 0 ? 1e-4 : 1e-7) * scale;
    size[k] = fit_linear(penalised, context).weights.cwiseAbs().colwise().maxCoeff().transpose();
  }
  const Vector growth = (size[1] - size[0]).cwiseProduct(deviation);
  std::vector<Index> order(at(growth.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return growth[a] > growth[b]; });
  std::vector<std::string> names;
  for (const Index j : order)
    if (names.size() < most_named && growth[j] > 0.1 * growth[order.front()]) names.push_back(problem.x.name(j));
  return names;
}

}  // namespace

std::string separation_text(const LinearProblem& problem, const std::vector<std::string>& classes,
                            const Context& context) {
  const std::vector<Separator> found = separators(problem, context);
  if (!found.empty()) {
    std::vector<std::string> texts;
    for (const Separator& each : found)
      if (texts.size() < most_named) texts.push_back(text_of(problem, each, classes));
    return fmt::format("{}{}", fmt::join(texts, "; "),
                       found.size() > texts.size() ? fmt::format("; and {} more", found.size() - texts.size()) : "");
  }
  const auto values = static_cast<double>(problem.x.rows()) * static_cast<double>(problem.x.cols());
  const std::vector<std::string> growing =
      values <= most_values ? growing_columns(problem, context) : std::vector<std::string>{};
  const bool wide = problem.x.cols() + 1 >= problem.x.rows();
  const std::string names = growing.empty() ? "" : fmt::format("'{}'", fmt::join(growing, "', '"));
  if (wide) {
    return fmt::format("{} columns are enough to separate any {} rows{}", problem.x.cols(), problem.x.rows(),
                       names.empty() ? "" : fmt::format(" (the weights of {} grow most)", names));
  }
  return names.empty() ? "a combination of columns separates them"
                       : fmt::format("a combination of columns separates them; the weights of {} grow most", names);
}

}  // namespace ecotone
