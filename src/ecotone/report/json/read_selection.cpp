#include <fmt/format.h>

#include "ecotone/methods/select/feature_selection.h"
#include "ecotone/report/json/read.h"
#include "ecotone/report/json/result_field.h"

namespace ecotone {
namespace {

std::vector<std::vector<double>> read_number_rows(const ResultField& field) {
  return field.each(&ResultField::numbers_or_nan);
}

/// The support of a path, and its weights there from those of all features.
void read_path_weights(PathResult& path, const ResultField& field, std::size_t features) {
  std::vector<bool> taken(features, false);
  const std::vector<ResultField> rows = field.sized(path.indices.size()).items();
  for (std::size_t step = 0; step < rows.size(); ++step) {
    const Index chosen = path.indices[step];
    if (!taken[at(chosen)]) path.support.push_back(chosen);
    taken[at(chosen)] = true;
    const std::vector<double> all = rows[step].sized(features).numbers_or_nan();
    std::vector<double>& weights = path.weights.emplace_back();
    for (const Index j : path.support) weights.push_back(all[at(j)]);
  }
}

/// What the paths of all selectors have; its losses by domain are not among it.
PathResult read_kept_path(const ResultField& field, std::size_t features) {
  PathResult path;
  path.indices =
      field.at("indices").each([&](const ResultField& each) { return static_cast<Index>(each.place(features)); });
  const std::size_t steps = path.indices.size();
  path.gain = field.at("gain").sized(steps).numbers_or_nan();
  path.loss = field.at("loss").sized(steps).numbers_or_nan();
  path.offset = field.at("offset").sized(steps).numbers_or_nan();
  path.stopped_early = field.at("stopped_early").flag();
  read_path_weights(path, field.at("weights"), features);
  return path;
}

Theorem1 read_theorem(const ResultField& field) {
  Theorem1 theory;
  theory.threshold = field.at("threshold").number();
  theory.valid = field.at("valid").flag();
  theory.exact = field.at("exact").number_or_word();
  theory.n_paper = field.at("n_paper").whole();
  theory.n_exact = field.at("n_exact").whole();
  theory.n_sign = field.at("n_sign").whole();
  return theory;
}

LeaveOneOut read_leave_one_out(const ResultField& field, std::size_t steps) {
  LeaveOneOut left_out;
  left_out.table = read_number_rows(field.at("table"));
  left_out.curve = field.at("curve").numbers_or_nan();
  if (left_out.curve.size() <= steps)
    field.at("curve").fail(fmt::format("must have more than {} entries, one of the empty model", steps));
  left_out.best = field.at("best").whole();
  left_out.best_one_se = field.at("best_one_se").whole();
  left_out.chosen = field.at("chosen").whole();
  left_out.beats_empty = field.at("beats_empty").flag();
  return left_out;
}

/// Where a greedy path stops; `path` has the steps that were kept.
Selection read_stopping(const ResultField& field, PathResult path) {
  Selection selection;
  const std::size_t steps = path.indices.size();
  selection.taken = field.at("taken").whole();
  if (at(selection.taken) != steps) field.at("taken").refuse(fmt::format("must be {}, the number of steps", steps));
  selection.theorem1 = read_theorem(field.at("theorem1"));
  selection.above_threshold = field.at("theorem1_heuristic_count").whole();
  selection.above_exact = field.at("theorem1_exact_count").whole();
  selection.student = field.at("student_bonferroni_count").whole();
  if (const auto lodo = field.find("lodo")) selection.left_out = read_leave_one_out(*lodo, steps);
  selection.path = std::move(path);
  return selection;
}

GreedySelection read_greedy(const ResultField& field, const FeatureSelection& found, PathRule rule) {
  PathResult path = read_kept_path(field, found.features.size());
  const std::size_t steps = path.indices.size();
  const std::size_t domains = found.domains.size();
  path.t = field.at("T").sized(steps).each(&ResultField::number_or_word);
  path.mu = field.at("mu").sized(steps).numbers_or_nan();
  path.sigma = field.at("sigma").sized(steps).numbers_or_nan();
  path.pvalue = field.at("pvalue").sized(steps).each(&ResultField::number_or_word);
  path.group_loss = field.at("domain_loss").sized(steps).each([&](const ResultField& each) {
    return each.sized(domains).numbers_or_nan();
  });
  GreedySelection greedy;
  greedy.rule = rule;
  greedy.options = field.at("options").options<GreedyOptions>();
  greedy.run.route = found.route;
  greedy.run.selection = read_stopping(field.at("stopping"), std::move(path));
  return greedy;
}

LeftOutTable read_left_out_table(const ResultField& field) {
  LeftOutTable table;
  for (const ResultField& each : field.at("candidates").items()) {
    table.candidates.push_back({each.at("lam").number(), each.at("mix").number(), each.at("size").whole()});
    table.value.push_back(each.at("value").number_or_nan());
  }
  table.criterion = field.at("criterion")
                        .choice({LeftOutCriterion::auroc, LeftOutCriterion::squared_loss, LeftOutCriterion::rmse,
                                 LeftOutCriterion::log_loss},
                                criterion_name);
  table.groups = field.at("groups").whole();
  table.folds = field.at("folds").whole();
  table.best = static_cast<Index>(field.at("best").place(table.candidates.size()));
  table.advantage = field.at("advantage").number_or_nan();
  table.error = field.at("error").number_or_nan();
  table.beats_empty = field.at("beats_empty").flag();
  return table;
}

/// One fold whose losses after each step are those given; without any, a fold that is not known.
PathResult read_mean_fold(const ResultField& field, const PathResult& path) {
  PathResult fold;
  const std::vector<double> losses = field.numbers_or_nan();
  if (losses.empty()) return fold;
  field.sized(path.indices.size());
  fold.indices = path.indices;
  for (const double loss : losses) fold.group_loss.push_back({loss});
  fold.empty_loss = {0.0};
  return fold;
}

StepSelection read_step(const ResultField& field, std::size_t features) {
  StepSelection step;
  PathResult& path = step.run.path;
  path = read_kept_path(field, features);
  const ResultField losses = field.at("domain_loss");
  step.by_rows = losses.is_null();
  if (!step.by_rows) path.group_loss = read_number_rows(losses.sized(path.indices.size()));
  step.run.penalty = {field.at("lam").number(), field.at("mix").number()};
  step.run.kept_empty = field.at("kept_empty").flag();
  if (const ResultField lodo = field.at("lodo"); !lodo.is_null()) {
    step.run.table = read_left_out_table(lodo);
    if ((lodo.at("left_out").word({"domains", "rows"}) == 1) != step.by_rows)
      lodo.at("left_out").refuse("must go with domain_loss, which is null where rows are left out");
  }
  if (const auto held_out = field.find("held_out_loss")) step.run.folds = {read_mean_fold(*held_out, path)};
  return step;
}

IcpSelection read_icp(const ResultField& field, std::size_t features) {
  IcpSelection icp;
  icp.options = field.at("options").options<IcpStageOptions>();
  IcpResult& run = icp.run;
  const auto columns = [&](const ResultField& list) {
    return list.each([&](const ResultField& each) { return static_cast<Index>(each.place(features)); });
  };
  run.selected = columns(field.at("indices"));
  run.screened = columns(field.at("screened"));
  run.all = field.at("screened_all").flag();
  const std::vector<double> pvalue = field.at("pvalue").sized(run.screened.size()).numbers_or_nan();
  run.pvalue = Eigen::Map<const Vector>(pvalue.data(), std::ssize(pvalue));
  for (const ResultField& each : field.at("sets").items())
    run.sets.push_back({columns(each.at("set")), each.at("p").number(), each.at("accepted").flag()});
  run.found = field.at("status").word({"ok", "no_invariant_set"}) == 0;
  if (const ResultField best = field.at("best"); !best.is_null())
    run.best = static_cast<Index>(best.place(run.sets.size()));
  if (run.found != (run.best >= 0)) field.at("best").refuse("must be a set where the status is ok");
  run.untested = field.at("untested").whole();
  const std::vector<double> weights = field.at("weights").sized(run.selected.size()).numbers_or_nan();
  run.weights = Eigen::Map<const Vector>(weights.data(), std::ssize(weights));
  run.offset = field.at("offset").number();
  return icp;
}

/// AUROC after each step; null: none.
std::vector<std::optional<double>> read_step_auroc(const ResultField& field, std::size_t steps) {
  if (field.is_null()) return {};
  return field.sized(steps).each(&ResultField::optional_number);
}

/// What a selection of any number of classes has.
FeatureSelection read_selection_head(const ResultField& field) {
  FeatureSelection found;
  found.pipeline = field.at("pipeline").text();
  found.classes = field.at("classes").texts();
  found.domains = field.at("domains").texts();
  found.features = field.at("feature_names").texts();
  if (at(field.at("features").whole()) != found.features.size())
    field.at("features").refuse(fmt::format("must be {}, the number of feature_names", found.features.size()));
  found.route = field.at("route").choice({PathRoute::automatic, PathRoute::lazy, PathRoute::gram}, route_name);
  return found;
}

/// A selection of two classes or numbers.
FeatureSelection read_one_path(const ResultField& field) {
  FeatureSelection found = read_selection_head(field);
  switch (field.at("selector").word({"tgreedy", "greedy", "step", "icp"})) {
    case 0:
      found.found = read_greedy(field, found, PathRule::tgreedy);
      break;
    case 1:
      found.found = read_greedy(field, found, PathRule::greedy);
      break;
    case 3:
      found.found = read_icp(field, found.features.size());
      break;
    default:
      found.found = read_step(field, found.features.size());
  }
  const std::size_t steps = field.at("indices").items().size();
  found.source_auroc = read_step_auroc(field.at("auroc"), steps);
  found.held_out_auroc = read_step_auroc(field.at("held_out_auroc"), steps);
  return found;
}

/// The paths of several classes, over the same features.
std::vector<FeatureSelection> read_paths_of_classes(const ResultField& field, const FeatureSelection& whole) {
  if (whole.classes.size() < 3) field.fail("is for three classes or more");
  return field.sized(whole.classes.size()).each([&](const ResultField& each) {
    FeatureSelection found = read_one_path(each);
    if (found.features != whole.features) each.at("feature_names").fail("must be those of the whole selection");
    return found;
  });
}

}  // namespace

FeatureSelection selection_from_json(const Json& json, const std::string& origin) {
  const ResultField field(json, origin);
  const auto of_class = field.find("of_class");
  if (!of_class) return read_one_path(field);
  FeatureSelection found = read_selection_head(field);
  found.of_class = read_paths_of_classes(*of_class, found);
  return found;
}

}  // namespace ecotone
