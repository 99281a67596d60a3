#include <fmt/format.h>

#include <type_traits>

#include "ecotone/base/error.h"
#include "ecotone/methods/learn/linear/linear.h"

namespace ecotone {
namespace {

/// The options of a family.
template <LinearFamily family>
using OptionsOf = std::conditional_t<family == LinearFamily::probit, ProbitOptions, LinearOptions>;

template <LinearFamily family>
StageResult fit_family(const TrainView& view, const OptionsOf<family>& options, const Context& context,
                       FitCache& cache) {
  return Linear::fit(family, view, no_refits(view, context), options, context, cache);
}

template <LinearFamily family>
StageResult fit_refitting(const TrainView& view, const Refits& refits, const OptionValues& values,
                          const Context& context, FitCache& cache) {
  return Linear::fit(family, view, refits, read_options<OptionsOf<family>>(values), context, cache);
}

template <LinearFamily family>
std::shared_ptr<const Fitted> load_family(const StageState& state, const OptionsOf<family>&, const StageInput& input) {
  return Linear::load(family, state, input);
}

/// Sums give the least squares of one penalty.
void require_one_solution(const LinearOptions& options) {
  if (options.l2.is_auto() || options.l1.is_auto() || *options.l1.value != 0 || options.penalise_offset ||
      options.risk != LinearRisk::mean)
    option_error(
        "needs_rows",
        "least_squares: from sums it is solved for a number as l2, without l1, penalise_offset and risk; or use ridge, "
        "which chooses its penalty by left-out domains");
}

template <LinearFamily family>
Method method_of(Learns learns, const char* summary, const char* when) {
  return make_method<OptionsOf<family>, fit_family<family>, load_family<family>>(
      {.name = family_text(family),
       .family = Family::learn,
       .summary = summary,
       .when = when,
       .example = fmt::format("impute | scale | {}", family_text(family)),
       .citation = "sayed2022",
       .routes = {{Route::streamed}, {Route::ranks}},
       .learns = learns,
       .penalties = {{"l1"}, {"l2"}},
       .defaults_beside = {{"l2", "l1", 0.0}},
       .fit_with_refits = fit_refitting<family>});
}

}  // namespace

Method logistic_method() {
  return method_of<LinearFamily::logistic>(
      Learns::classes, "Logistic regression with L1 and L2 penalties; softmax regression for more than two classes.",
      "first, for classes: fast, its weights can be read, and hard to beat on small tables. risk= looks at the worst "
      "domain, or wants losses alike in all of them: in our study risk=vrex was better than nothing in 7 and worse in "
      "9 of 24 new domains, as was risk=cvar, and risk=irm in 4 and 11.");
}

Method softmax_method() {
  return method_of<LinearFamily::softmax>(Learns::classes,
                                          "Softmax regression: a weight vector for every class, even if there are two.",
                                          "for more than two classes when the weights of every class should be read.");
}

Method probit_method() {
  return method_of<LinearFamily::probit>(
      Learns::two_classes,
      "Probit regression: the probability of the second class is the normal distribution function of the score.",
      "in place of logistic where your field expects probit models; predictions hardly differ. anchor= is for shifts "
      "along what domains do, and our study has no record of it (that of anchor is for numbers). risk= has the record "
      "of logistic.");
}

Method poisson_method() {
  return method_of<LinearFamily::poisson>(Learns::numbers,
                                          "Poisson regression for counts: the mean is the exponential of the score.",
                                          "when the label is a count: days, visits, events.");
}

Method least_squares_method() {
  Method method = method_of<LinearFamily::least_squares>(
      Learns::numbers,
      "Linear regression by least squares (loss: half the mean squared error) with L1 and L2 penalties.",
      "first, for numbers: fast, and its weights can be read.");
  method.sums = beside_targets(sums_route<LinearOptions, Linear::fit_on_sums, require_one_solution>());
  method.sums.options = "l2=NUMBER, without l1";
  return method;
}

}  // namespace ecotone
