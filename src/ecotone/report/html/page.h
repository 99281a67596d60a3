#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ecotone/base/index.h"
#include "ecotone/evaluate/evaluate.h"
#include "ecotone/measure/metrics.h"

/// The parts that a report page is made of: the results in the order of the page, and text that is safe inside HTML.
namespace ecotone::report {

/// Text with &, <, >, " and ' as entities; for elements and quoted attributes. Control characters and malformed UTF-8
/// become U+FFFD.
std::string escape(std::string_view text);

using Value = std::optional<double>;

struct DomainResult {
  std::string domain;
  Index rows = 0;
  std::vector<Value> metrics;                    ///< in the order of Results::metrics
  std::vector<std::optional<Bounds>> intervals;  ///< of the metrics
  std::vector<double> prevalence;                ///< as in DomainScore
};

struct DifferenceResult {
  Value mean;
  Value low;
  Value high;
  Value p_adjusted;
};

struct PipelineResult {
  std::string name;  ///< its letter: A, B, ..
  std::string pipeline;
  std::vector<DomainResult> domains;
  std::vector<Value> mean;
  std::vector<Value> spread;
  std::vector<std::optional<WorstDomain>> worst;
  std::vector<DifferenceResult> difference;  ///< from the reference
  std::string error;                         ///< why it could not be fitted; empty if it could
  /// Of a grid: what was chosen in each split, the splits by name, and the title of the metric that chose.
  std::vector<SplitChoice> chosen;
  std::string choice_metric;
  /// With a threshold rule: what was chosen in each split.
  std::vector<SplitThreshold> thresholds;
};

/// An evaluation with its values in the order of its metrics. All pipelines have the same domains.
struct Results {
  std::string protocol;
  std::string unit = "domain";  ///< what is scored
  std::string limits;           ///< of training rows by time and groups, in sentences; empty: none
  std::vector<const MetricInfo*> metrics;
  std::vector<PipelineResult> pipelines;
  std::size_t headline = 0;   ///< index of the metric that the page is about
  std::size_t reference = 0;  ///< index of the pipeline that the others are compared with
  std::string threshold;      ///< rule of the threshold; empty without one
  std::vector<std::string> classes;
  std::string omitted;  ///< which of the domains are there, as the end of a sentence; empty: all

  const MetricInfo& metric() const { return *metrics[headline]; }
  /// Whether a pipeline is compared with the reference.
  bool compared(std::size_t p) const { return p != reference && pipelines[p].error.empty(); }
  /// The number of pipelines that are.
  std::size_t comparisons() const;
  /// The pipeline with the best mean of a metric; empty when none has one.
  std::optional<std::size_t> best(std::size_t metric) const;
};

Results results_of(const Evaluation& evaluation);

/// A number for a reader: four digits after the point, or four significant digits when large.
std::string number(const Value& value);
/// The same in three significant digits, for sentences.
std::string brief(const Value& value);
/// The same with its sign.
std::string signed_number(const Value& value);

}  // namespace ecotone::report
