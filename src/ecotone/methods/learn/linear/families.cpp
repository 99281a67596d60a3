#include "ecotone/methods/learn/linear/linear.h"

namespace ecotone {
namespace {

template <LinearFamily family>
StageResult fit_family(const TrainView& view, const LinearOptions& options, const Context& context, FitCache& cache) {
  return Linear::fit(family, view, no_refits(view, context), options, context, cache);
}

template <LinearFamily family>
StageResult fit_refitting(const TrainView& view, const Refits& refits, const OptionValues& values,
                          const Context& context, FitCache& cache) {
  return Linear::fit(family, view, refits, read_options<LinearOptions>(values), context, cache);
}

template <LinearFamily family>
std::shared_ptr<const Fitted> load_family(const StageState& state, const LinearOptions&, const StageInput& input) {
  return Linear::load(family, state, input);
}

template <LinearFamily family>
Method method_of(const char* summary, Learns learns) {
  return make_method<LinearOptions, fit_family<family>, load_family<family>>(
      {.name = family_text(family),
       .family = Family::learn,
       .summary = summary,
       .citation = "sayed2022",
       .learns = learns,
       .penalties = {{"l1"}, {"l2"}},
       .defaults_beside = {{"l2", "l1", 0.0}},
       .fit_with_refits = fit_refitting<family>});
}

}  // namespace

Method logistic_method() {
  return method_of<LinearFamily::logistic>(
      "Logistic regression with L1 and L2 penalties; softmax regression for more than two classes.", Learns::classes);
}

Method softmax_method() {
  return method_of<LinearFamily::softmax>("Softmax regression: a weight vector for every class, even if there are two.",
                                          Learns::classes);
}

Method probit_method() {
  return method_of<LinearFamily::probit>(
      "Probit regression: the probability of the second class is the normal distribution function of the score.",
      Learns::two_classes);
}

Method poisson_method() {
  return method_of<LinearFamily::poisson>("Poisson regression for counts: the mean is the exponential of the score.",
                                          Learns::numbers);
}

Method least_squares_method() {
  return method_of<LinearFamily::least_squares>(
      "Linear regression by least squares (loss: half the mean squared error) with L1 and L2 penalties.",
      Learns::numbers);
}

}  // namespace ecotone
