#include "ecotone/trust/expect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ecotone/base/error.h"
#include "ecotone/data/categories.h"
#include "ecotone/evaluate/adapting.h"
#include "ecotone/evaluate/next_domain.h"
#include "ecotone/measure/intervals.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/measure/weights.h"

namespace ecotone {
namespace {

constexpr double least_exponent = 0.2;  // weights that must be flattened more rest on a few rows

/// Adds what domain k scored minus what the estimates expected of it.
void add_residuals(ExpectBasis& basis, const Estimates& estimates, const Metrics& truth, Index classes) {
  for (const auto& [key, expected] : estimates) {
    const auto found = value_of(truth, key.second);
    const auto residual = found ? find_metric(key.second)->scale(classes).residual(*found, expected) : std::nullopt;
    if (residual) basis.residuals[key].push_back(*residual);
  }
}

/// Lets every source domain play the target. `compared`: for the estimators that weight rows, or null.
ExpectBasis replayed_basis(const ReplayFits& fits, const Dataset* compared, Index classes, const Context& context) {
  ExpectBasis basis;
  basis.summary = summarise_sources(fits.sources());
  basis.domains = fits.sources().domains;
  basis.by = fits.by();
  std::vector<Estimates> expected(fits.domains());
  context.parallel(static_cast<Index>(fits.domains()), [&](Index k) {
    const SourceRows others = fits.sources_without(at(k));
    const TargetRows target = fits.as_target(at(k));
    expected[at(k)] = estimate(summarise_sources(others), target);
    if (compared == nullptr) return;
    const Context own = context.derived("replayed ratio", static_cast<std::uint64_t>(k)).observed_by(nullptr);
    const RowRatio ratio = ratio_to(*compared, others, batch(*compared, fits.rows_of(at(k))), own);
    for (const auto& [key, value] : estimate_weighted(others, target, ratio).estimates) expected[at(k)][key] = value;
  });
  for (std::size_t k = 0; k < fits.domains(); ++k)
    add_residuals(basis, expected[k], fits.sources().metrics[k], classes);
  return basis;
}

/// Whether a metric is a share of rows, whose noise is binomial.
bool is_share_of_rows(const std::string& metric) {
  return metric == "accuracy" || metric == "set_coverage" || metric == "interval_coverage";
}

/// Binomial noise of a sample smaller than the sources', on top of what replays show. The share is kept one of n + 2
/// rows away from 0 and 1, where the formula knows no noise.
double extra_variance(const std::string& metric, double estimate, Index rows, double mean_inverse_rows) {
  if (!is_share_of_rows(metric)) return 0;
  const auto n = static_cast<double>(rows);
  const double least = 1 / (n + 2);
  const double share = std::clamp(estimate, least, 1 - least);
  return std::max(0.0, share * (1 - share) * (1 / n - mean_inverse_rows));
}

std::optional<EstimatedValue> estimated(Estimator estimator, const std::string& metric, const Estimates& estimates,
                                        const ExpectBasis& basis, const Expectation& result, Index classes) {
  const auto found = estimates.find({estimator, metric});
  if (found == estimates.end()) return std::nullopt;
  const MetricScale scale = find_metric(metric)->scale(classes);
  EstimatedValue value{.estimator = estimator, .estimate = found->second};
  const bool weighted = estimator_infos()[static_cast<std::size_t>(estimator)].needs_rows;
  value.doubtful = weighted && (result.exponent.value_or(1) < least_exponent || result.lacks_overlap());
  const auto errors = basis.residuals.find({estimator, metric});
  if (errors == basis.residuals.end() || std::ssize(errors->second) < fewest_replayed_domains) return value;
  value.domains = std::ssize(errors->second);
  const double extra = extra_variance(metric, value.estimate, result.rows, basis.summary.mean_inverse_rows);
  if (!result.too_few_rows() || is_share_of_rows(metric))
    value.interval = t_reach(value.estimate, errors->second, result.level, scale, extra);
  if (!result.too_few_rows()) value.conformal = conformal_reach(value.estimate, errors->second, result.level, scale);
  double error = 0;
  for (const double r : errors->second) error += std::abs(r) / static_cast<double>(value.domains);
  value.error = error;
  return value;
}

/// The default estimator of every metric first, then the others in their order.
void add_metrics(Expectation& result, const Estimates& estimates, const ExpectBasis& basis, Index classes) {
  for (const auto& each : basis.summary.mean) {
    const std::string& metric = each.first;
    ExpectedMetric expected{metric, {}};
    const Estimator first = default_estimator(metric);
    const auto add = [&](Estimator estimator) {
      if (auto value = estimated(estimator, metric, estimates, basis, result, classes))
        expected.estimators.push_back(*value);
    };
    add(first);
    for (const EstimatorInfo& info : estimator_infos())
      if (info.estimator != first) add(info.estimator);
    if (!expected.estimators.empty()) result.metrics.push_back(std::move(expected));
  }
}

void require_rows(const TargetSample& target) {
  if (target.batch.x.rows() == 0) data_error("empty_data", "expect: '{}' has no rows", target.name);
}

/// A pipeline that adapts needs the target among the rows that it is fitted on.
void require_target_in(const Dataset& data, const std::string& target) {
  const std::vector<std::string> targets = data.target_names();
  if (std::ranges::find(targets, target) == targets.end())
    option_error(
        "no_target",
        "expect: the pipeline adapts to a target, so the rows of '{}' must be in the data, with the domain named "
        "by --target",
        target);
}

std::vector<std::string> source_names(const Dataset& data) {
  std::vector<std::string> names;
  for (Index d = 0; d < data.domain.count(); ++d)
    if (data.role[at(d)] == Role::source) names.push_back(data.domain.names[at(d)]);
  return names;
}

void warn_of_known(const std::vector<std::string>& sources, const std::string& target, const Context& context) {
  if (std::ranges::find(sources, target) != sources.end())
    context.warn(
        "known_domain",
        "expect: '{}' is the name of a domain that the model learns from; what is said holds for a domain that "
        "it has not seen",
        target);
}

/// How many source domains do not overlap the others.
Index domains_apart(const ReplayFits& fits, const Dataset& compared, const Context& context) {
  std::vector<char> apart(fits.domains(), 0);
  context.parallel(static_cast<Index>(fits.domains()), [&](Index k) {
    const Context own = context.derived("apart", static_cast<std::uint64_t>(k)).observed_by(nullptr);
    const Features rows = compared.x.take(fits.rows_of(at(k)));
    apart[at(k)] = !overlap_with(compared, fits.sources_without(at(k)).row, rows, own).enough();
  });
  return std::ranges::count(apart, 1);
}

void check_expect(const Dataset& data, const Pipeline& pipeline) {
  if (!pipeline.predicts())
    option_error("no_learner", "expect: \"{}\" does not end in a learner, so there is nothing to expect",
                 pipeline.text());
  if (!data.y) data_error("no_labels", "expect: the data have no label column; name it with --label");
}

/// The data with labels of source rows alone (not of their pairs with rows of other domains) and the classes that
/// occur in them: nobody knows the others before the target has labels.
Dataset with_source_labels(Dataset data) {
  for (Index row = 0; row < data.rows(); ++row) {
    const std::int32_t partner = data.domain.partner_of(row);
    if (data.role_of(row) == Role::source && (partner < 0 || data.role[at(partner)] == Role::source)) continue;
    if (data.y->task == Task::classify) {
      data.y->index[at(row)] = -1;
    } else {
      data.y->value[row] = std::numeric_limits<double>::quiet_NaN();
    }
  }
  drop_unused_classes(*data.y);
  return data;
}

Expectation expectation_of(const std::string& pipeline, const ExpectBasis& basis, const TargetSample& target, Task task,
                           double level) {
  Expectation result;
  result.pipeline = pipeline;
  result.target = target.name;
  result.rows = target.batch.x.rows();
  result.task = task;
  result.level = level;
  result.domains = std::ssize(basis.domains);
  if (basis.summary.mean_inverse_rows > 0) result.source_domain_rows = 1 / basis.summary.mean_inverse_rows;
  result.by = basis.by;
  result.more = more_domains(static_cast<int>(basis.domains.size()), level);
  return result;
}

}  // namespace

std::string Expectation::few_rows_words() const {
  return fmt::format(
      "the target has {} row{}, source domains {:.4g} on average: no interval holds for so few, but for shares of "
      "rows such as accuracy, whose noise is known",
      rows, rows == 1 ? "" : "s", source_domain_rows);
}

std::string Expectation::not_compared_words() const {
  const std::string what = "not checked: whether these rows lie where the sources do; ";
  return what + (overlap ? "a single row cannot tell" : "expect DATA PIPELINE --new FILE does");
}

std::vector<Expectation> expect_targets(const Dataset& given, const Pipeline& pipeline,
                                        const std::vector<TargetSample>& targets, const ExpectOptions& options,
                                        const Context& context) {
  check_expect(given, pipeline);
  for (const TargetSample& target : targets) {
    require_rows(target);
    if (adapts(pipeline)) require_target_in(given, target.name);
    warn_of_known(source_names(given), target.name, context);
  }
  const Dataset data = with_source_labels(given);
  const ReplayFits fits(data, pipeline, options.replay, options.journal, context);
  const Index classes = std::ssize(data.y->classes);
  const Dataset compared = levels_to_compare(data, context.observed_by(nullptr));
  const ExpectBasis basis = replayed_basis(fits, &compared, classes, context);
  std::vector<Expectation> results;
  std::optional<Index> apart;
  for (std::size_t t = 0; t < targets.size(); ++t) {
    const TargetSample& target = targets[t];
    const Context own = context.derived("expect", t);
    const TrainView view = fits.training_view(target.name);
    const Model model = Model::fit(pipeline, view, data.schema, own);
    const TargetRows rows = target_rows(model, *data.y, target.batch, own);
    Expectation result = expectation_of(pipeline.text(), basis, target, data.y->task, options.level);
    const RowRatio ratio = ratio_to(compared, fits.sources(), target.compared, own);
    WeightedEstimates weighted = estimate_weighted(fits.sources(), rows, ratio);
    result.overlap = overlap_with(compared, fits.sources().row, target.compared.x, own);
    result.exponent = weighted.exponent;
    Estimates estimates = estimate(basis.summary, rows);
    estimates.merge(weighted.estimates);
    if (result.lacks_overlap()) {
      if (!apart) apart = domains_apart(fits, compared, context);
      result.apart = *apart;
    }
    add_metrics(result, estimates, basis, classes);
    results.push_back(std::move(result));
  }
  return results;
}

std::vector<Expectation> expect_targets(const Dataset& data, const Pipeline& pipeline, const ExpectOptions& options,
                                        const Context& context) {
  if (!data.has_target())
    data_error("no_target", "expect: name the domain without labels with --target, or give its rows with --new");
  const Dataset compared = levels_to_compare(data, context.observed_by(nullptr));
  std::vector<TargetSample> targets;
  for (const std::string& name : data.target_names()) {
    const Index domain = std::ranges::find(data.domain.names, name) - data.domain.names.begin();
    std::vector<Index> rows = data.domain.rows_of(domain);
    std::erase_if(rows, [&](Index row) { return data.weight.size() > 0 && data.weight[row] == 0; });
    targets.push_back({name, batch(data, rows), batch(compared, rows)});
  }
  return expect_targets(data, pipeline, targets, options, context);
}

ExpectBasis expect_basis(const Dataset& given, const Pipeline& pipeline, const ExpectOptions& options,
                         const Context& context) {
  check_expect(given, pipeline);
  const Dataset data = with_source_labels(given);
  const ReplayFits fits(data, pipeline, options.replay, options.journal, context);
  return replayed_basis(fits, nullptr, std::ssize(data.y->classes), context);
}

Expectation expect_model(const Model& model, const ExpectBasis& basis, const TargetSample& target, double level,
                         const Context& context) {
  require_rows(target);
  warn_of_known(basis.domains, target.name, context);
  if (adapts(model.pipeline()) && std::ranges::find(model.domains(), target.name) == model.domains().end())
    context.warn(
        "not_the_target",
        "expect: the pipeline adapts to a target, and this model was fitted without rows of '{}'; what is said "
        "holds for the target that it was fitted for",
        target.name);
  const Labels classes{model.task(), model.classes(), {}, {}};
  const TargetRows rows = target_rows(model, classes, target.batch, context);
  Expectation result = expectation_of(model.pipeline().text(), basis, target, model.task(), level);
  add_metrics(result, estimate(basis.summary, rows), basis, std::ssize(model.classes()));
  return result;
}

}  // namespace ecotone
