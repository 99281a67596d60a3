#include <cmath>

#include "ecotone/base/error.h"
#include "ecotone/base/json_number.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/trust/expect.h"

namespace ecotone {
namespace {

std::vector<double> list_of(const Vector& values) { return {values.begin(), values.end()}; }

/// Reads the note of a file that may hold anything.
class ExpectReader {
 public:
  ExpectReader(const Json& json, const Model& model, const std::string& origin)
      : json_(json), model_(model), origin_(origin) {}

  ExpectBasis basis() const {
    ExpectBasis basis;
    const std::string by = text(json_, "by");
    if (by != "replay" && by != "cheap") bad("'by' must be replay or cheap");
    basis.by = by == "replay" ? NextDomainBy::replay : NextDomainBy::cheap;
    for (const Json& name : list(json_, "domains")) {
      if (!name.is_string()) bad("'domains' must be names");
      basis.domains.push_back(name.get<std::string>());
    }
    if (basis.domains.size() < 3) bad("fewer than three domains");
    const Json& mean = object(json_, "mean");
    for (const auto& [name, value] : mean.items()) require_metric_name(name);
    for (const auto& [name, value] : mean.items())
      basis.summary.mean.emplace_back(name, value.is_null() ? std::nullopt : std::optional(mean_of(mean, name)));
    if (std::ranges::none_of(basis.summary.mean, [](const auto& each) { return each.second.has_value(); }))
      bad("'mean' has no value");
    basis.summary.mean_inverse_rows = number(json_, "mean_inverse_rows");
    read_residuals(basis);
    if (model_.task() == Task::classify) read_classes(basis.summary);
    return basis;
  }

 private:
  const Json& json_;
  const Model& model_;
  const std::string& origin_;

  [[noreturn]] void bad(const std::string& what) const {
    file_error("bad_model", "{}: note 'expect': {}", origin_, what);
  }
  const Json& member(const Json& from, const std::string& key) const {
    const auto found = from.find(key);
    if (found == from.end()) bad(fmt::format("'{}' is missing", key));
    return *found;
  }
  const Json& list(const Json& from, const std::string& key) const {
    const Json& found = member(from, key);
    if (!found.is_array()) bad(fmt::format("'{}' must be a list", key));
    return found;
  }
  const Json& object(const Json& from, const std::string& key) const {
    const Json& found = member(from, key);
    if (!found.is_object()) bad(fmt::format("'{}' must be an object", key));
    return found;
  }
  std::string text(const Json& from, const std::string& key) const {
    const Json& found = member(from, key);
    if (!found.is_string()) bad(fmt::format("'{}' must be text", key));
    return found.get<std::string>();
  }
  double number(const Json& from, const std::string& key) const {
    const Json& found = member(from, key);
    if (!found.is_number() || !std::isfinite(found.get<double>())) bad(fmt::format("'{}' must be a number", key));
    return found.get<double>();
  }
  std::vector<double> numbers(const Json& from, const std::string& key) const {
    std::vector<double> values;
    for (const Json& value : list(from, key)) {
      if (!value.is_number() || !std::isfinite(value.get<double>())) bad(fmt::format("'{}' must be numbers", key));
      values.push_back(value.get<double>());
    }
    return values;
  }
  Vector per_class(const Json& from, const std::string& key) const {
    const std::vector<double> values = numbers(from, key);
    if (values.size() != model_.classes().size()) bad(fmt::format("'{}' must have a number for every class", key));
    return Eigen::Map<const Vector>(values.data(), std::ssize(values));
  }

  void require_metric_name(const std::string& name) const {
    const MetricInfo* metric = find_metric(name);
    if (metric == nullptr || metric->task != model_.task()) bad(fmt::format("'{}' is not a metric of the task", name));
  }

  double mean_of(const Json& from, const std::string& name) const {
    const double value = number(from, name);
    const MetricScale scale = find_metric(name)->scale(std::ssize(model_.classes()));
    if (value < scale.least || value > scale.most) bad(fmt::format("'{}' cannot be {}", name, value));
    return value;
  }

  void read_residuals(ExpectBasis& basis) const {
    const Json& all = object(json_, "residuals");
    for (const auto& [name, metrics] : all.items()) {
      const auto found = std::ranges::find(estimator_infos(), name, &EstimatorInfo::name);
      if (found == estimator_infos().end() || !metrics.is_object()) bad(fmt::format("'{}' is not an estimator", name));
      for (const auto& [metric, values] : metrics.items()) {
        require_metric_name(metric);
        std::vector<double> residuals = numbers(metrics, metric);
        if (residuals.size() > basis.domains.size()) bad("more residuals than domains");
        basis.residuals[{found->estimator, metric}] = std::move(residuals);
      }
    }
  }

  void read_classes(SourceSummary& summary) const {
    summary.confidence = number(json_, "confidence");
    summary.threshold = {number(json_, "threshold"), number(json_, "share_at")};
    const Json& calibration = member(json_, "calibration");
    if (calibration.is_null()) return;
    if (!calibration.is_object()) bad("'calibration' must be an object");
    summary.calibration = Bcts{.a = number(calibration, "inverse_temperature"), .bias = per_class(calibration, "bias")};
    if (summary.calibration->reversed()) bad("the calibration is reversed");
    summary.source_share = per_class(calibration, "source_share");
    if (!(summary.source_share.array() > 0).all()) bad("'source_share' must be positive");
  }
};

}  // namespace

Json note_of(const ExpectBasis& basis) {
  const SourceSummary& summary = basis.summary;
  Json mean = Json::object();
  for (const auto& [name, value] : summary.mean) mean[name] = json_number(value);
  Json residuals = Json::object();
  for (const auto& [key, values] : basis.residuals)
    residuals[std::string(estimator_name(key.first))][key.second] = values;
  Json json = {{"by", basis.by == NextDomainBy::replay ? "replay" : "cheap"},
               {"domains", basis.domains},
               {"mean", std::move(mean)},
               {"mean_inverse_rows", summary.mean_inverse_rows},
               {"residuals", std::move(residuals)},
               {"confidence", summary.confidence},
               {"threshold", summary.threshold.threshold},
               {"share_at", summary.threshold.share_at},
               {"calibration", nullptr}};
  if (summary.calibration)
    json["calibration"] = {{"inverse_temperature", summary.calibration->a},
                           {"bias", list_of(summary.calibration->bias)},
                           {"source_share", list_of(summary.source_share)}};
  return json;
}

ExpectBasis expect_basis(const Model& model, const std::string& origin) {
  const auto found = model.notes().find("expect");
  if (found == model.notes().end())
    option_error(
        "no_expectation",
        "expect: {} does not say how its pipeline fared in domains that it had not seen; fit it with --expect, "
        "or give the data and the pipeline instead of the model",
        origin);
  return ExpectReader(*found, model, origin).basis();
}

}  // namespace ecotone
