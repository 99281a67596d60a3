#include "ecotone/reproduce/kinds/boost_parts.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "ecotone/base/error.h"
#include "ecotone/data/generate/generate.h"
#include "ecotone/solve/svm/dasvm.h"
#include "ecotone/solve/svm/svm.h"

namespace ecotone {
namespace {

/// exp(-gamma |x - z|^2)
Kernel gaussian(double gamma) { return {.kind = KernelKind::rbf, .sigma = std::sqrt(0.5 / gamma)}; }

Matrix rows_at(const Matrix& x, const std::vector<Index>& rows) {
  Matrix result(std::ssize(rows), x.cols());
  for (Index i = 0; i < result.rows(); ++i) result.row(i) = x.row(rows[at(i)]);
  return result;
}

std::vector<double> values_at(const std::vector<double>& y, const std::vector<Index>& rows) {
  std::vector<double> result;
  for (const Index i : rows) result.push_back(y[at(i)]);
  return result;
}

Vector machine_scores(const Matrix& x, const std::vector<double>& y, double cost, const Kernel& kernel, const Matrix& z,
                      const Context& context) {
  const SvmFit fit = fit_svm({.y = y, .cost = cost}, kernel, x, context);
  return svm_scores(kernel, x, fit.beta, fit.offset, z, context);
}

/// Deals the rows of two classes to folds, one class after the other.
std::vector<std::vector<Index>> dealt(const std::vector<double>& y, int folds, const Context& context) {
  std::vector<std::vector<Index>> result(static_cast<std::size_t>(folds));
  std::vector<Index> order = context.random("folds").sample(std::ssize(y), std::ssize(y));
  std::size_t next = 0;
  for (const double label : {1.0, -1.0})
    for (const Index i : order)
      if (y[at(i)] == label) result[next++ % result.size()].push_back(i);
  return result;
}

double cross_validated(const MoonsDraw& draw, const std::vector<std::vector<Index>>& folds, double cost, double gamma,
                       const Context& context) {
  double wrong = 0;
  for (const std::vector<Index>& held : folds) {
    std::vector<Index> others;
    for (const std::vector<Index>& fold : folds)
      if (&fold != &held) others.insert(others.end(), fold.begin(), fold.end());
    const Vector f = machine_scores(rows_at(draw.source, others), values_at(draw.y, others), cost, gaussian(gamma),
                                    rows_at(draw.source, held), context);
    wrong += wrong_percent(f, values_at(draw.y, held)) * static_cast<double>(held.size());
  }
  return 100 - wrong / static_cast<double>(draw.y.size());
}

Vector vote_of(const BoostFit& fit, Index rounds, const Matrix& z, const Context& context) {
  return StumpVote(fit.stumps(rounds), fit.betas(rounds)).values(Features::dense(z), context);
}

}  // namespace

Matrix MoonsDraw::both() const {
  Matrix x(source.rows() + target.rows(), source.cols());
  x << source, target;
  return x;
}

MoonsDraw draw_moons_problem(const std::string& angle, int rows, int test, const Context& context) {
  const Dataset data =
      generate("moons", {{"angle", angle}, {"rows", std::to_string(rows)}, {"test", std::to_string(test)}}, context);
  const Matrix x = data.x.to_matrix();
  MoonsDraw draw{x.topRows(rows), x.middleRows(rows, rows), x.bottomRows(test), {}, {}, {}};
  for (std::size_t i = 0; i < data.y->index.size(); ++i) {
    auto& side = i < static_cast<std::size_t>(rows)       ? draw.y
                 : i < static_cast<std::size_t>(2 * rows) ? draw.y_target
                                                          : draw.y_test;
    side.push_back(data.y->index[i] == 1 ? 1 : -1);
  }
  return draw;
}

double wrong_percent(const Vector& f, const std::vector<double>& y) {
  Index wrong = 0;
  for (Index i = 0; i < f.size(); ++i) wrong += y[at(i)] * f[i] <= 0 ? 1 : 0;
  return 100.0 * static_cast<double>(wrong) / static_cast<double>(f.size());
}

std::size_t middle_of_best(const std::vector<double>& values, const std::vector<std::vector<double>>& settings) {
  const double top = *std::max_element(values.begin(), values.end());
  std::vector<std::size_t> tied;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] == top) tied.push_back(i);
  std::vector<double> away(tied.size(), 0);
  for (std::size_t o = 0; o < settings.front().size(); ++o) {
    std::vector<double> option;
    for (const std::size_t i : tied) option.push_back(settings[i][o]);
    std::sort(option.begin(), option.end());
    const double median = option[option.size() / 2];
    for (std::size_t t = 0; t < tied.size(); ++t) away[t] += std::abs(std::log(settings[tied[t]][o] / median));
  }
  return tied[static_cast<std::size_t>(std::min_element(away.begin(), away.end()) - away.begin())];
}

double svm_error(const MoonsDraw& draw, const SvmGrid& grid, const Context& context) {
  const std::vector<std::vector<Index>> folds = dealt(draw.y, grid.folds, context);
  std::vector<double> accuracy;
  std::vector<std::vector<double>> pairs;
  for (const double cost : grid.cost) {
    for (const double gamma : grid.gamma) {
      pairs.push_back({cost, gamma});
      accuracy.push_back(cross_validated(draw, folds, cost, gamma, context));
    }
  }
  const std::vector<double>& best = pairs[middle_of_best(accuracy, pairs)];
  return wrong_percent(machine_scores(draw.source, draw.y, best[0], gaussian(best[1]), draw.test, context),
                       draw.y_test);
}

DasvmResult dasvm_result(const MoonsDraw& draw, const DasvmGrid& grid, const Context& context) {
  const Matrix x = draw.both();
  std::vector<double> accuracy, errors;
  std::vector<std::vector<double>> triples;
  for (const double gamma : grid.gamma) {
    for (const double cost : grid.cost) {
      for (const double rho : grid.rho) {
        const Kernel kernel = gaussian(gamma);
        const DasvmFit fit =
            fit_dasvm({.x = x, .y = draw.y, .kernel = kernel, .cost = cost, .rho = static_cast<Index>(rho)}, context);
        triples.push_back({gamma, cost, rho});
        accuracy.push_back(100 * fit.circular_accuracy.value_or(0));
        errors.push_back(wrong_percent(svm_scores(kernel, x, fit.beta, fit.offset, draw.test, context), draw.y_test));
      }
    }
  }
  const std::size_t best = middle_of_best(accuracy, triples);
  return {errors[best], accuracy[best]};
}

double adaboost_error(const MoonsDraw& draw, int rounds, const Context& context) {
  BoostOptions options;
  options.rounds = rounds;
  options.search = BoostSearch::all;
  const BoostFit fit =
      fit_boost({.source = Features::dense(draw.source), .y = draw.y, .who = "adaboost"}, options, context);
  const auto count = std::ssize(fit.rounds);
  const StumpVote vote(fit.stumps(count), fit.alphas(count));
  return wrong_percent(vote.values(Features::dense(draw.test), context), draw.y_test);
}

BoostSetting read_boost_setting(JsonFields& fields) {
  const std::string& where = fields.where();
  BoostSetting setting;
  const std::string select = fields.text("select");
  if (select != "max_wtplus" && select != "min_bound")
    file_error("bad_experiment", "{}: field 'select' must be max_wtplus or min_bound, got '{}'", where, select);
  setting.select = select == "min_bound" ? BoostSelect::min_bound : BoostSelect::max_wtplus;
  setting.candidates = fields.whole("candidates", 1, boost_most_candidates);
  setting.gamma = fields.number("gamma");
  if (!(setting.gamma > 0 && setting.gamma < 1))
    file_error("bad_experiment", "{}: field 'gamma' must be in (0, 1), got {}", where, setting.gamma);
  setting.rounds = fields.whole("rounds", 1, 1'000'000);
  if (fields.has("runs")) setting.runs = fields.whole("runs", 1, 1000);
  return setting;
}

BoostFit fit_setting(const MoonsDraw& draw, const BoostSetting& setting, int run, bool criteria,
                     const Context& context) {
  BoostOptions options;
  options.gamma = setting.gamma;
  options.rounds = setting.rounds;
  options.candidates = setting.candidates;
  options.select = setting.select;
  options.seed = context.seed();
  options.run = run;
  options.criteria = criteria;
  return fit_boost({.source = Features::dense(draw.source), .y = draw.y, .target = Features::dense(draw.target)},
                   options, context);
}

double first_zero(const std::vector<double>& loss) {
  return static_cast<double>(std::find(loss.begin(), loss.end(), 0.0) - loss.begin() + 1);
}

double zero_from(const std::vector<double>& loss) {
  std::size_t zeros = 0;
  while (zeros < loss.size() && loss[loss.size() - 1 - zeros] == 0) ++zeros;
  return static_cast<double>(loss.size() - zeros + 1);
}

std::vector<double> target_errors(const BoostFit& fit, const MoonsDraw& draw) {
  std::vector<double> errors;
  Vector f = Vector::Zero(draw.test.rows());
  for (const BoostRound& round : fit.rounds) {
    for (Index i = 0; i < f.size(); ++i) f[i] += round.beta * round.stump.side(draw.test(i, round.stump.attribute));
    errors.push_back(wrong_percent(f, draw.y_test));
  }
  return errors;
}

BoostErrors daboost_errors(const MoonsDraw& draw, const BoostSetting& setting, bool criteria, bool vote,
                           const Context& context) {
  const auto error = [&](const BoostFit& fit, Index rounds) {
    return wrong_percent(vote_of(fit, rounds, draw.test, context), draw.y_test);
  };
  const BoostFit first = fit_setting(draw, setting, 0, criteria, context);
  if (first.rounds.empty())
    data_error("no_weak_da_learner", "daboost: no stump satisfies the weak-learner condition in the first round");
  BoostErrors errors;
  errors.last = error(first, std::ssize(first.rounds));
  if (criteria) {
    errors.eq13 = error(first, first.rounds_by_eq13());
    errors.eq14 = error(first, first.rounds_by_eq14());
  }
  const std::vector<double> by_round = target_errors(first, draw);
  errors.best = *std::min_element(by_round.begin(), by_round.end());
  if (!vote) return errors;
  // mean over runs of f_T / sum beta
  Vector sum = Vector::Zero(draw.test.rows());
  for (int run = 0; run < setting.runs; ++run) {
    const std::optional<BoostFit> other =
        run > 0 ? std::optional(fit_setting(draw, setting, run, false, context)) : std::nullopt;
    const BoostFit& fit = other ? *other : first;
    const auto rounds = std::ssize(fit.rounds);
    double weight = 0;
    for (const double beta : fit.betas(rounds)) weight += beta;
    if (weight > 0) sum += vote_of(fit, rounds, draw.test, context) / weight;
  }
  errors.vote = wrong_percent(sum, draw.y_test);
  return errors;
}

}  // namespace ecotone
