#include "ecotone/report/json/labelling.h"

#include "ecotone/base/json_number.h"
#include "ecotone/label/desk.h"
#include "ecotone/report/json/json.h"

namespace ecotone {

const std::string& LabelTask::text_of(const std::vector<std::string>& texts, Index origin) {
  static const std::string none;
  return at(origin) < texts.size() ? texts[at(origin)] : none;
}

namespace {

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json belief_json(const std::optional<Belief>& belief, const std::vector<std::string>& classes) {
  if (!belief) return nullptr;
  if (belief->value) return {{"value", json_number(belief->value)}, {"sd", json_number(belief->sd)}};
  Json json = Json::array();
  for (std::size_t c = 0; c < belief->probability.size() && c < classes.size(); ++c)
    json.push_back({{"class", classes[c]}, {"probability", json_number(belief->probability[c])}});
  return json;
}

Json histogram_json(const FieldFact& field) {
  if (field.in_domain.empty()) return nullptr;
  return {{"low", json_number(field.low)},
          {"high", json_number(field.high)},
          {"domain", field.in_domain},
          {"sources", field.in_sources},
          {"bin", field.bin ? Json(*field.bin) : Json(nullptr)}};
}

Json levels_json(const FieldFact& field) {
  if (field.levels.empty()) return nullptr;
  Json json = Json::array();
  for (const LevelFact& level : field.levels)
    json.push_back({{"level", level.level},
                    {"domain", json_number(level.in_domain)},
                    {"sources", json_number(level.in_sources)},
                    {"here", level.here}});
  return json;
}

Json field_json(const FieldFact& field) {
  return {{"name", field.name},
          {"value", field.value},
          {"missing", field.missing},
          {"important", field.important},
          {"percentile", json_number(field.percentile)},
          {"histogram", histogram_json(field)},
          {"levels", levels_json(field)}};
}

Json neighbour_json(const NeighbourFact& neighbour, const LabelTask& task) {
  const Index origin = origin_of(task.data.origin, neighbour.row);
  Json fields = Json::array();
  for (const NeighbourFact::Cell& cell : neighbour.fields)
    fields.push_back({{"value", cell.value}, {"differs", cell.differs}});
  return {{"row", origin + 1},          {"id", text_or_null(LabelTask::text_of(task.ids, origin))},
          {"domain", neighbour.domain}, {"side", neighbour.target ? "target" : "source"},
          {"label", neighbour.label},   {"fields", std::move(fields)}};
}

Json question_json(const std::optional<Question>& question, const LabelTask& task) {
  if (!question) return nullptr;
  Json fields = Json::array();
  for (const FieldFact& field : question->fields) fields.push_back(field_json(field));
  Json neighbours = Json::array();
  for (const NeighbourFact& neighbour : question->neighbours) neighbours.push_back(neighbour_json(neighbour, task));
  const bool audit = question->why == Why::audit;
  return {{"row", question->origin + 1},
          {"id", text_or_null(LabelTask::text_of(task.ids, question->origin))},
          {"domain", question->domain},
          {"why", why_name(question->why)},
          {"reason", question->reason},
          {"audit", audit},
          // Nothing may anchor the answer to an audit.
          {"belief", audit ? Json(nullptr) : belief_json(question->belief, task.classes)},
          {"fields", std::move(fields)},
          {"neighbours", std::move(neighbours)},
          {"answered", question->answered ? Json(*question->answered) : Json(nullptr)},
          {"image", !LabelTask::text_of(task.images, question->origin).empty()}};
}

Json estimate_json(const AuditEstimate& estimate) {
  return {{"value", json_number(estimate.value)},
          {"low", json_number(estimate.low)},
          {"high", json_number(estimate.high)},
          {"rows", estimate.rows}};
}

}  // namespace

Json to_json(const DeskProgress& progress) {
  Json curve = Json::array();
  for (const DeskPoint& point : progress.curve)
    curve.push_back({{"labels", point.labels},
                     {"value", json_number(point.estimate.value)},
                     {"low", json_number(point.estimate.low)},
                     {"high", json_number(point.estimate.high)}});
  Json changed = nullptr;
  if (progress.changed)
    changed = {{"labels", progress.changed->labels}, {"share", json_number(progress.changed->share)}};
  return {{"labels", progress.labels},
          {"budget", progress.budget},
          {"unsure", progress.unsure},
          {"skipped", progress.skipped},
          {"audits", progress.audits},
          {"model_labels", progress.model_labels},
          {"fitting", progress.fitting},
          {"metric", progress.metric},
          {"estimate", progress.estimate ? estimate_json(*progress.estimate) : Json(nullptr)},
          {"curve", std::move(curve)},
          {"changed", std::move(changed)},
          {"advice", progress.advice.text},
          {"may_stop", progress.advice.may_stop}};
}

Json to_json(const DeskState& state, const LabelTask& task) {
  const std::string& domain = task.data.schema.domain;
  return {{"task", task_name(task.task())},
          {"label", task.data.schema.label},
          {"classes", task.classes},
          {"target", task.data.target_names()},
          {"domain_word", domain.empty() ? "domain" : domain},
          {"question", question_json(state.question, task)},
          {"progress", to_json(state.progress)},
          {"undo", state.can_undo},
          {"finished", false},
          {"folder", task.folder}};
}

Json to_json(const LabelEvent& event) {
  const bool label = event.kind == AnswerKind::label;
  const bool undo = event.kind == AnswerKind::undo;
  return {{"id", event.id},
          {"time", event.time},
          {"page", event.page},
          {"request", event.request},
          {"kind", answer_name(event.kind)},
          {"row", event.row + 1},
          {"label", label ? Json(event.label) : Json(nullptr)},
          {"why", why_name(event.why)},
          {"probability", json_number(event.probability)},
          {"belief", text_or_null(event.belief)},
          {"model_labels", event.model_labels},
          {"undoes", undo ? Json(event.undoes) : Json(nullptr)}};
}

}  // namespace ecotone
