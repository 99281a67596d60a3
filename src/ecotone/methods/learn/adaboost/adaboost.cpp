#include "ecotone/methods/learn/adaboost/adaboost.h"

#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/methods/binary_prediction.h"
#include "ecotone/methods/requirements.h"

namespace ecotone {
namespace {

constexpr const char* adaboost_name = "adaboost";

BoostedRuns::Shape shape_of(const AdaBoostOptions& options) {
  return {.depth = options.base == BoostBase::tree ? options.depth : 0};
}

Status status_of(const BoostFit& fit) {
  const std::string rounds = rounds_text(std::ssize(fit.rounds));
  const double error = 100 * fit.rounds.back().err_source;
  switch (fit.stop) {
    case BoostStop::perfect:
      return {true, fmt::format("{}, the last makes no errors", rounds)};
    case BoostStop::no_weak_learner:
      return {true, fmt::format("{}, then nothing was better than chance; training error {:.3g}%", rounds, error)};
    default:
      return {true, fmt::format("{}, training error {:.3g}%", rounds, error)};
  }
}

}  // namespace

AdaBoost::AdaBoost(BoostedRuns runs) : runs_(std::move(runs)) {}

StageResult AdaBoost::fit(const TrainView& view, const AdaBoostOptions& options, const Context& context, FitCache&) {
  const std::vector<double> y = boost_labels(view, adaboost_name);
  BoostProblem problem{.source = view.labelled_x(), .y = y};
  const std::vector<double> weight = boost_weights(view, options.domain_weights);
  problem.weight = weight;
  problem.copies = options.domain_weights == GroupShares::pooled;
  problem.who = adaboost_name;
  BoostOptions boost;
  boost.rounds = options.rounds;
  boost.search = BoostSearch::all;
  boost.rows = rows_kind(options.exact);
  boost.bins = options.bins;
  boost.depth = shape_of(options).depth;
  boost.weights = false;
  std::vector<BoostFit> fits = fit_boost_runs(problem, boost, 1, context);
  const Index rounds = std::ssize(fits.front().rounds);
  if (rounds == 0) {
    data_error("no_weak_learner", "{}: {}", adaboost_name,
               fits.front().constant
                   ? "every column is constant"
                   : "no stump or tree is better than chance: no column by itself says anything about the label");
  }
  Status status = status_of(fits.front());
  return {std::make_shared<AdaBoost>(BoostedRuns(std::move(fits), {rounds}, shape_of(options))), view,
          std::move(status)};
}

Prediction AdaBoost::predict(const Batch& batch, const Context& context) const {
  return binary_prediction(runs_.plain_vote(batch.x, context));
}

StageState AdaBoost::save() const {
  StageState state;
  runs_.save(state);
  return state;
}

std::shared_ptr<const Fitted> AdaBoost::load(const StageState& state, const AdaBoostOptions& options,
                                             const StageInput& input) {
  require_binary_model(input);
  BoostedRuns runs = BoostedRuns::load(state, input.cols, shape_of(options));
  if (runs.fits().size() != 1) file_error("bad_model", "'runs' must have one run");
  return std::make_shared<AdaBoost>(std::move(runs));
}

Method adaboost_method() {
  return make_method<AdaBoostOptions, AdaBoost::fit, AdaBoost::load>(
      {.name = "adaboost",
       .family = Family::learn,
       .summary = "AdaBoost: a weighted vote of stumps, each the best for the rows that the previous ones got wrong.",
       .when = "for classes when effects are steps or interact (base=tree) and columns have different scales.",
       .example = "impute | adaboost rounds=100",
       .citation = "freund1997",
       .learns = Learns::two_classes});
}

}  // namespace ecotone
