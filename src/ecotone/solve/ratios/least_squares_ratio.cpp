#include "ecotone/solve/ratios/least_squares_ratio.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "ecotone/base/blocks.h"
#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/base/numbers.h"
#include "ecotone/linalg/cholesky.h"
#include "ecotone/linalg/products.h"

namespace ecotone {
namespace {

constexpr std::array<double, 4> penalties = {1, 0.1, 0.01, 1e-3};

Cholesky factor_definite(Matrix a, double lam, const char* who, const Context& context) {
  a.diagonal().array() += lam;
  std::optional<Cholesky> factor = Cholesky::factor(std::move(a), context);
  if (!factor) data_error("singular", "{}: the bumps are dependent; use a larger lam", who);
  return std::move(*factor);
}

/// The masses that occur, ascending.
std::vector<double> masses_of(const RatioRows& rows) {
  std::vector<double> masses{1};
  if (rows.mass.size() > 0) masses.assign(rows.mass.begin(), rows.mass.end());
  std::ranges::sort(masses);
  masses.erase(std::unique(masses.begin(), masses.end()), masses.end());
  return masses;
}

/// Values at the source rows of a block that have this mass.
Matrix rows_of_mass(const RatioRows& rows, const RatioBumps::Block& block, double mass) {
  std::vector<Index> chosen;
  for (Index i = 0; i < block.source.rows(); ++i)
    if (rows.mass_of(block.first_source + i) == mass) chosen.push_back(i);
  return block.source(chosen, Eigen::all);
}

/// Sums over both samples that all penalties share.
struct RatioSums {
  Matrix target;  ///< Phi_t'Phi_t; while adding, its lower triangle
  Matrix source;  ///< Phi_s' diag(mass) Phi_s
  Vector h;       ///< Phi_t'1

  RatioSums& operator+=(const RatioSums& other) {
    target += other.target;
    source += other.source;
    h += other.h;
    return *this;
  }
};

/// The same divided by the rows: H_t, H_s and h.
RatioSums ratio_means(const RatioBumps& bumps, Index factors, const char* who, const Context& context) {
  const Index count = bumps.count();
  const auto size = static_cast<std::size_t>(count);
  // Two matrices of a partial sum per thread.
  require_memory(static_cast<std::size_t>(2 * (context.threads() + 6) + factors) * size * size * sizeof(double), who,
                 "products of all pairs of bumps", "use fewer centres");
  const RatioSums zero{Matrix::Zero(count, count), Matrix::Zero(count, count), Vector::Zero(count)};
  RatioSums sums = sum_blocks(bumps.blocks(), context, zero, [&](RatioSums& into, Index b) {
    RatioBumps::Workspace workspace;
    const RatioBumps::Block block = bumps.block(b, workspace);
    add_gram(block.target, into.target);
    if (bumps.rows().mass.size() == 0) {
      add_gram(block.source, into.source);
    } else {
      const auto mass = bumps.rows().mass.segment(block.first_source, block.source.rows());
      add_gram(Matrix(mass.cwiseSqrt().asDiagonal() * block.source), into.source);
    }
    into.h += block.target.colwise().sum().transpose();
  });
  const auto nt = static_cast<double>(bumps.targets()), ns = static_cast<double>(bumps.sources());
  sums.target /= nt;
  sums.source /= ns;
  sums.h /= nt;
  return sums;
}

/// Rows each of which is left out of the sums that theta follows from: theta = M^-1 b + c M^-1 phi (phi'M^-1 b) /
/// (1 - c phi'M^-1 phi), where M has the divisor of one row less.
struct LeftOutPart {
  Cholesky factor;  ///< of M
  Vector base;      ///< M^-1 h
  double c = 0;     ///< a row's share of M
  double rows = 0;  ///< of the target, where b = (n h - phi) / (n - 1); 0 for the source, where b = h
};

/// r = phi' max(0, theta) of each row.
Vector left_out_ratios(const LeftOutPart& part, ConstMatrixView rows, const Context& context) {
  if (rows.rows() == 0) return {};
  const Matrix phi = rows.transpose();
  const Matrix solved = part.factor.solve(phi, context);
  Vector result(phi.cols()), theta(phi.rows());
  for (Index i = 0; i < phi.cols(); ++i) {
    theta = part.base;
    if (part.rows > 0) theta = (part.rows * part.base - solved.col(i)) / (part.rows - 1);
    const double own = phi.col(i).dot(solved.col(i)), along = phi.col(i).dot(theta);
    theta += part.c * along / (1 - part.c * own) * solved.col(i);
    result[i] = phi.col(i).dot(theta.cwiseMax(0));
  }
  return result;
}

/// theta = max(0, (H + lam I)^-1 h)
LeastSquaresRatio fitted_ratio(const RatioSums& means, double alpha, double lam, const char* who,
                               const Context& context) {
  LeastSquaresRatio fit;
  const Cholesky factor = factor_definite(alpha * means.target + (1 - alpha) * means.source, lam, who, context);
  fit.unclipped = factor.solve(means.h, context);
  fit.theta = fit.unclipped.cwiseMax(0);
  return fit;
}

/// What one penalty gives.
struct Penalised {
  LeastSquaresRatio fit;
  LeftOutPart target;
  std::vector<LeftOutPart> source;  ///< of rows of each mass
};

Penalised penalised(const RatioSums& means, const RatioBumps& bumps, const std::vector<double>& masses, double alpha,
                    double lam, const char* who, const Context& context) {
  const auto nt = static_cast<double>(bumps.targets()), ns = static_cast<double>(bumps.sources());
  const auto factor = [&](double of_t, double of_s) {
    return factor_definite(of_t * means.target + of_s * means.source, lam, who, context);
  };
  LeastSquaresRatio fit = fitted_ratio(means, alpha, lam, who, context);
  LeftOutPart target{factor(alpha * nt / (nt - 1), 1 - alpha), {}, alpha / (nt - 1), nt};
  target.base = target.factor.solve(means.h, context);
  std::vector<LeftOutPart> source;
  for (const double mass : masses) {
    source.push_back({factor(alpha, (1 - alpha) * ns / (ns - mass)), {}, (1 - alpha) * mass / (ns - mass), 0});
    source.back().base = source.back().factor.solve(means.h, context);
  }
  return {std::move(fit), std::move(target), std::move(source)};
}

/// Sums of r and r^2 over the target, and of mass r^2 over the source, of each penalty.
struct LeftOutSums {
  Vector target;
  Vector target_squares;
  Vector source_squares;

  LeftOutSums& operator+=(const LeftOutSums& other) {
    target += other.target;
    target_squares += other.target_squares;
    source_squares += other.source_squares;
    return *this;
  }
};

/// Fits with each penalty and their scores, in one pass over the rows.
std::vector<LeastSquaresRatio> scored_fits(const RatioBumps& bumps, double alpha, const std::vector<double>& lams,
                                           const char* who, const Context& context) {
  const auto nt = static_cast<double>(bumps.targets()), ns = static_cast<double>(bumps.sources());
  if (nt < 2 || ns < 2)
    data_error("too_few_rows", "{}: the {} has one row, and leaving it out leaves none; give sigma and lam", who,
               nt < 2 ? "target" : "source");
  const std::vector<double> masses = masses_of(bumps.rows());
  const RatioSums means = ratio_means(bumps, static_cast<Index>(lams.size() * (1 + masses.size())), who, context);
  std::vector<Penalised> each;
  for (const double lam : lams) each.push_back(penalised(means, bumps, masses, alpha, lam, who, context));
  const Vector zero = Vector::Zero(std::ssize(lams));
  const LeftOutSums sums =
      sum_blocks(bumps.blocks(), context, LeftOutSums{zero, zero, zero}, [&](LeftOutSums& into, Index b) {
        RatioBumps::Workspace workspace;
        const RatioBumps::Block block = bumps.block(b, workspace);
        for (Index k = 0; k < std::ssize(lams); ++k) {
          const Vector of_t = left_out_ratios(each[at(k)].target, block.target, context);
          into.target[k] += of_t.sum();
          into.target_squares[k] += of_t.squaredNorm();
        }
        for (std::size_t m = 0; m < masses.size(); ++m) {
          const Matrix phi = rows_of_mass(bumps.rows(), block, masses[m]);
          for (Index k = 0; k < std::ssize(lams); ++k)
            into.source_squares[k] += masses[m] * left_out_ratios(each[at(k)].source[m], phi, context).squaredNorm();
        }
      });
  std::vector<LeastSquaresRatio> fits;
  for (Index k = 0; k < std::ssize(lams); ++k) {
    fits.push_back(std::move(each[at(k)].fit));
    // J = a/2 mean_t r^2 + (1 - a)/2 mean_s r^2 - mean_t r
    fits.back().left_out = 0.5 * alpha * sums.target_squares[k] / nt + 0.5 * (1 - alpha) * sums.source_squares[k] / ns -
                           sums.target[k] / nt;
  }
  return fits;
}

}  // namespace

LeastSquaresRatio fit_least_squares_ratio(const RatioBumps& bumps, double alpha, double lam, const char* who,
                                          const Context& context) {
  LeastSquaresRatio fit = std::move(scored_fits(bumps, alpha, {lam}, who, context).front());
  fit.source_ratio = source_ratio_of(bumps, fit.theta, context);
  return fit;
}

KernelRatio least_squares_ratio(const RatioRows& rows, const KernelRatioOptions& options, const Context& context) {
  std::vector<double> lams(penalties.begin(), penalties.end());
  if (options.lam) lams = {*options.lam};
  const bool given = options.sigma && options.lam;  // nothing is chosen, so that no row need be left out
  KernelRatio best;
  best.score = infinity;
  for (const double sigma : ratio_widths(rows, options, context)) {
    const RatioBumps bumps(rows, ratio_centres(rows, sigma, options.centres, context), sigma, context);
    if (given && std::min(rows.targets(), rows.sources) < 2) {
      const RatioSums means = ratio_means(bumps, 1, options.who, context);
      const Vector theta = fitted_ratio(means, options.alpha, lams[0], options.who, context).theta;
      return {source_ratio_of(bumps, theta, context), sigma, lams[0], std::nan(""), true};
    }
    const std::vector<LeastSquaresRatio> fits = scored_fits(bumps, options.alpha, lams, options.who, context);
    for (std::size_t k = 0; k < lams.size(); ++k)
      if (fits[k].left_out < best.score)
        best = {source_ratio_of(bumps, fits[k].theta, context), sigma, lams[k], fits[k].left_out, true};
  }
  if (best.ratio.size() == 0)
    data_error("non_finite", "{}: the feature values are too large to estimate weights", options.who);
  return best;
}

}  // namespace ecotone
