#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <set>

#include "ecotone/choose/score_kinds.h"

namespace ecotone {

namespace {

/// Whether the rows have at least two classes; always true for regression.
bool learnable(const Labels& y, const std::vector<Index>& rows) {
  if (y.task == Task::regress) return !rows.empty();
  std::set<std::int32_t> classes;
  for (const Index row : rows) classes.insert(y.index[static_cast<std::size_t>(row)]);
  return classes.size() >= 2;
}

Index source_domains(const TrainView& view) {
  std::set<std::int32_t> domains(view.domain.index.begin(), view.domain.index.begin() + view.labelled());
  return static_cast<Index>(domains.size());
}

/// The largest number of domains treated as the target.
constexpr Index most_pseudo_targets = 20;

/// Single source domains as pseudo-targets, because the target is one domain.
struct PseudoTargets {
  std::vector<InnerFold> folds;
  std::vector<InnerFold> small;  ///< left out: too few rows to say what a candidate does there
  Index one_class = 0;           ///< left out: without them one class remains
};

/// If there are many, some are drawn by the seed. A target of fewer rows than columns + 1 is not adapted to (veto.h),
/// so a source domain of so few does not play one, if two others remain.
PseudoTargets pseudo_targets(const TrainView& view, const Context& context) {
  const Index domains = source_domains(view);
  PseudoTargets found;
  if (domains < 2) return found;
  found.folds = inner_folds(view, context, domains);
  const auto is_large = [&](const InnerFold& fold) { return std::ssize(fold.held) > view.x.cols(); };
  const auto large = std::ranges::count_if(found.folds, is_large);
  if (large >= 2 && large < std::ssize(found.folds)) {
    const auto first = std::stable_partition(found.folds.begin(), found.folds.end(), is_large);
    found.small.assign(std::make_move_iterator(first), std::make_move_iterator(found.folds.end()));
    found.folds.erase(first, found.folds.end());
  }
  if (const Index all = std::ssize(found.folds); all > most_pseudo_targets) {
    std::vector<Index> drawn = context.random("pseudo targets").sample(all, most_pseudo_targets);
    std::ranges::sort(drawn);
    std::vector<InnerFold> some;
    for (const Index fold : drawn) some.push_back(std::move(found.folds[static_cast<std::size_t>(fold)]));
    found.folds = std::move(some);
  }
  found.one_class = static_cast<Index>(
      std::erase_if(found.folds, [&](const InnerFold& fold) { return !learnable(view.y, fold.train); }));
  return found;
}

/// The domain that a fold holds out.
const std::string& held_domain(const TrainView& view, const InnerFold& fold) {
  const Index row = fold.held.front();
  return view.domain.names[static_cast<std::size_t>(view.domain.index[static_cast<std::size_t>(row)])];
}

void note_small_domains(const TrainView& view, const PseudoTargets& targets, const Context& context) {
  if (targets.small.empty()) return;
  const auto few = targets.small.size();
  const std::size_t rows = targets.small.front().held.size();
  context.note(
      "transfer: {} source domain{} ha{} fewer rows than columns + 1, {}, and {} not treated as the target ('{}' has "
      "{} row{})",
      few, few == 1 ? "" : "s", few == 1 ? "s" : "ve", view.x.cols() + 1, few == 1 ? "is" : "are",
      held_domain(view, targets.small.front()), rows, rows == 1 ? "" : "s");
}

/// A candidate's predictions for the target rows.
struct Labelled {
  Prediction on_target;
  std::vector<std::string> classes;
};

/// The target rows as sources with predicted labels, and these source rows as the unlabelled target.
TrainView reversed(const TrainView& view, const Labelled& forward, const std::vector<Index>& sources) {
  std::vector<Index> rows(static_cast<std::size_t>(view.x.rows() - view.labelled()));
  std::iota(rows.begin(), rows.end(), view.labelled());
  TrainView result;
  result.y = {view.y.task, forward.classes, forward.on_target.index, forward.on_target.value};
  drop_unused_classes(result.y);
  rows.insert(rows.end(), sources.begin(), sources.end());
  result.x = view.x.take(rows);
  result.domain = view.domain.take(rows);
  result.origin = take_origin(view.origin, rows);
  result.group = take_groups(view.group, rows);
  result.role.assign(result.domain.names.size(), Role::target);
  for (Index i = 0; i < result.y.size(); ++i)
    result.role[static_cast<std::size_t>(result.domain.index[static_cast<std::size_t>(i)])] = Role::source;
  return result;
}

/// The given weights of these rows; empty if all are 1.
Vector weights_of(const TrainView& view, const std::vector<Index>& rows) {
  if (view.weight.size() == 0) return {};
  return view.weight(rows);
}

/// What the points of domains are made of: the share of errors, or the root mean squared error.
double domain_error(double mean_loss, Task task) { return task == Task::classify ? mean_loss : std::sqrt(mean_loss); }

/// Points over the reference in each domain; none if the reference predicts numbers without an error.
std::optional<DomainGains> domain_gains(const Vector& reference, const Vector& own, const TrainView& view,
                                        const std::vector<InnerFold>& folds) {
  constexpr double half_a_point = 0.5;
  const bool numbers = view.y.task == Task::regress;
  if (numbers && !(reference.minCoeff() > 0)) return std::nullopt;
  const Vector gain = reference - own;
  const Vector points = 100 * (numbers ? gain.cwiseQuotient(reference) : gain);
  Index worst = 0;
  DomainGains gains;
  gains.mean = points.mean();
  gains.worst = points.minCoeff(&worst);
  gains.domains = points.size();
  gains.worse = (points.array() < -half_a_point).count();
  gains.worst_domain = held_domain(view, folds[static_cast<std::size_t>(worst)]);
  return gains;
}

struct WayBack {
  std::vector<Index> sources;  ///< rows that serve as the target of the refit
  std::vector<Index> judged;
  RowLoss loss;
  std::string_view purpose;  ///< of the seeds
};

/// Losses on the judged rows of every candidate refitted on the target rows with its own predicted labels.
std::vector<CandidateScore> scores_of_way_back(CandidateFits& fits, const std::vector<Attempt<Labelled>>& forward,
                                               const WayBack& way) {
  const TrainView& view = fits.view();
  Losses losses(forward.size());
  const auto body = [&](std::size_t c, std::size_t, const TrainView&, FitCache&, const Context& context) {
    if (forward[c].error) throw *forward[c].error;
    const TrainView back = reversed(view, *forward[c].value, way.sources);
    if (view.y.task == Task::classify && back.y.classes.size() < 2) {
      // All target rows got one class: the refit cannot be learned, which counts as the largest loss.
      losses[c].value = Vector::Constant(static_cast<Index>(way.judged.size()), largest_loss(way.loss));
      return;
    }
    const Model model = Model::fit(fits.candidates()[c], back, fits.schema(), context);
    losses[c].value = fits.losses(model, way.judged, way.loss, context);
  };
  const auto errors = fits.run(
      way.purpose, 1, [](std::size_t) { return TrainView{}; }, body);
  for (std::size_t c = 0; c < losses.size(); ++c) losses[c].error = errors[c];
  const Vector weights = weights_of(view, way.judged);
  const bool counted = weights.size() > 0 && weights.sum() > 0;
  return paired_scores(fits, losses, counted ? weights : Vector());
}

}  // namespace

Index transfer_folds(const TrainView& view, const Context& context) {
  return std::ssize(pseudo_targets(view, context).folds);
}

Index domains_apart(CandidateFits& fits) {
  const TrainView& view = fits.view();
  const std::vector<InnerFold> folds = pseudo_targets(view, fits.context()).folds;
  std::vector<char> apart(folds.size(), 0);
  fits.context().parallel(static_cast<Index>(folds.size()), [&](Index f) {
    const InnerFold& fold = folds[static_cast<std::size_t>(f)];
    const Context context = fits.context().derived("score-apart", static_cast<std::uint64_t>(f));
    const TrainView part = view_of_rows(view, fold.train, fold.held);
    const Overlap overlap = overlap_of(target_ratio(part, fits.schema(), "overlap", context), context);
    apart[static_cast<std::size_t>(f)] = overlap.enough() ? 0 : 1;
  });
  return std::ranges::count(apart, 1);
}

std::vector<InnerFold> whole_domain_folds(const TrainView& view, Index most, const Context& context) {
  if (source_domains(view) < 3) return {};
  std::vector<InnerFold> folds = inner_folds(view, context, most);
  const bool all = std::ranges::all_of(folds, [&](const InnerFold& fold) { return learnable(view.y, fold.train); });
  return all ? folds : std::vector<InnerFold>{};
}

std::vector<CandidateScore> score_transfer(CandidateFits& fits) {
  const TrainView& view = fits.view();
  const Index domains = source_domains(view);
  if (domains < 2)
    data_error("needs_two_domains",
               "transfer: each source domain is treated as the target in turn, which takes at least two (three to be "
               "useful), got {}",
               domains);
  const PseudoTargets targets = pseudo_targets(view, fits.context());
  const std::vector<InnerFold>& folds = targets.folds;
  if (folds.empty())
    data_error("one_class", "transfer: whichever of the {} source domains is held out, the others have one class only",
               domains);
  if (targets.one_class > 0)
    fits.loud_context().warn(
        "fold_one_class",
        "transfer: {} of {} source domains cannot be treated as the target: the others have one class only",
        targets.one_class, std::ssize(folds) + targets.one_class);
  note_small_domains(view, targets, fits.loud_context());
  const Task task = view.y.task;
  std::vector<Vector> means(fits.candidates().size(), Vector(static_cast<Index>(folds.size())));
  std::vector<Vector> wrong = means;
  const auto body = [&](std::size_t c, std::size_t f, const TrainView& part, FitCache& cache, const Context& context) {
    const Model model = Model::fit(fits.candidates()[c], part, fits.schema(), context, cache);
    const Vector weights = weights_of(view, folds[f].held);
    const bool counted = weights.size() > 0 && weights.sum() > 0;
    const Prediction prediction = fits.predictions(model, folds[f].held, context);
    const Labels truth = view.y.take(folds[f].held);
    const auto mean_of_loss = [&](RowLoss loss) {
      return mean_error(row_losses(truth, prediction, model.classes(), loss), counted ? weights : Vector()).mean;
    };
    means[c][static_cast<Index>(f)] = mean_of_loss(fits.loss());
    wrong[c][static_cast<Index>(f)] = domain_error(mean_of_loss(simple_loss(task)), task);
  };
  const auto make = [&](std::size_t f) { return view_of_rows(view, folds[f].train, folds[f].held); };
  const auto errors = fits.run("score-transfer", folds.size(), make, body);
  Losses losses(means.size());
  for (std::size_t c = 0; c < means.size(); ++c) {
    losses[c].error = errors[c];
    if (!errors[c]) losses[c].value = means[c];
  }
  std::vector<CandidateScore> scores = paired_scores(fits, losses, Vector());
  for (std::size_t c = 1; c < scores.size(); ++c)
    if (!errors[0] && !errors[c]) scores[c].by_domain = domain_gains(wrong[0], wrong[c], view, folds);
  return scores;
}

std::vector<CandidateScore> score_reverse(CandidateFits& fits) {
  const InnerFold& fold = fits.folds().front();
  const auto& held_out = fits.held_out();
  std::vector<Attempt<Labelled>> forward(held_out.size());
  for (std::size_t c = 0; c < forward.size(); ++c) {
    forward[c].error = held_out[c].error;
    if (held_out[c].value) forward[c].value = {held_out[c].value->on_target, held_out[c].value->classes};
  }
  return scores_of_way_back(fits, forward, {fold.train, fold.held, fits.loss(), "score-reverse"});
}

RowLoss simple_loss(Task task) { return task == Task::classify ? RowLoss::error : RowLoss::squared; }

std::vector<CandidateScore> score_circular(CandidateFits& fits) {
  std::vector<Index> all(static_cast<std::size_t>(fits.view().labelled()));
  std::iota(all.begin(), all.end(), Index{0});
  const auto& full = fits.full();
  std::vector<Attempt<Labelled>> forward(full.size());
  for (std::size_t c = 0; c < forward.size(); ++c) {
    forward[c].error = full[c].error;
    if (full[c].value) forward[c].value = {full[c].value->on_target, full[c].value->model->classes()};
  }
  return scores_of_way_back(fits, forward, {all, all, simple_loss(fits.view().y.task), "score-circular"});
}

}  // namespace ecotone
