#include <fmt/ranges.h>

#include <cmath>
#include <string>

#include "ecotone/base/error.h"
#include "ecotone/methods/model.h"
#include "ecotone/methods/multiclass/class_weights.h"
#include "ecotone/methods/requirements.h"

namespace ecotone {

namespace {

/// The labels by the classes of the model.
Labels labels_as(const Labels& y, Task task, const std::vector<std::string>& classes) {
  if (y.task != task) {
    if (task == Task::classify)
      data_error("needs_classes", "refit: the model predicts classes, but the label is a number");
    data_error("needs_numbers", "refit: the model predicts numbers, but the label is a class");
  }
  if (task == Task::regress) return y;
  Labels result{task, classes, {}, {}};
  std::vector<std::int32_t> place;
  for (const std::string& name : y.classes) {
    const auto found = std::ranges::find(classes, name);
    if (found == classes.end())
      data_error("unknown_class", "refit: the model does not know class '{}'; its classes are {}", name,
                 fmt::join(classes, ", "));
    place.push_back(static_cast<std::int32_t>(found - classes.begin()));
  }
  for (const std::int32_t cls : y.index) result.index.push_back(place[at(cls)]);
  return result;
}

/// Multiplies the weights of the rows by those of their classes, as the fit did.
void weigh_classes(const Stage& learner, TrainView& view) {
  if (view.y.task != Task::classify || !learner.method->has_class_options()) return;
  const std::string& text = learner.options.at("class_weight");
  if (text != "none") view.weight = class_weighted_rows("refit", view, text);
}

std::string last_stage_text(const Pipeline& pipeline) {
  const std::string text = pipeline.text();
  const std::size_t bar = text.rfind(" | ");
  return bar == std::string::npos ? text : text.substr(bar + 3);
}

}  // namespace

Model Model::refitted(const TrainView& view, double strength, const Context& context) const {
  if (!(strength > 0) || !std::isfinite(strength))
    option_error("bad_option", "refit: strength must be > 0, got {:g}", strength);
  if (view.labelled() == 0) data_error("no_labels", "refit: no row has a label");
  require_label_range("refit", view, schema_);
  require_finite_labels("refit", view.y);
  const Method& learner = *pipeline_.stages().back().method;
  TrainView moved = view;
  moved.y = labels_as(view.y, task_, classes_);
  weigh_classes(pipeline_.stages().back(), moved);
  if (moved.weight.size() > 0 && !(moved.weight.maxCoeff() > 0))
    data_error("zero_weights", "refit: all labelled rows have weight 0");
  Batch current = aligned({view.x, view.domain, view.origin}, context);
  for (std::size_t i = 0; i + 1 < fitted_.size() && !pipeline_.predicts_at(i); ++i)
    current.x = fitted_[i]->transform(current, context);
  if (learner.reads_features && !learner.takes_missing && !learner.follows_learner())
    require_finite_features(learner.name, current.x, current.origin, context);
  moved.x = current.x;
  std::shared_ptr<const Fitted> last =
      learner.follows_learner() ? nullptr : fitted_.back()->refitted(moved, strength, context);
  if (!last)
    option_error(
        "cannot_refit",
        "refit: a model that ends in {} cannot be refitted; one that ends in trees can, without multiclass=ova, ovo or "
        "ecoc",
        last_stage_text(pipeline_));
  Model model = *this;
  model.fitted_.back() = std::move(last);
  const auto before = notes_.find("refit");
  const bool again = before != notes_.end() && before->is_object() && before->contains("times");
  const double times = again && (*before)["times"].is_number() ? (*before)["times"].get<double>() + 1 : 1;
  // How the pipeline fared in domains that it had not seen says nothing about the moved leaves.
  model.notes_.erase("expect");
  return model.with_note(
      "refit", {{"rows", view.labelled()}, {"domains", view.domain.names}, {"strength", strength}, {"times", times}});
}

}  // namespace ecotone
