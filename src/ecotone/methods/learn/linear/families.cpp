#include "ecotone/methods/learn/linear/linear.h"

namespace ecotone {
namespace {

template <LinearFamily family>
StageResult fit_family(const TrainView& view, const LinearOptions& options, const Context& context, FitCache& cache) {
  return Linear::fit(family, view, options, context, cache);
}

template <LinearFamily family>
std::shared_ptr<const Fitted> load_family(const StageState& state, const LinearOptions&, const StageInput& input) {
  return Linear::load(family, state, input);
}

/// What a family can learn.
struct Learns {
  bool two_classes = false;
  bool classes = false;
  bool numbers = false;
};

template <LinearFamily family>
Method method_of(const char* summary, const Learns& learns) {
  return make_method<LinearOptions, fit_family<family>, load_family<family>>({.name = family_text(family),
                                                                              .family = Family::learn,
                                                                              .summary = summary,
                                                                              .citation = "sayed2022",
                                                                              .needs_labels = true,
                                                                              .binary = learns.two_classes,
                                                                              .softmax = learns.classes,
                                                                              .numbers = learns.numbers});
}

}  // namespace

Method logistic_method() {
  return method_of<LinearFamily::logistic>(
      "Logistic regression with L1 and L2 penalties; softmax regression for more than two classes.",
      {.two_classes = true, .classes = true});
}

Method softmax_method() {
  return method_of<LinearFamily::softmax>("Softmax regression: weights for every class, also where there are two.",
                                          {.two_classes = true, .classes = true});
}

Method probit_method() {
  return method_of<LinearFamily::probit>(
      "Probit regression: the probability of the second class is the normal law of the score.", {.two_classes = true});
}

Method poisson_method() {
  return method_of<LinearFamily::poisson>("Poisson regression of counts: the mean is the exponential of the score.",
                                          {.numbers = true});
}

Method least_squares_method() {
  return method_of<LinearFamily::least_squares>(
      "Linear regression by least squares, half the mean squared error, with L1 and L2 penalties.", {.numbers = true});
}

}  // namespace ecotone
