#include "ecotone/methods/one_answer.h"

#include <algorithm>
#include <numeric>

namespace ecotone {

namespace {

bool ignores_features(const Pipeline& pipeline) {
  for (std::size_t i = 0; i < pipeline.stages().size(); ++i)
    if (pipeline.predicts_at(i) && !pipeline.stages()[i].method->reads_features) return true;
  return false;
}

Batch labelled_rows(const TrainView& view, Index first, Index count) {
  std::vector<Index> rows(at(count));
  std::iota(rows.begin(), rows.end(), first);
  return {view.x.take(rows), view.domain.take(rows), take_origin(view.origin, rows)};
}

}  // namespace

void warn_one_answer(const Model& model, const TrainView& view, const Context& context) {
  constexpr Index block = 4096;
  const Index n = view.labelled();
  if (!model.pipeline().predicts() || model.task() != Task::classify || model.classes().size() < 2 || n == 0) return;
  if (ignores_features(model.pipeline())) return;
  const Context quiet = context.observed_by(nullptr);
  const Index step = model.needs_domain_sample() ? n : block;
  std::int32_t only = -1;
  for (Index first = 0; first < n; first += step) {
    context.check_cancelled();
    const Prediction answer = model.predict(labelled_rows(view, first, std::min(step, n - first)), quiet);
    if (only < 0) only = answer.index.front();
    if (std::ranges::any_of(answer.index, [&](std::int32_t k) { return k != only; })) return;
  }
  context.warn("one_class_predicted",
               "fit: the model gives all {} training rows the class '{}', although they have {} classes; try a smaller "
               "penalty, class_weight=balanced, or calibrate threshold=balanced_accuracy behind the learner",
               n, model.classes()[at(only)], model.classes().size());
}

}  // namespace ecotone
