#include <algorithm>
#include <cmath>

#include "ecotone/diagnose/diagnose.h"
#include "ecotone/report/json/read.h"
#include "ecotone/report/json/result_field.h"

namespace ecotone {
namespace {

FeatureShift read_feature_shift(const ResultField& field) {
  FeatureShift shift;
  shift.feature = field.at("feature").text();
  shift.smd = field.at("smd").optional_number();
  shift.ks = field.at("ks").number();
  shift.p = field.at("p_value").number();
  shift.q = field.at("q_value").number();
  if (const auto domain = field.find("domain")) shift.domain = domain->text();
  if (const auto remark = field.find("remark")) shift.remark = remark->text();
  return shift;
}

/// A name that must be one of the domains.
std::string read_compared_domain(const ResultField& field, const std::vector<std::string>& domains) {
  std::string name = field.text();
  if (std::ranges::find(domains, name) == domains.end()) field.refuse("must be one of the domains");
  return name;
}

/// What comparisons of pairs and with the rest have in common.
Comparison read_comparison(const ResultField& field) {
  Comparison one;
  const std::vector<Index> rows = field.at("rows").sized(2).each(&ResultField::whole);
  const std::vector<Index> used = field.at("used_rows").sized(2).each(&ResultField::whole);
  one.rows_a = rows[0];
  one.rows_b = rows[1];
  one.used_a = used[0];
  one.used_b = used[1];
  one.mmd2 = field.at("mmd2").optional_number();
  one.mmd2_error = field.at("mmd2_standard_error").optional_number();
  const bool blocks = field.at("mmd2_estimator").word({"exact", "blocks"}) == 1;
  if (blocks && !one.mmd2_error) one.mmd2_error = std::nan("");
  if (!blocks && one.mmd2_error) field.at("mmd2_standard_error").refuse("must be null where no blocks are averaged");
  one.block_p = field.at("mmd2_block_p_value").optional_number();
  one.p = field.at("p_value").optional_number();
  one.q = field.at("q_value").optional_number();
  one.auroc = field.at("auroc").optional_number();
  one.a_distance = field.at("proxy_a_distance").optional_number();
  one.features = field.at("top_features").each(read_feature_shift);
  return one;
}

Comparison read_pair(const ResultField& field, const std::vector<std::string>& domains) {
  Comparison one = read_comparison(field);
  one.a = read_compared_domain(field.at("a"), domains);
  one.b = read_compared_domain(field.at("b"), domains);
  one.ess_a_to_b = field.at("ess_a_to_b").optional_number();
  one.ess_b_to_a = field.at("ess_b_to_a").optional_number();
  return one;
}

Comparison read_against_rest(const ResultField& field, const std::vector<std::string>& domains) {
  Comparison one = read_comparison(field);
  one.a = read_compared_domain(field.at("domain"), domains);
  one.ess_a_to_b = field.at("ess_domain_to_rest").optional_number();
  one.ess_b_to_a = field.at("ess_rest_to_domain").optional_number();
  return one;
}

DomainLabels read_domain_labels(const ResultField& field, Task task, std::size_t classes) {
  DomainLabels labels;
  labels.domain = field.at("domain").text();
  labels.rows = field.at("rows").whole();
  if (task == Task::classify) {
    const ResultField share = field.at("share");
    if (!share.is_null()) labels.share = share.sized(classes).numbers();
  } else {
    labels.mean = field.at("mean").optional_number();
    labels.sd = field.at("sd").optional_number();
  }
  return labels;
}

void read_label_shift(Diagnosis& diagnosis, const ResultField& field) {
  if (field.is_null()) return;
  const Task task = field.at("task").choice({Task::classify, Task::regress}, task_name);
  diagnosis.task = task;
  diagnosis.label = field.at("label").text();
  diagnosis.classes = field.at("classes").texts();
  const std::size_t classes = diagnosis.classes.size();
  diagnosis.labels =
      field.at("domains").each([&](const ResultField& each) { return read_domain_labels(each, task, classes); });
}

ShiftTable read_shift_table(const ResultField& field) {
  ShiftTable table;
  table.features = field.at("features").texts();
  for (const ResultField& each : field.at("domains").items()) {
    table.domains.push_back(each.at("domain").text());
    table.smd.push_back(each.at("smd").sized(table.features.size()).each(&ResultField::optional_number));
  }
  return table;
}

void read_map(Diagnosis& diagnosis, const ResultField& field) {
  if (field.is_null()) return;
  diagnosis.map_share = field.at("share").number();
  diagnosis.map = field.at("domains").each([](const ResultField& each) {
    return DomainPlace{each.at("domain").text(), each.at("x").number(), each.at("y").number()};
  });
}

MissingShift read_missing_shift(const ResultField& field, std::size_t domains) {
  return {field.at("column").text(), field.at("share").sized(domains).numbers(), field.at("spread").number()};
}

Advice read_advice(const ResultField& field) {
  const ResultField domain = field.at("domain");
  return {domain.is_null() ? "" : domain.text(), field.at("text").text()};
}

void read_compared_rows(Diagnosis& diagnosis, const ResultField& field) {
  diagnosis.rows = field.at("rows").whole();
  diagnosis.features = field.at("features").whole();
  diagnosis.domain_word = field.at("domain_word").text();
  for (const ResultField& each : field.at("domains").items()) {
    diagnosis.domains.push_back(each.at("domain").text());
    diagnosis.domain_rows.push_back(each.at("rows").whole());
  }
  diagnosis.sample = field.at("sample_rows").whole();
  diagnosis.permutations = field.at("permutations").whole();
  diagnosis.missing_values = field.at("missing_values").whole();
  if (const auto pipeline = field.find("pipeline")) diagnosis.pipeline = pipeline->text();
}

}  // namespace

Diagnosis diagnosis_from_json(const Json& json, const std::string& origin) {
  const ResultField field(json, origin);
  Diagnosis diagnosis;
  read_compared_rows(diagnosis, field);
  const std::vector<std::string>& domains = diagnosis.domains;
  diagnosis.sigma = field.at("bandwidth").at("sigma").number();
  diagnosis.sigma_rows = field.at("bandwidth").at("rows").whole();
  const ResultField variance = field.at("distributional_variance");
  diagnosis.variance = variance.at("value").number();
  diagnosis.unbiased_variance = variance.at("unbiased").number();
  diagnosis.variance_rows = variance.at("rows").whole();
  diagnosis.against_rest =
      field.at("against_rest").each([&](const ResultField& each) { return read_against_rest(each, domains); });
  if (diagnosis.against_rest.empty()) field.at("against_rest").fail("must not be empty");
  diagnosis.pairs = field.at("pairs").each([&](const ResultField& each) { return read_pair(each, domains); });
  diagnosis.feature_shift = field.at("feature_shift").each(read_feature_shift);
  diagnosis.shifts = read_shift_table(field.at("shift_table"));
  read_map(diagnosis, field.at("map"));
  read_label_shift(diagnosis, field.at("label_shift"));
  diagnosis.missing =
      field.at("missing_shift").each([&](const ResultField& each) { return read_missing_shift(each, domains.size()); });
  diagnosis.advice = field.at("advice").each(read_advice);
  return diagnosis;
}

}  // namespace ecotone
