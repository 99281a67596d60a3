#include "ecotone/methods/weight/weighting.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "ecotone/base/numbers.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/measure/weights.h"
#include "ecotone/methods/requirements.h"
#include "ecotone/solve/ratios/domain_auroc.h"

namespace ecotone {
namespace {

constexpr double rows_per_parameter = 20;  // flatten=auto
constexpr double few_per_parameter = 10;   // fewer effective rows cause a warning
constexpr double low_exponent = 0.5;       // as does a smaller power
constexpr double fewest_rows = 5;          // weights that leave less may be dropped
constexpr double small_part = 1e-6;        // of the mean weight, which smaller ones count as when flattened

/// Source rows come first: those with a label or, if nothing is labelled, those before the first target.
Index source_rows(const TrainView& view) {
  if (view.labelled() > 0) return view.labelled();
  const auto is_target = [&](std::int32_t d) { return view.role[at(d)] == Role::target; };
  return std::ranges::find_if(view.domain.index, is_target) - view.domain.index.begin();
}

/// A domain's source rows.
std::vector<Index> source_rows_of(const TrainView& view, Index domain, Index sources) {
  std::vector<Index> rows = view.domain.rows_of(domain);
  rows.erase(std::ranges::lower_bound(rows, sources), rows.end());
  return rows;
}

/// These rows, then all target rows.
std::vector<Index> with_target(std::vector<Index> rows, Index sources, Index all) {
  for (Index i = sources; i < all; ++i) rows.push_back(i);
  return rows;
}

/// Weights of mean 1, as estimated.
Vector raw_weights(const Vector& log_weight) {
  const double top = log_weight.maxCoeff();
  // One by one, so that e^-infinity is exactly 0.
  return normalised(log_weight.unaryExpr([top](double each) { return std::exp(each - top); }));
}

/// The logarithm that weights count as at least where they are raised to a power. A power makes much of what is nearly
/// 0 and nothing of 0, and a solver leaves either by chance; so both are a small part of the mean. Where a stage finds
/// logarithms, small weights are as good as others, and only 0 is raised, to no more than the smallest of them.
double least_log_weight(const Vector& log_weight, bool solved) {
  const double top = log_weight.maxCoeff();
  double least = top + std::log((log_weight.array() - top).exp().mean()) + std::log(small_part);
  for (const double each : log_weight)
    if (!solved && each > -infinity) least = std::min(least, each);
  return least;
}

/// Weights of mean 1, flattened to `ess` effective rows. If these are there without, the weights stay as estimated.
Flattened flattened(const Vector& log_weight, double ess, bool solved) {
  const Vector raw = raw_weights(log_weight);
  if (effective_sample_size(raw) >= ess) return {raw, 1};
  return flatten_to_ess(log_weight.cwiseMax(least_log_weight(log_weight, solved)), ess);
}

/// Weights as estimated and as passed to the learner, both of mean 1 unless normalise=false.
struct Shaped {
  Vector raw;
  Vector weights;
};

/// `weights` multiplied by the rows' given weights, if any.
Vector times(const Vector& weights, const Vector& given) {
  return given.size() == 0 ? weights : Vector(weights.array() * given.array());
}

/// The same scaled to a largest value of 1, so that squares neither overflow nor vanish; 0 stays 0.
Vector scaled_product(const Vector& weights, const Vector& given) {
  Vector product = times(weights, given);
  const double top = product.maxCoeff();
  if (top > 0) product /= top;
  return product;
}

/// Effective sample sizes of the weights times the given ones. A domain whose given weights are all 0 has none.
void measure(WeightReport& report, const Shaped& shaped, const Vector& given) {
  const Vector weights = scaled_product(shaped.weights, given);
  report.ess_raw = effective_sample_size(scaled_product(shaped.raw, given));
  report.ess = effective_sample_size(weights);
  report.largest_share = report.ess > 0 ? largest_share(weights) : 0;
}

/// Estimates and shapes the weights of one sample of source rows.
class Shaping {
 public:
  Shaping(const Weigher& weigher, const WeightOptions& options, const Context& context)
      : weigher_(weigher), options_(options), context_(context) {}

  /// The weights of the first `sources` rows; `ess` is the effective sample size to reach, 0 for none. The report
  /// describes their product with the given weights. `group`: of all rows of x; `rows`: of the view, of the sources.
  Shaped weights(const Features& x, const Groups& group, const std::vector<Index>& rows, double ess,
                 const Vector& given, WeightReport& report) const {
    const Index sources = std::ssize(rows);
    const Vector log_weight =
        weigher_.log_ratio_of_rows ? weigher_.log_ratio_of_rows(x, rows) : weigher_.log_ratio(x, sources);
    if (weigher_.chosen != nullptr) report.chosen = *weigher_.chosen;
    // A comparison with NaN is false.
    if (!(log_weight.array() < infinity).all()) {
      data_error("non_finite", "{}: the feature values are too large to estimate weights", weigher_.who);
    }
    if (log_weight.maxCoeff() == -infinity) {
      data_error("zero_weights", "{}: no source row is near a target row, so all weights are 0", weigher_.who);
    }
    report.rows = sources;
    Flattened flat = flattened(log_weight, ess, weigher_.solved);
    report.exponent = flat.exponent;
    Shaped shaped{raw_weights(log_weight), std::move(flat.weights)};
    if (options_.clip.value) shaped.weights = clipped(shaped.weights, *options_.clip.value);
    measure(report, shaped, given);
    const bool dropped = *report.ess_raw < least(x.cols());
    if (dropped) {
      report.exponent = 0;
      shaped.weights.setOnes();
      measure(report, shaped, given);
    }
    report.auroc =
        domain_auroc(x, sources, {.squares = weigher_.squares, .who = weigher_.who, .group = group}, context_);
    if (!options_.normalise) {
      const double mean = estimated_mean(log_weight);
      shaped.raw *= mean;
      if (!dropped) shaped.weights *= mean;
    }
    return shaped;
  }

  /// The raw effective sample size below which no weights are applied; 0: they always are.
  double least(Index cols) const {
    if (!weigher_.falls_back || !options_.flatten.is_word(WeightOptions::flatten_auto)) return 0;
    return std::max(fewest_rows, static_cast<double>(cols + 1));
  }

 private:
  const Weigher& weigher_;
  const WeightOptions& options_;
  const Context& context_;

  double estimated_mean(const Vector& log_weight) const {
    const double mean = log_weight.array().exp().mean();
    if (std::isfinite(mean)) return mean;
    data_error("non_finite", "{}: the weights overflow; use normalise=true", weigher_.who);
  }
};

/// The effective sample size to flatten to; 0 for none.
double wanted_ess(const WeightOptions& options, Index cols) {
  if (options.flatten.value) return *options.flatten.value;
  if (options.flatten.is_word(WeightOptions::flatten_none)) return 0;
  // 20 (M + 1)
  return rows_per_parameter * static_cast<double>(cols + 1);
}

/// All source rows against the target.
Vector pooled(const TrainView& view, Index sources, double ess, const Vector& given, const Shaping& shaping,
              WeightReport& all) {
  std::vector<Index> rows(at(sources));
  std::iota(rows.begin(), rows.end(), Index{0});
  return shaping.weights(view.x, view.group, rows, ess, given, all).weights;
}

/// Each source domain against the target. With (sum a)^2 / sum a^2 >= ess n_d / n in each, all together have ess.
Vector one_by_one(const TrainView& view, Index sources, double ess, const Vector& given, const Shaping& shaping,
                  WeightReport& all, std::vector<Weighting::Source>& reports) {
  Shaped together{Vector(sources), Vector(sources)};
  all.exponent = 1;
  all.rows = sources;
  double auroc = 0;
  Index told_apart = 0;  // rows of domains that have an AUROC
  bool weighted = false;
  for (Index d = 0; d < view.domain.count(); ++d) {
    const std::vector<Index> rows = source_rows_of(view, d, sources);
    if (rows.empty()) continue;
    const auto count = static_cast<Index>(rows.size());
    const double part = static_cast<double>(count) / static_cast<double>(sources);
    WeightReport report;
    const std::vector<Index> both = with_target(rows, sources, view.x.rows());
    const Shaped own = shaping.weights(view.x.take(both), take_groups(view.group, both), rows, ess * part,
                                       given.size() == 0 ? given : Vector(given(rows)), report);
    together.raw(rows) = own.raw;
    together.weights(rows) = own.weights;
    if (*report.ess_raw >= shaping.least(view.x.cols())) {
      all.exponent = std::min(all.exponent, report.exponent);
      weighted = true;
    }
    if (report.auroc) {
      auroc += static_cast<double>(count) * *report.auroc;
      told_apart += count;
    }
    reports.push_back({view.domain.names[at(d)], report});
  }
  if (!weighted) all.exponent = 0;
  measure(all, together, given);
  if (told_apart > 0) all.auroc = auroc / static_cast<double>(told_apart);
  return std::move(together.weights);
}

/// What a stage reports that cannot weight: all rows have the weight that they were given.
WeightReport unweighted(Index rows, const Vector& given) {
  WeightReport report{.rows = rows, .exponent = 0, .ess_raw = std::nullopt, .auroc = std::nullopt};
  const Vector weights = scaled_product(Vector::Ones(rows), given);
  report.ess = effective_sample_size(weights);
  report.largest_share = report.ess > 0 ? largest_share(weights) : 0;
  return report;
}

/// The same of every source domain.
std::vector<Weighting::Source> unweighted_sources(const TrainView& view, Index sources, const Vector& given) {
  std::vector<Weighting::Source> reports;
  for (Index d = 0; d < view.domain.count(); ++d) {
    const std::vector<Index> rows = source_rows_of(view, d, sources);
    if (!rows.empty())
      reports.push_back({view.domain.names[at(d)],
                         unweighted(static_cast<Index>(rows.size()), given.size() == 0 ? given : Vector(given(rows)))});
  }
  return reports;
}

/// Warns about source domains whose weights were dropped; whether these are all.
bool warn_of_dropped(const std::vector<Weighting::Source>& sources, double least, const char* who,
                     const Context& context) {
  std::vector<std::string> names;
  for (const Weighting::Source& source : sources)
    if (source.report.ess_raw.value_or(least) < least) names.push_back(source.domain);
  if (names.empty() || least == 0) return false;
  context.warn("low_effective_sample",
               "{}: no weights are applied to the rows of {} '{}', because weighting would leave fewer than {:.0f} "
               "effective rows of each",
               who, names.size() == 1 ? "domain" : "the domains", fmt::join(names, "', '"), least);
  return names.size() == sources.size();
}

/// "flatten=auto", as the user wrote it.
std::string asked_for(const WeightOptions& options) {
  return options.flatten.value ? fmt::format("flatten={:g}", *options.flatten.value) : "flatten=auto";
}

}  // namespace

void warn_of_weights(const WeightReport& report, const WeightRequest& request, const Context& context) {
  if (request.targets < request.cols + 1) {
    context.warn(
        "few_target_rows",
        "{}: the target has {} row{}, fewer than the {} that {} column{} need; the weights rest on too few points",
        request.who, request.targets, request.targets == 1 ? "" : "s", request.cols + 1, request.cols,
        request.cols == 1 ? "" : "s");
  }
  if (report.exponent == 0 && static_cast<double>(report.rows) < request.ess) {
    context.warn("low_effective_sample",
                 "{}: {} rows are fewer than the {:g} that {} asks for, so no weights are applied", request.who,
                 report.rows, request.ess, request.asked);
    return;
  }
  if (request.told) return;
  const double raw_rows = report.ess_raw.value_or(0);
  if (raw_rows < request.least) {
    context.warn(
        "low_effective_sample",
        "{}: weighting to the target would leave an effective sample size of {:.1f} out of {} rows, fewer than "
        "{:.0f}, so no weights are applied (flatten=none applies them)",
        request.who, raw_rows, report.rows, request.least);
    return;
  }
  const double few = few_per_parameter * static_cast<double>(request.cols + 1);
  if (report.exponent >= low_exponent && raw_rows >= few) return;
  const std::string raw = fmt::format(
      "{}: weighting to the target would leave an effective sample size of {:.1f} out of {} rows, but {} columns need "
      "{:.0f} or more",
      request.who, raw_rows, report.rows, request.cols, few);
  if (report.exponent == 1) {
    context.warn("low_effective_sample", "{}; {}so the added variance may outweigh what the weights gain", raw,
                 request.ess == 0 ? "the weights were not flattened, " : "");
  } else if (report.exponent == 0) {
    context.warn("low_effective_sample",
                 "{}; only equal weights reach {:.0f}, so all rows are weighted equally and nothing is corrected", raw,
                 request.ess);
  } else {
    context.warn("low_effective_sample",
                 "{}; the weights were raised to the power {:.2f}, which leaves {:.0f} effective rows and corrects the "
                 "shift only in part",
                 raw, report.exponent, report.ess);
  }
}

StageResult weigh(const TrainView& view, const Weigher& weigher, const WeightOptions& options, const Context& context) {
  const Index sources = source_rows(view);
  require_target(weigher.who, view, sources);
  if (sources == 0) data_error("empty_data", "{}: there are no source rows to weight", weigher.who);
  const double ess = wanted_ess(options, view.x.cols());
  const Shaping shaping(weigher, options, context);
  WeightReport all;
  std::vector<Weighting::Source> reports;
  // Without labels, no learner could use the row weights.
  const Vector given = view.labelled() > 0 ? view.weight : Vector();
  TrainView next = view;
  // Raised to the power 0 whatever they are: no need to estimate them.
  const bool idle = static_cast<double>(sources) < ess;
  Vector weights = Vector::Ones(sources);
  if (idle) {
    all = unweighted(sources, given);
    if (options.per_source) reports = unweighted_sources(view, sources, given);
  } else {
    weights = options.per_source ? one_by_one(view, sources, ess, given, shaping, all, reports)
                                 : pooled(view, sources, ess, given, shaping, all);
  }
  if (view.labelled() > 0) next.weight = times(weights, given);
  if (all.ess == 0) {
    data_error("zero_weights", "{}: no source row of positive weight is near a target row, so all weights are 0",
               weigher.who);
  }
  const bool told =
      options.per_source && !idle && warn_of_dropped(reports, shaping.least(view.x.cols()), weigher.who, context);
  warn_of_weights(all,
                  {.who = weigher.who,
                   .cols = view.x.cols(),
                   .targets = view.x.rows() - sources,
                   .ess = ess,
                   .asked = asked_for(options),
                   .least = options.per_source ? 0 : shaping.least(view.x.cols()),
                   .told = told},
                  context);
  return {std::make_shared<Weighting>(all, std::move(reports)), std::move(next), {}};
}

namespace {

Json to_json(const WeightReport& report) {
  Json json = {{"rows", report.rows},
               {"exponent", report.exponent},
               {"ess_raw", report.ess_raw ? Json(*report.ess_raw) : Json(nullptr)},
               {"ess", report.ess},
               {"largest_share", report.largest_share},
               {"auroc", report.auroc ? Json(*report.auroc) : Json(nullptr)}};
  if (!report.chosen.empty()) json["chosen"] = report.chosen;
  return json;
}

double in_range(const StageState& state, const char* name, double high) {
  const double value = state.number(name);
  if (value < 0 || value > high) file_error("bad_model", "'{}' must be in [0, {}], is {}", name, high, value);
  return value;
}

WeightReport read_report(const StageState& state) {
  WeightReport report;
  report.rows = state.count("rows");
  // Sums of rounded numbers may slightly exceed their bound.
  const double most = static_cast<double>(report.rows) * (1 + 1e-6);
  report.exponent = in_range(state, "exponent", 1);
  const auto raw = state.info.find("ess_raw");
  const bool estimated = raw == state.info.end() || !raw->is_null();
  report.ess_raw = estimated ? std::optional(in_range(state, "ess_raw", most)) : std::nullopt;
  report.ess = in_range(state, "ess", most);
  report.largest_share = in_range(state, "largest_share", 1 + 1e-6);
  report.auroc = saved_auroc(state);
  if (const auto chosen = state.info.find("chosen"); chosen != state.info.end()) {
    if (!chosen->is_object()) file_error("bad_model", "'chosen' must be an object");
    report.chosen = *chosen;
  }
  return report;
}

}  // namespace

std::optional<double> saved_auroc(const StageState& state) {
  const auto found = state.info.find("auroc");
  if (found != state.info.end() && found->is_null()) return std::nullopt;
  return in_range(state, "auroc", 1);
}

StageState Weighting::save() const {
  StageState state;
  state.info = to_json(all_);
  if (sources_.empty()) return state;
  Json list = Json::array();
  for (const Source& source : sources_) {
    Json item = to_json(source.report);
    item["domain"] = source.domain;
    list.push_back(std::move(item));
  }
  state.info["sources"] = std::move(list);
  return state;
}

std::shared_ptr<const Fitted> Weighting::load(const StageState& state) {
  const WeightReport all = read_report(state);
  std::vector<Source> sources;
  const auto found = state.info.find("sources");
  if (found != state.info.end()) {
    if (!found->is_array()) file_error("bad_model", "'sources' must be a list");
    for (const Json& item : *found) {
      if (!item.is_object()) file_error("bad_model", "'sources' must be a list of objects");
      StageState one;
      one.info = item;
      sources.push_back({one.text("domain"), read_report(one)});
    }
  }
  return std::make_shared<Weighting>(all, std::move(sources));
}

}  // namespace ecotone
