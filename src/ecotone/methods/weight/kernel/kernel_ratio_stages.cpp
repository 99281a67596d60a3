#include <cmath>
#include <tuple>

#include "ecotone/base/json_number.h"
#include "ecotone/methods/weight/balanced_weighting.h"
#include "ecotone/solve/ratios/kliep.h"
#include "ecotone/solve/ratios/least_squares_ratio.h"

namespace ecotone {
namespace {

/// What weight.kliep, weight.ulsif and weight.rulsif share.
struct KernelWeightOptions : BalancedWeightOptions {
  AutoNumber sigma;
  int centres = 100;

  static constexpr auto bump_fields() {
    using O = KernelWeightOptions;
    return std::tuple{
        field("sigma", &O::sigma,
              "Width of the bumps that the ratio is a sum of; auto: 0.5 to 2 times the median distance of "
              "rows, chosen on held-out rows",
              above(0.0)),
        field("centres", &O::centres, "Most bumps, each at a target row", between(1, 10000))};
  }
};

struct WeightKliepOptions : KernelWeightOptions {
  static constexpr auto fields() { return std::tuple_cat(bump_fields(), BalancedWeightOptions::fields()); }
};

struct WeightUlsifOptions : KernelWeightOptions {
  AutoNumber lam;

  static constexpr auto fields() {
    return std::tuple_cat(
        bump_fields(),
        std::tuple{field("lam", &WeightUlsifOptions::lam,
                         "Ridge penalty; auto: of 0.001, 0.01, 0.1 and 1 the best by rows left out", above(0.0))},
        BalancedWeightOptions::fields());
  }
};

struct WeightRulsifOptions : WeightUlsifOptions {
  double alpha = 0.1;

  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{field("alpha", &WeightRulsifOptions::alpha,
                         "The ratio is that of the target to alpha target + (1 - alpha) source, which is at most "
                         "1 / alpha; 0: as weight.ulsif",
                         between(0.0, 0.99))},
        WeightUlsifOptions::fields());
  }
};

StageResult fit_weight_kliep(const TrainView& view, const WeightKliepOptions& options, const Context& context,
                             FitCache&) {
  check_balance(options, "weight.kliep");
  bool converged = true;
  Json chosen = Json::object();
  const KernelRatioOptions ratio{.sigma = options.sigma.value, .centres = options.centres, .who = "weight.kliep"};
  const auto log_ratio = [&](const Features& x, const std::vector<Index>& rows) {
    const RatioRows samples{x, std::ssize(rows), source_masses(view, rows, options)};
    const KernelRatio found = kliep_ratio(samples, ratio, context);
    converged = converged && found.converged;
    context.note("weight.kliep: sigma {:.4g}", found.sigma);
    chosen = {{"sigma", found.sigma}};
    return log_of_ratio(found.ratio, samples.mass);
  };
  StageResult result =
      weigh(view, {.who = "weight.kliep", .log_ratio_of_rows = log_ratio, .solved = true, .chosen = &chosen}, options,
            context);
  if (!converged) result.status = {false, "the likelihood was not maximised to 1e-8"};
  return result;
}

StageResult fit_squares(const char* who, double alpha, const TrainView& view, const WeightUlsifOptions& options,
                        const Context& context) {
  check_balance(options, who);
  const KernelRatioOptions ratio{
      .sigma = options.sigma.value, .lam = options.lam.value, .alpha = alpha, .centres = options.centres, .who = who};
  Json chosen = Json::object();
  const auto log_ratio = [&](const Features& x, const std::vector<Index>& rows) {
    const RatioRows samples{x, std::ssize(rows), source_masses(view, rows, options)};
    const KernelRatio found = least_squares_ratio(samples, ratio, context);
    context.note("{}: sigma {:.4g}, lam {:.4g}{}", who, found.sigma, found.lam,
                 std::isnan(found.score) ? "" : fmt::format(", score of rows left out {:.4g}", found.score));
    chosen = {{"sigma", found.sigma}, {"lam", found.lam}, {"score", json_number(found.score)}};
    return log_of_ratio(found.ratio, samples.mass);
  };
  return weigh(view, {.who = who, .log_ratio_of_rows = log_ratio, .solved = true, .chosen = &chosen}, options, context);
}

StageResult fit_weight_ulsif(const TrainView& view, const WeightUlsifOptions& options, const Context& context,
                             FitCache&) {
  return fit_squares("weight.ulsif", 0, view, options, context);
}

StageResult fit_weight_rulsif(const TrainView& view, const WeightRulsifOptions& options, const Context& context,
                              FitCache&) {
  return fit_squares("weight.rulsif", options.alpha, view, options, context);
}

template <class Options>
std::shared_ptr<const Fitted> load_kernel_weights(const StageState& state, const Options&, const StageInput&) {
  return Weighting::load(state);
}

}  // namespace

Method weight_kliep_method() {
  return make_method<WeightKliepOptions, fit_weight_kliep, load_kernel_weights<WeightKliepOptions>>(
      {.name = "weight.kliep",
       .family = Family::weight,
       .summary = "Weights source rows by a ratio of densities under which the target is most likely.",
       .when =
           "when the target has other rows but the same rule from features to label, in few columns. It assumes that "
           "the source has rows wherever the target has; weights of many columns rest on few rows and add more "
           "variance than they correct. In our study it was better than nothing in 22 and worse in 37 of 66 new "
           "domains.",
       .example = "impute | scale | weight.kliep | logistic",
       .citation = "sugiyama2008",
       .needs_target = true});
}

Method weight_ulsif_method() {
  return make_method<WeightUlsifOptions, fit_weight_ulsif, load_kernel_weights<WeightUlsifOptions>>(
      {.name = "weight.ulsif",
       .family = Family::weight,
       .summary = "Weights source rows by a ratio of densities fitted by least squares.",
       .when = "as weight.kliep, for many rows: it is solved at once, and chooses its options by rows left out. In "
               "our study it was better than nothing in 22 and worse in 36 of 66 new domains.",
       .example = "impute | scale | weight.ulsif | logistic",
       .citation = "kanamori2009",
       .routes = {{Route::streamed}},
       .needs_target = true});
}

Method weight_rulsif_method() {
  return make_method<WeightRulsifOptions, fit_weight_rulsif, load_kernel_weights<WeightRulsifOptions>>(
      {.name = "weight.rulsif",
       .family = Family::weight,
       .summary = "Weights source rows by a ratio of the target to a mixture of target and source, which is bounded.",
       .when =
           "as weight.ulsif, where some target rows are unlike any source row: the ratio is at most 1 / alpha, at the "
           "price of correcting less. In our study it was better than nothing in 22 and worse in 36 of 66 new "
           "domains.",
       .example = "impute | scale | weight.rulsif | logistic",
       .citation = "yamada2013",
       .routes = {{Route::streamed}},
       .needs_target = true});
}

}  // namespace ecotone
