#include <cmath>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/methods/learn/domain_map.h"
#include "ecotone/methods/learn/domain_sample.h"
#include "ecotone/methods/learn/gp/gp.h"
#include "ecotone/methods/learn/learner_kernel.h"

namespace ecotone {
namespace {

constexpr const char* exact_word = "exact";
constexpr const char* low_rank_word = "low_rank";

/// The lower triangle by rows, n (n + 1) / 2 numbers: reading it costs what the file holds, factoring the rows again
/// at load would cost n^3 / 3 operations.
Vector packed(const Matrix& lower) {
  const auto n = static_cast<std::size_t>(lower.rows());
  require_memory(n * (n + 1) / 2 * sizeof(double), "gp", fmt::format("the factor of {} rows in a file", n),
                 "use variance=false");
  Vector result(lower.rows() * (lower.rows() + 1) / 2);
  for (Index i = 0; i < lower.rows(); ++i)
    result.segment(i * (i + 1) / 2, i + 1) = lower.row(i).head(i + 1).transpose();
  return result;
}

Cholesky unpacked(const StageState& state, const char* name, Index n) {
  const Vector values = state.vector(name, n * (n + 1) / 2);
  require_memory(static_cast<std::size_t>(n) * static_cast<std::size_t>(n) * sizeof(double), "gp",
                 fmt::format("the factor of {} rows", n), "fit with variance=false");
  Matrix lower = Matrix::Zero(n, n);
  for (Index i = 0; i < n; ++i) lower.row(i).head(i + 1) = values.segment(i * (i + 1) / 2, i + 1).transpose();
  if (!(lower.diagonal().array() > 0).all()) file_error("bad_model", "'{}' has a diagonal that is not positive", name);
  return Cholesky::of_lower(std::move(lower));
}

/// What both kinds of fit have: parameters and the mean.
template <class Fit>
void save_common(const Fit& fit, StageState& state) {
  state.info["amplitude"] = fit.parameters.amplitude;
  state.info["noise"] = fit.parameters.noise;
  state.info["log_likelihood"] = fit.log_likelihood;
  state.info["offset"] = fit.offset[0];
  if (fit.basis.size() > 0) state.set("beta", Vector(fit.beta.col(0)));
  if (fit.basis.mean() != GpMean::linear) return;
  state.set("centre", fit.basis.centre());
  state.set("spread", fit.basis.scale());
}

GpBasis load_basis(const GpOptions& options, const StageState& state, Index cols) {
  if (options.mean != GpMean::linear) return {options.mean, Vector(), Vector()};
  try {
    return {options.mean, state.vector("centre", cols), state.vector("spread", cols)};
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::file) throw;
    file_error("bad_model", "{}", error.what());
  }
}

GpParameters load_parameters(const StageState& state, double sigma) {
  const GpParameters p{sigma, state.number("amplitude"), state.number("noise")};
  if (!(p.amplitude > 0) || !std::isfinite(p.amplitude))
    file_error("bad_model", "'amplitude' must be > 0, got {}", p.amplitude);
  if (!(p.noise >= 0) || !std::isfinite(p.noise)) file_error("bad_model", "'noise' must be >= 0, got {}", p.noise);
  return p;
}

/// R of (H'A^-1 H)^+ = R R': its columns are the rank of the basis.
Matrix load_root(const StageState& state, Index functions) {
  Matrix root = state.matrix("basis_root", functions, -1);
  if (root.cols() > functions)
    file_error("bad_model", "'basis_root' has {} columns, at most {}", root.cols(), functions);
  return root;
}

/// What both kinds of fit have; the factor is of `size` rows, and so are the coefficients, which are not filled.
template <class Fit>
Fit load_common(const StageState& state, const GpOptions& options, const Kernel& kernel, Index size, Index cols) {
  Fit fit{load_parameters(state, kernel.sigma),
          load_basis(options, state, cols),
          Vector::Constant(1, state.number("offset")),
          Matrix(),
          Matrix(size, 1),
          options.variance ? unpacked(state, "factor", size) : Cholesky::of_lower(Matrix()),
          Matrix(),
          Matrix()};
  fit.log_likelihood = state.number("log_likelihood");
  const Index functions = fit.basis.size();
  fit.beta = Matrix(functions, 1);
  fit.basis_root = Matrix(functions, 0);
  if (functions == 0) return fit;
  fit.beta.col(0) = state.vector("beta", functions);
  if (options.variance) fit.basis_root = load_root(state, functions);
  return fit;
}

/// What the variance needs; `half` is what the route knows of its basis.
template <class Fit>
void save_factor(const Fit& fit, const char* half_name, const Matrix& half, StageState& state) {
  state.set("factor", packed(fit.factor.lower()));
  if (fit.basis.size() == 0) return;
  state.set(half_name, half);
  state.set("basis_root", fit.basis_root);
}

void save_process(const ExactGp& gp, bool variance, StageState& state) {
  state.info["route"] = exact_word;
  save_kernel(gp.kernel, state);
  if (gp.domains) {
    save_domain_kernel(*gp.domains, state);
  } else {
    state.set("rows", gp.x);
  }
  save_common(gp.fit, state);
  state.info["jitter"] = gp.fit.jitter;
  state.set("alpha", Vector(gp.fit.alpha.col(0)));
  if (variance) save_factor(gp.fit, "basis_half", gp.fit.basis_half, state);
}

ExactGp load_exact(const StageState& state, const GpOptions& options, Index cols) {
  const Kernel kernel = load_kernel(kernel_options(options), state);
  Matrix x;
  std::optional<DistributionKernel> domains;
  if (options.distributional) {
    domains = load_domain_kernel(kernel, state, cols);
  } else {
    x = state.matrix("rows", -1, cols);
  }
  const Index n = domains ? domains->x().rows() : x.rows();
  if (n == 0) file_error("bad_model", "'rows' has no rows");
  auto fit = load_common<GpFit>(state, options, kernel, n, cols);
  fit.jitter = state.number("jitter");
  fit.alpha.col(0) = state.vector("alpha", n);
  const Index functions = fit.basis.size();
  if (options.variance && functions > 0) fit.basis_half = state.matrix("basis_half", n, functions);
  return {kernel, std::move(x), std::move(domains), std::move(fit)};
}

void save_process(const LowRankGp& gp, bool variance, StageState& state) {
  state.info["route"] = low_rank_word;
  save_kernel(gp.kernel, state);
  if (gp.domains) {
    save_domain_map(*gp.domains, state);
  } else {
    save_landmarks("row", gp.map, state);
  }
  save_common(gp.fit, state);
  state.set("weights", Vector(gp.fit.weights.col(0)));
  if (variance) save_factor(gp.fit, "basis_map", gp.fit.basis_map, state);
}

LowRankGp load_low_rank(const StageState& state, const GpOptions& options, Index cols) {
  const Kernel kernel = load_kernel(kernel_options(options), state);
  LowRankMap map;
  std::optional<DistributionMap> domains;
  if (options.distributional) {
    domains = load_domain_map(kernel, state, cols);
  } else {
    map = load_landmarks("row", DistributionMap::kernel_of_rows(kernel), state, cols);
  }
  const Index rank = domains ? domains->rank() : map.rank();
  auto fit = load_common<GpLowRankFit>(state, options, kernel, rank, cols);
  fit.weights.col(0) = state.vector("weights", rank);
  const Index functions = fit.basis.size();
  fit.basis_map =
      options.variance && functions > 0 ? state.matrix("basis_map", functions, rank) : Matrix(functions, rank);
  return {kernel, std::move(map), std::move(domains), std::move(fit)};
}

}  // namespace

StageState Gp::save() const {
  StageState state;
  std::visit([&](const auto& gp) { save_process(gp, variance_, state); }, process_);
  state.info["training_rows"] = notes_.rows;
  state.info["evaluations"] = notes_.evaluations;
  state.info["at_bound"] = notes_.at_bound;
  if (std::holds_alternative<LowRankGp>(process_)) state.info["residual"] = notes_.residual;
  return state;
}

std::shared_ptr<const Fitted> Gp::load(const StageState& state, const GpOptions& options, const StageInput& input) {
  GpNotes notes{.rows = state.count("training_rows"),
                .evaluations = state.count("evaluations"),
                .at_bound = state.flag("at_bound")};
  const std::string route = state.text("route");
  const char* given = options.route == GpRoute::exact ? exact_word : low_rank_word;
  if (options.route != GpRoute::automatic && route != given)
    file_error("bad_model", "'route' is {}, the options say {}", route, given);
  if (route == exact_word) return std::make_shared<Gp>(load_exact(state, options, input.cols), options.variance, notes);
  if (route == low_rank_word) {
    notes.residual = state.number("residual");
    return std::make_shared<Gp>(load_low_rank(state, options, input.cols), options.variance, notes);
  }
  file_error("bad_model", "'route' must be {} or {}, got '{}'", exact_word, low_rank_word, route);
}

}  // namespace ecotone
