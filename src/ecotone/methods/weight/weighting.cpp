#include "ecotone/methods/weight/weighting.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ecotone/measure/metrics.h"
#include "ecotone/measure/weights.h"
#include "ecotone/solve/domain_auroc.h"

namespace ecotone {
namespace {

constexpr double rows_per_parameter = 20;  // flatten=auto
constexpr double few_per_parameter = 10;   // fewer effective rows are warned of
constexpr double low_exponent = 0.5;       // as is a smaller power

/// Source rows stand first: those with a label, or where nothing is labelled those before the first target.
Index source_rows(const TrainView& view) {
  if (view.labelled() > 0) return view.labelled();
  const auto is_target = [&](std::int32_t d) { return view.role[static_cast<std::size_t>(d)] == Role::target; };
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

/// Weights of mean 1, of those that are not 0 flattened to `ess` rows.
Flattened flattened(const Vector& log_weight, double ess) {
  std::vector<Index> positive;
  for (Index i = 0; i < log_weight.size(); ++i) {
    if (log_weight[i] > -std::numeric_limits<double>::infinity()) positive.push_back(i);
  }
  Vector kept(static_cast<Index>(positive.size()));
  for (std::size_t i = 0; i < positive.size(); ++i) kept[static_cast<Index>(i)] = log_weight[positive[i]];
  const Flattened flat = flatten_to_ess(kept, ess);
  Vector weights = Vector::Zero(log_weight.size());
  for (std::size_t i = 0; i < positive.size(); ++i) weights[positive[i]] = flat.weights[static_cast<Index>(i)];
  return {normalised(weights), flat.exponent};
}

/// Estimates and shapes the weights of one sample of source rows.
class Shaping {
 public:
  Shaping(const Weigher& weigher, const WeightOptions& options, const Context& context)
      : weigher_(weigher), options_(options), context_(context) {}

  /// The weights of the first `sources` rows; `ess` is the effective sample size to reach, 0 for none.
  Vector weights(const Features& x, Index sources, double ess, WeightReport& report) const {
    const Vector log_weight = weigher_.log_ratio(x, sources);
    // A comparison with NaN is false.
    if (!(log_weight.array() < std::numeric_limits<double>::infinity()).all()) {
      data_error("non_finite", "{}: the values of the features are too large to estimate weights", weigher_.who);
    }
    if (log_weight.maxCoeff() == -std::numeric_limits<double>::infinity()) {
      data_error("zero_weights", "{}: no source row is near a target row, so all weights are 0", weigher_.who);
    }
    report.rows = sources;
    report.ess_raw = effective_sample_size(flattened(log_weight, 0).weights);
    Flattened shaped = flattened(log_weight, ess);
    report.exponent = shaped.exponent;
    if (options_.clip.value) shaped.weights = clipped(shaped.weights, *options_.clip.value);
    report.ess = effective_sample_size(shaped.weights);
    report.largest_share = largest_share(shaped.weights);
    report.auroc = domain_auroc(x, sources, {.squares = weigher_.squares, .who = weigher_.who}, context_);
    if (!options_.normalise) shaped.weights *= estimated_mean(log_weight);
    return shaped.weights;
  }

 private:
  const Weigher& weigher_;
  const WeightOptions& options_;
  const Context& context_;

  double estimated_mean(const Vector& log_weight) const {
    const double mean = log_weight.array().exp().mean();
    if (std::isfinite(mean)) return mean;
    data_error("non_finite", "{}: the weights are too large for numbers; use normalise=true", weigher_.who);
  }
};

/// The effective sample size to flatten to; 0 for none.
double wanted_ess(const WeightOptions& options, Index cols) {
  if (options.flatten.value) return *options.flatten.value;
  if (options.flatten.is_word(WeightOptions::flatten_none)) return 0;
  // 20 (M + 1)
  return rows_per_parameter * static_cast<double>(cols + 1);
}

void warn_of(const WeightReport& all, Index cols, double ess, const Weigher& weigher, const Context& context) {
  const double few = few_per_parameter * static_cast<double>(cols + 1);
  if (all.exponent >= low_exponent && all.ess_raw >= few) return;
  const std::string raw = fmt::format(
      "{}: weighting to the target would leave an effective sample size of {:.1f} of {} rows, where {} "
      "columns need {:.0f} or more",
      weigher.who, all.ess_raw, all.rows, cols, few);
  if (all.exponent == 1) {
    context.warn("low_effective_sample", "{}; {}so expect more variance than the weights are worth", raw,
                 ess == 0 ? "the weights were not flattened, " : "");
  } else if (all.exponent == 0) {
    context.warn("low_effective_sample",
                 "{}; there are too few rows to reach {:.0f}, so all weights are equal and nothing is corrected", raw,
                 ess);
  } else {
    context.warn("low_effective_sample",
                 "{}; the weights were raised to the power {:.2f}, which leaves {:.0f} rows and corrects in part only",
                 raw, all.exponent, all.ess);
  }
}

/// All source rows against the target.
Vector pooled(const TrainView& view, Index sources, double ess, const Shaping& shaping, WeightReport& all) {
  return shaping.weights(view.x, sources, ess, all);
}

/// Each source domain against the target. With (sum a)^2 / sum a^2 >= ess n_d / n in each, all together have ess.
Vector one_by_one(const TrainView& view, Index sources, double ess, const Shaping& shaping, WeightReport& all,
                  std::vector<Weighting::Source>& reports) {
  Vector weights(sources);
  double sum_squares = 0;
  all.exponent = 1;
  all.rows = sources;
  double auroc = 0;
  for (Index d = 0; d < view.domain.count(); ++d) {
    const std::vector<Index> rows = source_rows_of(view, d, sources);
    if (rows.empty()) continue;
    const auto count = static_cast<Index>(rows.size());
    const double part = static_cast<double>(count) / static_cast<double>(sources);
    WeightReport report;
    const Vector own =
        shaping.weights(view.x.take(with_target(rows, sources, view.x.rows())), count, ess * part, report);
    for (Index i = 0; i < count; ++i) weights[rows[static_cast<std::size_t>(i)]] = own[i];
    // Weights of mean 1 have sum a^2 = n_d^2 / ess_d.
    sum_squares += static_cast<double>(count) * static_cast<double>(count) / report.ess_raw;
    all.exponent = std::min(all.exponent, report.exponent);
    auroc += part * report.auroc;
    reports.push_back({view.domain.names[static_cast<std::size_t>(d)], report});
  }
  all.ess_raw = static_cast<double>(sources) * static_cast<double>(sources) / sum_squares;
  all.ess = effective_sample_size(weights);
  all.largest_share = largest_share(weights);
  all.auroc = auroc;
  return weights;
}

}  // namespace

StageResult weigh(const TrainView& view, const Weigher& weigher, const WeightOptions& options, const Context& context) {
  const Index sources = source_rows(view);
  if (sources == view.x.rows()) {
    data_error("no_target", "{}: no target domain; name one with --target or use --protocol adapt", weigher.who);
  }
  if (sources == 0) data_error("empty_data", "{}: there are no source rows to weight", weigher.who);
  const double ess = wanted_ess(options, view.x.cols());
  const Shaping shaping(weigher, options, context);
  WeightReport all;
  std::vector<Weighting::Source> reports;
  const Vector weights = options.per_source ? one_by_one(view, sources, ess, shaping, all, reports)
                                            : pooled(view, sources, ess, shaping, all);
  warn_of(all, view.x.cols(), ess, weigher, context);
  TrainView next = view;
  // Without labels there is no row whose weight a learner could use.
  if (view.labelled() > 0) {
    next.weight = weights;
    if (view.weight.size() > 0) next.weight.array() *= view.weight.array();
  }
  return {std::make_shared<Weighting>(all, std::move(reports)), std::move(next), {}};
}

namespace {

Json to_json(const WeightReport& report) {
  return {{"rows", report.rows}, {"exponent", report.exponent},           {"ess_raw", report.ess_raw},
          {"ess", report.ess},   {"largest_share", report.largest_share}, {"auroc", report.auroc}};
}

double in_range(const StageState& state, const char* name, double high) {
  const double value = state.number(name);
  if (value < 0 || value > high) file_error("bad_model", "'{}' must be in [0, {}], is {}", name, high, value);
  return value;
}

WeightReport read_report(const StageState& state) {
  WeightReport report;
  report.rows = state.count("rows");
  // Sums of rounded numbers may pass their bound by a little.
  const double most = static_cast<double>(report.rows) * (1 + 1e-6);
  report.exponent = in_range(state, "exponent", 1);
  report.ess_raw = in_range(state, "ess_raw", most);
  report.ess = in_range(state, "ess", most);
  report.largest_share = in_range(state, "largest_share", 1 + 1e-6);
  report.auroc = in_range(state, "auroc", 1);
  return report;
}

}  // namespace

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
