#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ecotone/base/random.h"
#include "ecotone/methods/pipeline.h"

namespace ecotone {

struct OptionGiven;

/// The largest number of pipelines in one grid.
inline constexpr std::size_t largest_grid = 10'000;

/// The pipelines that a text with braces describes: `scale | logistic l2={0.01,0.1,1} norm={count,sum}` gives six.
/// Values in braces are separated by commas and may be quoted; a value that holds a comma must be. A number may have a
/// range instead, `l2={1e-4..1}`, for random draws only.
///
/// Every value is checked at construction. Option errors: those of `Pipeline::parse`; `bad_pipeline` (with the
/// position) also for malformed braces.
class PipelineSpace {
 public:
  explicit PipelineSpace(std::string_view text);

  /// The number of pipelines; 1 without braces. Option errors: `range_in_grid` (a range has no points),
  /// `grid_too_large` (more than `largest_grid`).
  std::size_t size() const;
  /// Pipeline i of the Cartesian product, braces in the order written, the last varies fastest. The errors of size().
  Pipeline at(std::size_t i) const;
  /// The first value of every list and the lower end of every range.
  Pipeline first() const;
  /// Whether any option has a range.
  bool has_range() const;
  /// Whether there is only one pipeline: no option has several values or a range.
  bool is_single() const;
  /// One pipeline at random: each list uniform over its values; a range of real numbers log-uniform when both its ends
  /// are above 0, else uniform; a range of whole numbers uniform over them, ends included.
  Pipeline draw(Random& random) const;

 private:
  /// An option that varies.
  struct Axis {
    std::size_t stage = 0;
    const Method* method = nullptr;
    const OptionInfo* option = nullptr;
    std::size_t position = 0;
    std::vector<Json> values;  ///< checked; of a range the two ends
    bool is_range = false;
  };

  std::vector<Stage> stages_;                    ///< with the first value of every axis
  std::vector<std::vector<std::string>> given_;  ///< names of the options that were given to each stage
  std::vector<Axis> axes_;

  static Json draw(const Axis& axis, Random& random);
  /// The stages with these values of the axes, one for each.
  Pipeline with(const std::vector<Json>& values) const;
  /// Adds the axis of an option in braces; the text of its first value.
  std::string add_axis(std::size_t stage, const Method& method, const OptionGiven& given);
};

/// Every pipeline of the grid in order; a text without braces gives one. The errors of `PipelineSpace`.
std::vector<Pipeline> expand_grid(std::string_view text);

}  // namespace ecotone
