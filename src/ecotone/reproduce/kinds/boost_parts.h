#pragma once

#include <string>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/dataset.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/reproduce/json_fields.h"
#include "ecotone/solve/boost/boost.h"

/// What the kinds of experiment_boost.h share.
namespace ecotone {

/// One draw of two moons. Labels are -1 and +1.
struct MoonsDraw {
  Matrix source, target, test;
  std::vector<double> y, y_target, y_test;

  /// Source rows, then target rows.
  Matrix both() const;
};
MoonsDraw draw_moons_problem(const std::string& angle, int rows, int test, const Context& context);

/// Per cent of rows with y f <= 0.
double wrong_percent(const Vector& f, const std::vector<double>& y);

/// Among the settings with the highest value, the one nearest to their medians (per option, the larger of the two
/// middle values) by the sum of |log ratios|; the first among ties.
std::size_t middle_of_best(const std::vector<double>& values, const std::vector<std::vector<double>>& settings);

struct SvmGrid {
  std::vector<double> cost, gamma;
  int folds = 5;
};
/// Test error of the support vector machine whose C and gamma were best by cross-validation on the source rows.
double svm_error(const MoonsDraw& draw, const SvmGrid& grid, const Context& context);

struct DasvmGrid {
  std::vector<double> cost, gamma, rho;
};
struct DasvmResult {
  double error = 0;              ///< per cent
  double circular_accuracy = 0;  ///< per cent
};
/// Results of the support vector machine whose options were best by circular validation.
DasvmResult dasvm_result(const MoonsDraw& draw, const DasvmGrid& grid, const Context& context);

double adaboost_error(const MoonsDraw& draw, int rounds, const Context& context);

/// A setting of daboost.
struct BoostSetting {
  BoostSelect select = BoostSelect::max_wtplus;
  int candidates = 1;
  double gamma = 0.2;
  int rounds = 1500;
  int runs = 1;  ///< independent ones, for the vote
};
/// Reads its fields from an object that may have others.
BoostSetting read_boost_setting(JsonFields& fields);
BoostFit fit_setting(const MoonsDraw& draw, const BoostSetting& setting, int run, bool criteria,
                     const Context& context);

/// Per cent of test rows that f_T gets wrong after each round.
std::vector<double> target_errors(const BoostFit& fit, const MoonsDraw& draw);

/// The first round, counted from 1, whose loss is 0; one more than the number of rounds if there is none.
double first_zero(const std::vector<double>& loss);
/// The round from which the loss stays 0; one more than the number of rounds if the last loss is not 0.
double zero_from(const std::vector<double>& loss);

/// Error on the test rows by rule.
struct BoostErrors {
  double last = 0, eq13 = 0, eq14 = 0, best = 0, vote = 0;
};
/// eq13 and eq14 only with `criteria`, the vote only with `vote`.
BoostErrors daboost_errors(const MoonsDraw& draw, const BoostSetting& setting, bool criteria, bool vote,
                           const Context& context);

}  // namespace ecotone
