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
  std::vector<Value> metrics;  ///< in the order of Results::metrics
};

struct Difference {
  Value mean;
  Value low;
  Value high;
};

struct PipelineResult {
  std::string name;  ///< its letter: A, B, ..
  std::string pipeline;
  std::vector<DomainResult> domains;
  std::vector<Value> mean;
  std::vector<Value> spread;
  std::vector<Difference> difference;  ///< from the first pipeline
};

/// An evaluation with its values in the order of its metrics. All pipelines have the same domains.
struct Results {
  std::string protocol;
  std::vector<const MetricInfo*> metrics;
  std::vector<PipelineResult> pipelines;
  std::size_t headline = 0;  ///< index of the metric that the page is about

  const MetricInfo& metric() const { return *metrics[headline]; }
  /// The pipeline with the best mean of a metric; empty when none has one.
  std::optional<std::size_t> best(std::size_t metric) const;
};

Results results_of(const Evaluation& evaluation);

/// A number for a reader: four digits after the point, or four significant digits when large.
std::string number(const Value& value);
/// The same with its sign.
std::string signed_number(const Value& value);

}  // namespace ecotone::report
