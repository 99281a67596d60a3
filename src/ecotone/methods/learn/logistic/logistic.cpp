#include "ecotone/methods/learn/logistic/logistic.h"

#include <cmath>
#include <utility>

namespace ecotone {

Logistic::Logistic(LogisticFit fit) : fit_(std::move(fit)), columns_(fit_.weights.transpose()) {}

namespace {

/// Solves and says what the user can do about what the solver refuses.
LogisticFit solve(const LogisticProblem& problem, const std::vector<std::string>& classes, const Context& context) {
  try {
    return fit_logistic(problem, context);
  } catch (const Error& error) {
    if (error.code() == "separable") {
      data_error(
          "separable",
          "logistic: the classes can be separated, perhaps with ties, so no finite optimum exists; add a penalty, for "
          "example l2=0.01");
    }
    if (error.code() == "one_class" && classes.size() == 1) {
      data_error("one_class", "logistic: all labelled rows are of class '{}'; at least two classes are needed",
                 classes[0]);
    }
    throw;
  }
}

/// 1 / (1 + exp(-score)) without overflow
double sigmoid(double score) {
  if (score >= 0) return 1 / (1 + std::exp(-score));
  const double e = std::exp(score);
  return e / (1 + e);
}

void predict_binary(double score, Index row, Prediction& prediction) {
  prediction.probability(row, 0) = sigmoid(-score);
  prediction.probability(row, 1) = sigmoid(score);
  // A score of 0 goes to the second class, which is +1.
  prediction.index[static_cast<std::size_t>(row)] = score >= 0 ? 1 : 0;
}

void predict_softmax(ConstVectorView score, Index row, Prediction& prediction) {
  Index best = 0;
  const double top = score.maxCoeff(&best);
  // p_k = exp(s_k - max s) / sum_l exp(s_l - max s)
  auto p = prediction.probability.row(row);
  p = (score.array() - top).exp().matrix().transpose();
  p /= p.sum();
  prediction.index[static_cast<std::size_t>(row)] = static_cast<std::int32_t>(best);
}

}  // namespace

StageResult Logistic::fit(const TrainView& view, const LogisticOptions& options, const Context& context, FitCache&) {
  if (view.y.task != Task::classify) {
    data_error(
        "needs_classes",
        "logistic: the label is a number to predict, not a class; use --task classify to treat its values as classes");
  }
  const LogisticProblem problem{.x = view.labelled_x(),
                                .cls = view.y.index,
                                .classes = std::max<Index>(2, static_cast<Index>(view.y.classes.size())),
                                .weight = view.weight,
                                .l2 = options.l2,
                                .offset = options.offset,
                                .norm_by_weights = options.norm == LogisticNorm::sum,
                                .max_iterations = options.max_iterations};
  LogisticFit fit = solve(problem, view.y.classes, context);
  Status status;
  if (!fit.converged) {
    status = {false,
              fmt::format("not converged after {} iterations, the gradient is still {:.2g}; features of very different "
                          "size need scale, or raise max_iterations",
                          fit.iterations, fit.kkt)};
  }
  return {std::make_shared<Logistic>(std::move(fit)), view, std::move(status)};
}

Prediction Logistic::predict(const Batch& batch, const Context& context) const {
  const Features& x = batch.x;
  Prediction prediction;
  prediction.index.resize(static_cast<std::size_t>(x.rows()));
  prediction.probability.resize(x.rows(), binary() ? 2 : fit_.weights.rows());
  prediction.score.resize(x.rows(), columns_.cols());
  context.parallel(x.blocks(), [&](Index b) {
    // score = W x + offset
    Matrix scores(x.rows_in(b), columns_.cols());
    x.multiply(b, columns_, scores);
    scores.rowwise() += fit_.offset.transpose();
    for (Index i = 0; i < scores.rows(); ++i) {
      if (scores.row(i).allFinite()) continue;
      data_error("non_finite", "logistic: the values of row {} are too large to predict from",
                 origin_of(batch.origin, x.first_row(b) + i) + 1);
    }
    prediction.score.middleRows(x.first_row(b), scores.rows()) = scores;
    for (Index i = 0; i < scores.rows(); ++i) {
      if (binary()) {
        predict_binary(scores(i, 0), x.first_row(b) + i, prediction);
      } else {
        predict_softmax(scores.row(i).transpose(), x.first_row(b) + i, prediction);
      }
    }
  });
  return prediction;
}

StageState Logistic::save() const {
  StageState state;
  if (binary()) {
    state.set("weights", Vector(fit_.weights.row(0).transpose()));
    state.info["offset"] = fit_.offset[0];
  } else {
    state.set("weights", fit_.weights);
    state.set("offset", fit_.offset);
  }
  state.info["risk"] = fit_.risk;
  state.info["kkt"] = fit_.kkt;
  state.info["iterations"] = fit_.iterations;
  return state;
}

std::shared_ptr<const Fitted> Logistic::load(const StageState& state, const LogisticOptions&, const StageInput& input) {
  const auto classes = static_cast<Index>(input.classes.size());
  if (input.task != Task::classify || classes < 2) file_error("bad_model", "logistic needs at least two classes");
  LogisticFit fit;
  if (classes == 2) {
    fit.weights = state.vector("weights", input.cols).transpose();
    fit.offset = Vector::Constant(1, state.number("offset"));
  } else {
    fit.weights = state.matrix("weights", classes, input.cols);
    fit.offset = state.vector("offset", classes);
  }
  fit.risk = state.number("risk");
  fit.kkt = state.number("kkt");
  fit.iterations = static_cast<int>(std::min<Index>(state.count("iterations"), 1'000'000'000));
  return std::make_shared<Logistic>(std::move(fit));
}

Method logistic_method() {
  return make_method<LogisticOptions, Logistic::fit, Logistic::load>(
      {.name = "logistic",
       .family = Family::learn,
       .summary = "Logistic regression with an L2 penalty; softmax regression for more than two classes.",
       .citation = "sayed2022",
       .needs_labels = true,
       .binary = true,
       .softmax = true});
}

}  // namespace ecotone
