#include "ecotone/report/report.h"

#include <algorithm>

#include "ecotone/base/error.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/json/read.h"

namespace ecotone {

namespace {

/// The result that the document is about, with its kind.
Json first_result(const Report& report) {
  const auto with_kind = [](Json json, const char* kind) {
    json["kind"] = kind;
    return json;
  };
  if (report.evaluation) return with_kind(to_json(*report.evaluation), "evaluation");
  if (!report.expectations.empty()) return with_kind(to_json(report.expectations), "expectation");
  if (!report.explanations.empty()) return with_kind(to_json(report.explanations), "explanation");
  if (report.effects) return with_kind(to_json(*report.effects), "effects");
  if (report.simulation) return with_kind(to_json(*report.simulation), "simulation");
  if (report.tuning) return with_kind(to_json(*report.tuning), "tuning");
  if (report.selection) return with_kind(to_json(*report.selection), "selection");
  if (report.reproductions.size() == 1) return with_kind(to_json(report.reproductions.front()), "reproduction");
  if (!report.reproductions.empty()) {
    Json list = Json::array();
    for (const Reproduction& each : report.reproductions) list.push_back(to_json(each));
    return with_kind({{"reproductions", std::move(list)}}, "reproductions");
  }
  if (report.diagnosis) return with_kind(to_json(*report.diagnosis), "diagnosis");
  internal_error("a report without a result");
}

const Json& several_of(const Json& document, const std::string& origin) {
  const auto list = document.find("reproductions");
  if (list == document.end() || !list->is_array()) file_error("bad_result", "{}: reproductions must be a list", origin);
  return *list;
}

/// Refuses a second result of a kind.
template <class T>
void set_once(std::optional<T>& place, T result, const char* kind, const std::string& origin) {
  if (place) file_error("bad_result", "{}: a second {}; a page shows one", origin, kind);
  place = std::move(result);
}

}  // namespace

Json document_of(const Report& report) {
  Json document = first_result(report);
  if (report.diagnosis && document["kind"] != "diagnosis") document["diagnosis"] = to_json(*report.diagnosis);
  if (!report.intended_use.empty()) document["intended_use"] = report.intended_use;
  if (!report.not_diagnosed.empty()) document["not_diagnosed"] = report.not_diagnosed;
  if (report.population) document["population"] = to_json(*report.population);
  if (report.projections) document["projections"] = to_json(*report.projections);
  if (report.whole) document["whole_model"] = to_json(*report.whole);
  if (!report.provenance.empty()) document["provenance"] = to_json(report.provenance.front());
  return document;
}

void add_document(Report& report, const Json& document, const std::string& origin) {
  if (!document.is_object() || !document.contains("kind") || !document["kind"].is_string())
    file_error("bad_result",
               "{}: not a result of ecotone; expected what evaluate, expect, explain, inspect --on, tune, select, "
               "diagnose, reproduce or label --simulate print with --json",
               origin);
  const std::string kind = document["kind"].get<std::string>();
  if (kind == "evaluation") {
    set_once(report.evaluation, evaluation_from_json(document, origin), "evaluation", origin);
  } else if (kind == "expectation") {
    for (Expectation& each : expectations_from_json(document, origin)) report.expectations.push_back(std::move(each));
  } else if (kind == "explanation") {
    for (Explanation& each : explanations_from_json(document, origin)) report.explanations.push_back(std::move(each));
  } else if (kind == "effects") {
    set_once(report.effects, column_effects_from_json(document, origin), "result of inspect", origin);
  } else if (kind == "simulation") {
    set_once(report.simulation, simulation_from_json(document, origin), "simulation", origin);
  } else if (kind == "tuning") {
    set_once(report.tuning, tuning_from_json(document, origin), "tuning", origin);
  } else if (kind == "selection") {
    set_once(report.selection, selection_from_json(document, origin), "selection", origin);
  } else if (kind == "reproduction") {
    report.reproductions.push_back(reproduction_from_json(document, origin));
  } else if (kind == "reproductions") {
    for (const Json& each : several_of(document, origin))
      report.reproductions.push_back(reproduction_from_json(each, origin + ": reproductions"));
  } else if (kind == "diagnosis") {
    if (report.diagnosis_beside) report.diagnosis.reset();
    report.diagnosis_beside = false;
    set_once(report.diagnosis, diagnosis_from_json(document, origin), "diagnosis", origin);
  } else {
    file_error("bad_result", "{}: a result of the unknown kind '{}'", origin, kind);
  }
  // What a result brings along gives way to what was given before.
  if (document.contains("diagnosis") && !report.diagnosis) {
    report.diagnosis_beside = true;
    report.diagnosis = diagnosis_from_json(document["diagnosis"], origin + ": diagnosis");
  }
  const auto take_text = [&](const char* name, std::string& text) {
    if (document.contains(name) && document[name].is_string()) text = document[name].get<std::string>();
  };
  take_text("intended_use", report.intended_use);
  take_text("not_diagnosed", report.not_diagnosed);
  if (document.contains("population") && !report.population)
    report.population = population_from_json(document["population"], origin + ": population");
  if (document.contains("projections") && !report.projections)
    report.projections = projections_from_json(document["projections"], origin + ": projections");
  if (document.contains("whole_model") && report.evaluation)
    report.whole = whole_model_from_json(document["whole_model"], origin + ": whole_model");
  if (document.contains("provenance"))
    report.provenance.push_back(provenance_from_json(document["provenance"], origin + ": provenance"));
}

}  // namespace ecotone
