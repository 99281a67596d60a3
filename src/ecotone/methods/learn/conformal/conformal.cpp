#include "ecotone/methods/learn/conformal/conformal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ecotone/base/blocks.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/measure/weights.h"
#include "ecotone/methods/cross_fit.h"
#include "ecotone/methods/learn/conformal/held_out_scores.h"
#include "ecotone/methods/model.h"
#include "ecotone/methods/requirements.h"

namespace ecotone {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double least_effective_rows = 50;  // of weights to a target, and 10 for each parameter
constexpr double least_exponent = 0.2;       // weights that must be flattened more say nothing

ConformalScore resolved_score(const ConformalOptions& options, Task task) {
  using enum ConformalScore;
  const bool classes = task == Task::classify;
  if (options.score == automatic) return classes ? lac : absolute;
  const bool of_classes = options.score == lac || options.score == aps || options.score == raps;
  if (of_classes != classes)
    option_error("bad_option", "conformal: score={} is for {}; use {}", score_name(options.score),
                 classes ? "numbers to predict, not classes" : "classes, not numbers to predict",
                 classes ? "lac, aps or raps" : "absolute or scaled");
  if (options.score == scaled && options.method == ConformalMethod::jackknife)
    option_error("bad_option", "conformal: score=scaled cannot be combined with method=jackknife; use method=hcp");
  return options.score;
}

bool large_enough(const ScoredDomain& domain, const ConformalReport& report) {
  return static_cast<double>(domain.score.size()) >= report.fewest_rows();
}

ScoredDomains large_domains(const ScoredDomains& domains, const ConformalReport& report) {
  ScoredDomains large;
  for (const ScoredDomain& domain : domains)
    if (large_enough(domain, report)) large.push_back(domain);
  return large;
}

double quantile_of(const ScoredDomains& domains, const ConformalReport& report) {
  const double alpha = 1 - report.level;
  switch (report.method) {
    case ConformalMethod::cdf:
      return cdf_quantile(domains, alpha);
    case ConformalMethod::pooled:
      return pooled_quantile(domains, alpha);
    case ConformalMethod::domainwise: {
      const ScoredDomains large = large_domains(domains, report);
      return large.empty() ? infinite : domainwise_quantile(large, alpha, 1 - report.share).quantile;
    }
    default:
      return hcp_quantile(domains, alpha);
  }
}

/// What the sets of a domain's rows would be at `quantile(i)`, i its position in the cross-fit.
template <class Quantile>
DomainCoverage coverage_at(const HeldOutScoresOfDomains& scores, std::size_t domain, const Quantile& quantile) {
  const ScoredDomain& own = scores.domains()[domain];
  DomainCoverage result{scores.names()[domain], std::ssize(own.score), 0, 0.0};
  double weight = 0, size = 0;
  for (std::size_t r = 0; r < own.score.size(); ++r) {
    const double q = quantile(scores.rows(domain)[r]);
    weight += own.weight[r];
    if (own.score[r] <= q + quantile_slack) result.coverage += own.weight[r];
    size += own.weight[r] * scores.size_at(scores.rows(domain)[r], q);
  }
  result.coverage /= weight;
  result.size = size / weight;
  if (!std::isfinite(*result.size)) result.size.reset();
  return result;
}

/// Every domain under the quantile of the others.
void add_coverage(ConformalReport& report, const HeldOutScoresOfDomains& scores) {
  for (std::size_t k = 0; k < scores.domains().size(); ++k) {
    const double q = quantile_of(scores.without(k), report);
    report.by_domain.push_back(coverage_at(scores, k, [&](Index) { return q; }));
  }
}

bool enough_domains(std::size_t domains, double level) { return largest_level(domains) >= level - quantile_slack; }

ConformalMethod resolved_method(const ConformalOptions& options, std::size_t domains) {
  if (options.method != ConformalMethod::automatic) return options.method;
  return enough_domains(domains, options.level) ? ConformalMethod::hcp : ConformalMethod::cdf;
}

/// Of too few domains, whose promise only sets of everything can keep.
void warn_of_everything(const ConformalReport& report, const Context& context) {
  const double level = report.method == ConformalMethod::domainwise ? report.share : report.level;
  context.warn("infinite_sets", "conformal: domains are too few to promise {:.4g}%, so sets hold everything; {}",
               100 * level, report.possible());
}

void warn_of_few(const ConformalReport& report, bool chosen, const Context& context) {
  if (report.method == ConformalMethod::cdf && !chosen) {
    context.warn(
        "no_guarantee", "conformal: {} domains are too few to promise {:.4g}% of rows of a new one ({} are enough); {}",
        report.domains, 100 * report.level, std::ceil(report.level / (1 - report.level) - 1e-9), report.promise());
    return;
  }
  if (report.too_few_domains()) warn_of_everything(report, context);
}

/// Of a finite quantile that is as large as a score can be.
void warn_of_largest_score(const ConformalReport& report, const Context& context) {
  context.warn(
      "infinite_sets",
      "conformal: to cover {:.4g}% sets must hold everything, even classes of probability 0; use a lower level, "
      "or a learner that is less certain (calibrate)",
      100 * report.level);
}

/// Weighted scores with ln(p_target / p_source) of each row.
struct RatedRule {
  Conformal::Weighted rule;
  std::vector<double> log_ratio;
};

/// The weights of held-out rows towards the target, or nothing (with a warning) if both do not overlap.
std::optional<RatedRule> weighted_rule(const Upstream& upstream, const HeldOutScoresOfDomains& scores,
                                       const CrossFit& cross, ConformalReport& report, const Context& context) {
  const TrainView& view = upstream.view;
  require_target("conformal", view);
  const TrainView named = with_schema_names(view, upstream.schema, context);
  TargetRatio ratio = target_ratio(named, upstream.schema, "conformal", context);
  const Overlap overlap = overlap_of(ratio, context);
  const double wanted = std::max(least_effective_rows, 10.0 * static_cast<double>(ratio.x.cols() + 1));
  const Flattened flat = flatten_to_ess(ratio.log_weight, wanted);
  if (!overlap.enough() || flat.exponent < least_exponent) {
    context.warn("no_overlap", "conformal: source and target do not overlap ({}), so rows are not weighted to it",
                 overlap.words());
    return std::nullopt;
  }
  RatedRule rated;
  Conformal::Weighted& rule = rated.rule;
  rule.exponent = flat.exponent;
  const auto rows = static_cast<double>(scores.count());
  const auto domains = static_cast<double>(scores.domains().size());
  double sum = 0;
  for (std::size_t k = 0; k < scores.domains().size(); ++k) {
    const ScoredDomain& own = scores.domains()[k];
    double own_weight = 0;
    for (const double w : own.weight) own_weight += w;
    for (std::size_t r = 0; r < own.score.size(); ++r) {
      const Index row = cross.rows[at(scores.rows(k)[r])];
      // r(x) n / (K N_k)
      rule.score.push_back(own.score[r]);
      rated.log_ratio.push_back(ratio.log_weight[row]);
      rule.weight.push_back(std::exp(flat.exponent * ratio.log_weight[row]) * rows * own.weight[r] /
                            (domains * own_weight));
      sum += rule.weight.back();
    }
  }
  for (double& weight : rule.weight) weight *= rows / sum;
  rule.log_scale = std::log(rows / sum);
  report.exponent = flat.exponent;
  report.ess = effective_sample_size(Eigen::Map<const Vector>(rule.weight.data(), std::ssize(rule.weight)));
  if (flat.exponent < 1)
    context.warn(
        "low_effective_sample",
        "conformal: weights to the target were raised to the power {:.2f}, which leaves {:.0f} effective rows; "
        "the sets are for rows between sources and target",
        flat.exponent, *report.ess);
  // The rows of the fit are not part of the model.
  ratio.log_weight.resize(0);
  ratio.x = Features();
  ratio.group.clear();
  rule.ratio = std::move(ratio);
  return rated;
}

double row_weight(const Conformal::Weighted& rule, double log_ratio) {
  return std::exp(std::min(700.0, rule.exponent * log_ratio + rule.log_scale));
}

/// Every domain under the weighted scores of the others, each row with the weight that a new row there would have.
void add_weighted_coverage(ConformalReport& report, const HeldOutScoresOfDomains& scores, const RatedRule& rated) {
  const Conformal::Weighted& rule = rated.rule;
  std::vector<std::size_t> first;
  for (std::size_t k = 0, next = 0; k < scores.domains().size(); next += scores.domains()[k++].score.size())
    first.push_back(next);
  for (std::size_t k = 0; k < scores.domains().size(); ++k) {
    const std::size_t begin = first[k], end = begin + scores.domains()[k].score.size();
    std::vector<double> score, weight;
    for (std::size_t i = 0; i < rule.score.size(); ++i) {
      if (i >= begin && i < end) continue;
      score.push_back(rule.score[i]);
      weight.push_back(rule.weight[i]);
    }
    const WeightedQuantiles others(score, weight);
    std::size_t next = begin;
    report.by_domain.push_back(coverage_at(
        scores, k, [&](Index) { return others.at(report.level, row_weight(rule, rated.log_ratio[next++])); }));
  }
}

/// The share of the target's rows whose weight alone is more than what may be left out.
double infinite_share(const Conformal::Weighted& rule, const TrainView& view, double level, const Context& context) {
  std::vector<Index> targets;
  for (Index i = view.labelled(); i < view.x.rows(); ++i) targets.push_back(i);
  const Vector log_ratio = rule.ratio.log_weight_of({view.x.take(targets), view.domain.take(targets)}, context);
  const WeightedQuantiles quantiles(rule.score, rule.weight);
  Index count = 0;
  for (const double l : log_ratio) count += std::isinf(quantiles.at(level, row_weight(rule, l)));
  return static_cast<double>(count) / static_cast<double>(targets.size());
}

Conformal::Jackknife jackknife_rule(const HeldOutScoresOfDomains& scores, CrossFit& cross) {
  Conformal::Jackknife rule{scores.domains(), {}, std::move(cross.models)};
  for (std::size_t k = 0; k < rule.domains.size(); ++k)
    rule.model_of.push_back(static_cast<std::size_t>(cross.fold[at(scores.rows(k).front())]));
  return rule;
}

void require_domains(const TrainView& view) {
  Index domains = 0;
  std::string last;
  std::vector<bool> seen(view.domain.names.size(), false);
  for (Index i = 0; i < view.labelled(); ++i) {
    if (view.weight_of(i) == 0 || seen[at(view.domain.index[at(i)])]) continue;
    seen[at(view.domain.index[at(i)])] = true;
    last = view.domain.names[at(view.domain.index[at(i)])];
    ++domains;
  }
  if (domains < 2)
    data_error("needs_two_domains",
               "conformal: sets for a new domain come from models that have not seen a domain, so two source domains "
               "are needed, beside those that an evaluation leaves out; got {}{}",
               domains, domains == 1 ? fmt::format(" ('{}')", last) : "");
}

/// In tables a set is its classes joined by "|", and "none" if it is empty.
void warn_of_names(const std::vector<std::string>& classes, const Context& context) {
  for (const std::string& name : classes)
    if (name == "none" || name.find('|') != std::string::npos)
      context.warn("ambiguous_sets",
                   "conformal: a class is named '{}', which tables of sets use for {}; rename it, or take the JSON of "
                   "predict",
                   name, name == "none" ? "a set without classes" : "several classes");
}

}  // namespace

Conformal::Conformal(ConformalReport report, std::vector<std::string> classes, Fixed rule)
    : report_(std::move(report)), classes_(std::move(classes)), fixed_(rule) {}
Conformal::Conformal(ConformalReport report, std::vector<std::string> classes, Jackknife rule)
    : report_(std::move(report)),
      classes_(std::move(classes)),
      jackknife_(std::move(rule)),
      jackknife_scores_(JackknifeScores(jackknife_->domains)) {}
Conformal::Conformal(ConformalReport report, std::vector<std::string> classes, Weighted rule)
    : report_(std::move(report)),
      classes_(std::move(classes)),
      weighted_(std::move(rule)),
      weighted_scores_(WeightedQuantiles(weighted_->score, weighted_->weight)) {}

StageResult Conformal::fit(const Upstream& upstream, const ConformalOptions& options, const Context& context) {
  const TrainView& view = upstream.view;
  if (options.folds == 1)
    option_error("bad_option", "conformal: folds must be 0 (one for every domain), or at least 2; got 1");
  if (view.y.task == Task::classify) require_two_classes("conformal", view);
  warn_of_names(view.y.classes, context);
  ConformalReport report{.score = resolved_score(options, view.y.task), .level = options.level, .share = options.share};
  require_domains(view);
  if (options.method == ConformalMethod::weighted) require_target("conformal", view);
  CrossFit cross =
      cross_fit(upstream, "conformal", context, {options.folds, options.method == ConformalMethod::jackknife});
  if (report.score == ConformalScore::scaled && cross.variance.size() == 0)
    option_error(
        "bad_option",
        "conformal: score=scaled needs a learner that says how sure it is of each row, as gp does; use score=absolute");
  const HeldOutScoresOfDomains scores(upstream, cross, report.score);
  if (scores.domains().size() < 2)
    data_error("needs_two_domains", "conformal: only one domain could be left out; two are needed");
  report.rows = scores.count();
  report.domains = std::ssize(scores.domains());
  report.method = resolved_method(options, scores.domains().size());
  const auto done = [&](auto rule) {
    return StageResult{std::make_shared<Conformal>(std::move(report), view.y.classes, std::move(rule)), view, {}};
  };
  if (report.method == ConformalMethod::weighted) {
    if (auto rated = weighted_rule(upstream, scores, cross, report, context)) {
      add_weighted_coverage(report, scores, *rated);
      report.infinite_share =
          infinite_share(rated->rule, with_schema_names(view, upstream.schema, context), report.level, context);
      return done(std::move(rated->rule));
    }
    report.method = enough_domains(scores.domains().size(), report.level) ? ConformalMethod::hcp : ConformalMethod::cdf;
  }
  if (report.method == ConformalMethod::domainwise && large_domains(scores.domains(), report).empty())
    data_error(
        "small_domains",
        "conformal: no domain has the {:.0f} rows that {:.4g}% of them need, so method=domainwise has none to learn "
        "from; use method=hcp, or a lower level",
        report.fewest_rows(), 100 * report.level);
  add_coverage(report, scores);
  if (report.method == ConformalMethod::domainwise) {
    for (std::size_t k = 0; k < scores.domains().size(); ++k)
      if (!large_enough(scores.domains()[k], report)) report.left_out.push_back(scores.names()[k]);
    report.domains -= std::ssize(report.left_out);
    if (!report.left_out.empty())
      context.warn("small_domains",
                   "conformal: {} of {} domains have too few rows for {:.4g}% of them and do not count",
                   report.left_out.size(), scores.domains().size(), 100 * report.level);
  }
  warn_of_few(report, options.method == ConformalMethod::cdf, context);
  if (report.method == ConformalMethod::jackknife) return done(jackknife_rule(scores, cross));
  const double quantile = quantile_of(scores.domains(), report);
  report.everything = std::isfinite(quantile) && report.holds_everything(quantile);
  if (report.everything) warn_of_largest_score(report, context);
  return done(Fixed{quantile});
}

void Conformal::add_sets(Prediction& prediction, Index row, double quantile) const {
  if (prediction.task == Task::classify) {
    const Vector scores = class_scores(prediction.probability.row(row).transpose(), class_score_of(report_.score));
    for (Index c = 0; c < scores.size(); ++c) prediction.set(row, c) = scores[c] <= quantile + quantile_slack;
    return;
  }
  const double scale = prediction.variance.size() > 0 ? std::sqrt(prediction.variance[row]) : 1;
  const NumberInterval interval =
      number_interval(number_score_of(report_.score), prediction.value[row], scale, quantile);
  prediction.low[row] = interval.low;
  prediction.high[row] = interval.high;
}

namespace {

/// Predictions of a model without some domains, in the classes of the whole one.
Matrix probabilities_of(const Model& model, const Prediction& prediction, const std::vector<std::string>& classes) {
  Matrix result = Matrix::Zero(prediction.probability.rows(), std::ssize(classes));
  for (std::size_t k = 0; k < model.classes().size(); ++k) {
    const auto place = std::ranges::find(classes, model.classes()[k]) - classes.begin();
    if (place < result.cols()) result.col(place) = prediction.probability.col(static_cast<Index>(k));
  }
  return result;
}

}  // namespace

void Conformal::add_by_models(Prediction& prediction, const Batch& batch, const Context& context) const {
  const double alpha = 1 - report_.level;
  const auto& rule = *jackknife_;
  const bool classes = prediction.task == Task::classify;
  std::vector<Matrix> probability;
  std::vector<Vector> value;
  for (const auto& model : rule.models) {
    Prediction own = model->predict(batch, context);
    if (classes)
      probability.push_back(probabilities_of(*model, own, classes_));
    else
      value.push_back(std::move(own.value));
  }
  const std::size_t domains = rule.domains.size();
  parallel_rows(batch.x.rows(), context, [&](Index first, Index last) {
    std::vector<double> of_domain(domains);
    std::vector<Vector> of_model(rule.models.size());
    for (Index row = first; row < last; ++row) {
      if (!classes) {
        for (std::size_t k = 0; k < domains; ++k) of_domain[k] = value[rule.model_of[k]][row];
        prediction.low[row] = jackknife_scores_->lower(of_domain, alpha);
        prediction.high[row] = jackknife_scores_->upper(of_domain, alpha);
        continue;
      }
      for (std::size_t m = 0; m < of_model.size(); ++m)
        of_model[m] = class_scores(probability[m].row(row).transpose(), class_score_of(report_.score));
      for (Index c = 0; c < prediction.set.cols(); ++c) {
        for (std::size_t k = 0; k < domains; ++k) of_domain[k] = of_model[rule.model_of[k]][c];
        prediction.set(row, c) = included(jackknife_scores_->p_value(of_domain), alpha);
      }
    }
  });
}

Prediction Conformal::revised(Prediction before, const Batch& batch, const Context& context) const {
  const Index rows = batch.x.rows();
  if (before.task == Task::classify) {
    before.set = Prediction::Sets::Constant(rows, std::ssize(classes_), false);
  } else {
    before.low.resize(rows);
    before.high.resize(rows);
  }
  if (jackknife_) {
    add_by_models(before, batch, context);
    warn_of_infinite_sets(report_.too_few_domains() ? rows : 0, rows, context);
    return before;
  }
  const Vector quantile = quantiles(batch, context);
  parallel_rows(rows, context, [&](Index first, Index last) {
    for (Index row = first; row < last; ++row) add_sets(before, row, quantile[row]);
  });
  const Index everything = std::ranges::count_if(quantile, [&](double q) { return report_.holds_everything(q); });
  warn_of_infinite_sets(everything, rows, context);
  return before;
}

Vector Conformal::quantiles(const Batch& batch, const Context& context) const {
  const Index rows = batch.x.rows();
  if (fixed_) return Vector::Constant(rows, fixed_->quantile);
  Vector quantile = weighted_->ratio.log_weight_of(batch, context);
  parallel_rows(rows, context, [&](Index first, Index last) {
    for (Index row = first; row < last; ++row)
      quantile[row] = weighted_scores_->at(report_.level, row_weight(*weighted_, quantile[row]));
  });
  return quantile;
}

void Conformal::warn_of_infinite_sets(Index infinite, Index rows, const Context& context) const {
  if (!loaded_ || infinite == 0) return;
  if (report_.too_few_domains()) return warn_of_everything(report_, context);
  if (report_.everything) return warn_of_largest_score(report_, context);
  context.warn("infinite_sets", "conformal: the sets of {} of {} rows hold everything; {}", infinite, rows,
               weighted_ ? "the sources have too few rows like these" : "the model has too few scores");
}

bool Conformal::needs_domain_sample() const {
  return jackknife_ &&
         std::ranges::any_of(jackknife_->models, [](const auto& model) { return model->needs_domain_sample(); });
}

Index Conformal::training_rows() const {
  Index rows = 0;
  if (jackknife_)
    for (const auto& model : jackknife_->models)
      for (std::size_t i = 0; i < model->pipeline().stages().size(); ++i) rows += model->training_rows(i);
  return rows;
}

bool weights_to_target(const OptionValues& options) {
  return options.at("method") == method_name(ConformalMethod::weighted);
}

Method conformal_method() {
  return make_follower<ConformalOptions, Conformal::fit, Conformal::load>(
      {.name = "conformal",
       .family = Family::learn,
       .summary = "Adds sets of classes, or intervals of numbers, that cover a promised share of rows of a new domain.",
       .when = "when a prediction must say what else is possible in a domain that no model has seen.",
       .example = "impute | scale | logistic | conformal",
       .citation = "lee2023",
       .routes = {{Route::streamed}},
       .learns = Learns::labels,
       .without_rows = "use another method than jackknife, which keeps a model for every domain",
       .makes_sets = true});
}

}  // namespace ecotone
