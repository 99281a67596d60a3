#include "ecotone/methods/adapt/daboost/daboost.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/data/storage/subset_storage.h"
#include "ecotone/methods/adapt/daboost/smooth.h"
#include "ecotone/methods/binary_prediction.h"
#include "ecotone/methods/requirements.h"

namespace ecotone {
namespace {

constexpr const char* daboost_name = "daboost";

BoostOptions boost_options(const DaBoostOptions& options, const Context& context) {
  BoostOptions boost;
  boost.gamma = options.gamma;
  boost.rounds = options.rounds;
  boost.candidates = options.candidates;
  boost.select = options.select;
  boost.scale.kind = options.scale.value ? StumpScaleKind::raw : static_cast<StumpScaleKind>(options.scale.word);
  boost.scale.raw = options.scale.value.value_or(1);
  boost.b_t = options.b_t;
  boost.floor = options.floor.value;
  boost.seed = context.seed();
  boost.rows = rows_kind(options.exact);
  boost.bins = options.bins;
  boost.criteria = options.shape().criteria;
  boost.depth = options.shape().depth;
  boost.weights = false;
  return boost;
}

/// The unlabelled rows, read from where they are.
Features target_rows(const TrainView& view) {
  std::vector<Index> rows(static_cast<std::size_t>(view.x.rows() - view.labelled()));
  std::iota(rows.begin(), rows.end(), view.labelled());
  return view.x.with_storage(std::make_shared<SubsetStorage>(view.x.shared_storage(), std::move(rows)));
}

Index kept_rounds(const BoostFit& fit, DaBoostStop stop) {
  switch (stop) {
    case DaBoostStop::eq13:
      return fit.rounds_by_eq13();
    case DaBoostStop::eq14:
      return fit.rounds_by_eq14();
    case DaBoostStop::last:
      break;
  }
  return std::ssize(fit.rounds);
}

/// What to do, given why most hypotheses were rejected.
const char* advice(const BoostRefusals& r, const DaBoostOptions& options) {
  if (r.b_t > r.target && r.b_t >= r.source) return "raise b_t";
  if (r.target >= r.source) return "try a smaller gamma";
  return options.base == BoostBase::stump ? "use columns that say more about the label, or base=tree"
                                          : "use columns that say more about the label, or deeper trees";
}

/// Why a run stopped before its last round, and what to do.
std::string refusal_text(const BoostFit& fit, const DaBoostOptions& options) {
  if (fit.constant) return "every column is constant";
  const BoostRefusals& r = fit.refused;
  return fmt::format(
      "{} hypotheses were drawn and rejected: {} are no better than chance on the source, {} have half or more of "
      "the target's weight within gamma {}, {} exceed b_t; {}",
      r.source + r.target + r.b_t, r.source, r.target, options.gamma, r.b_t, advice(r, options));
}

/// "5 runs of 1500 rounds, of which 20 to 31 vote".
std::string runs_text(const std::vector<Index>& kept, const DaBoostOptions& options) {
  const std::string text = fmt::format("{} of {}", kept.size() == 1 ? "a run" : fmt::format("{} runs", kept.size()),
                                       rounds_text(options.rounds));
  if (options.stop == DaBoostStop::last) return text;
  const auto range = std::minmax_element(kept.begin(), kept.end());
  if (*range.first == *range.second) return fmt::format("{}, of which {} vote", text, *range.first);
  return fmt::format("{}, of which {} to {} vote", text, *range.first, *range.second);
}

/// Of the rounds that vote.
Status status_of(const std::vector<BoostFit>& fits, const std::vector<Index>& kept, const DaBoostOptions& options) {
  const auto is_early = [](const BoostFit& f) { return f.stop != BoostStop::rounds; };
  const auto early = std::find_if(fits.begin(), fits.end(), is_early);
  if (early == fits.end()) {
    double err = 0, loss = 0;
    for (std::size_t r = 0; r < fits.size(); ++r) {
      const BoostRound& last = fits[r].rounds[at(kept[r] - 1)];
      err = std::max(err, last.err_source);
      loss = std::max(loss, last.loss_target);
    }
    return {true, fmt::format("{}, source error {:.3g}%, target loss {:.3g}%", runs_text(kept, options), 100 * err,
                              100 * loss)};
  }
  return {false,
          fmt::format("no_weak_da_learner: {} of {} runs stopped early, run {} after {} of {}; in its last round {}",
                      std::count_if(fits.begin(), fits.end(), is_early), fits.size(), early - fits.begin() + 1,
                      early->rounds.size(), rounds_text(options.rounds), refusal_text(*early, options))};
}

}  // namespace

StageResult DaBoost::fit(const TrainView& view, const DaBoostOptions& options, const Context& context, FitCache&) {
  const std::vector<double> y = boost_labels(view, daboost_name);
  require_target(daboost_name, view);
  if (options.smooth == DaBoostSmooth::knn && options.classifier == BoostSide::source)
    context.warn("unused_option", "{}: smooth is used only with classifier=target", daboost_name);
  const bool smooth = options.smooth == DaBoostSmooth::knn && options.classifier == BoostSide::target;
  BoostProblem problem{.source = view.labelled_x(), .y = y};
  problem.target = target_rows(view);
  const std::vector<double> weight = boost_weights(view, options.domain_weights);
  problem.weight = weight;
  problem.copies = options.domain_weights == GroupShares::pooled;
  problem.who = daboost_name;
  std::vector<BoostFit> fits = fit_boost_runs(problem, boost_options(options, context), options.vote, context);
  const auto some = [](const BoostFit& fit) { return !fit.rounds.empty(); };
  if (std::none_of(fits.begin(), fits.end(), some))
    data_error("no_weak_da_learner", "{}: no weak learner for both domains was found; {}", daboost_name,
               refusal_text(fits.front(), options));
  std::vector<Index> kept;
  for (const BoostFit& fit : fits) kept.push_back(kept_rounds(fit, options.stop));
  Status status = status_of(fits, kept, options);

  auto fitted = std::make_shared<DaBoost>();
  fitted->side_ = options.classifier;
  fitted->runs_ = BoostedRuns(std::move(fits), std::move(kept), options.shape());
  fitted->target_rows_ = problem.target.rows();
  Vector score = fitted->runs_.mean_vote(BoostSide::target, problem.target, context);
  if (smooth) {
    fitted->target_x_ = problem.target.to_matrix();
    score = smooth_over_neighbours(fitted->target_x_, score, context, daboost_name);
  }
  const auto second = (score.array() >= 0).count();
  fitted->target_share_ = static_cast<double>(second) / static_cast<double>(score.size());
  if (score.size() > 1 && (second == 0 || second == score.size()))
    context.warn("one_target_class", "{}: all {} target rows are assigned class '{}'; do not trust this adaptation",
                 daboost_name, score.size(), view.y.classes[second == 0 ? 0 : 1]);
  if (smooth || score.size() <= daboost_kept_targets) fitted->target_score_ = std::move(score);
  return {std::move(fitted), view, std::move(status)};
}

Prediction DaBoost::predict(const Batch& batch, const Context& context) const {
  if (target_x_.size() > 0)
    return binary_prediction(nearest_values(batch.x, target_x_, target_score_, context, daboost_name));
  return binary_prediction(runs_.mean_vote(side_, batch.x, context));
}

StageState DaBoost::save() const {
  StageState state;
  runs_.save(state);
  state.info["target_rows"] = target_rows_;
  state.info["target_share"] = target_share_;
  if (target_score_.size() > 0) state.set("target_score", target_score_);
  if (target_x_.size() > 0) state.set("target_x", target_x_);
  return state;
}

std::shared_ptr<const Fitted> DaBoost::load(const StageState& state, const DaBoostOptions& options,
                                            const StageInput& input) {
  require_binary_model(input);
  auto fitted = std::make_shared<DaBoost>();
  fitted->side_ = options.classifier;
  fitted->runs_ = BoostedRuns::load(state, input.cols, options.shape());
  fitted->target_rows_ = state.count("target_rows");
  fitted->target_share_ = state.number("target_share");
  if (fitted->target_share_ < 0 || fitted->target_share_ > 1)
    file_error("bad_model", "'target_share' must be in [0, 1], is {}", fitted->target_share_);
  if (state.has("target_score")) fitted->target_score_ = state.vector("target_score", fitted->target_rows_);
  const bool smooth = options.smooth == DaBoostSmooth::knn && options.classifier == BoostSide::target;
  if (!smooth) return fitted;
  fitted->target_x_ = state.matrix("target_x", fitted->target_rows_, input.cols);
  if (fitted->target_score_.size() == 0 || fitted->target_x_.size() == 0)
    file_error("bad_model", "arrays 'target_x' and 'target_score' must not be empty");
  return fitted;
}

Method daboost_method() {
  return make_method<DaBoostOptions, DaBoost::fit, DaBoost::load>(
      {.name = "daboost",
       .family = Family::adapt,
       .summary =
           "Boosting for an unlabelled target: stumps that are right on the source and keep a margin from target rows.",
       .when = "when an unlabelled target lies apart from the source and its classes form clusters.",
       .example = "impute | scale | daboost rounds=50",
       .citation = "habrard2012",
       .learns = Learns::two_classes,
       .plain = PlainForm{.method = "adaboost"},
       .without_rows = "smooth=none holds none"});
}

}  // namespace ecotone
