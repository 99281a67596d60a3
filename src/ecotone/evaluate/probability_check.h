#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ecotone/evaluate/evaluate.h"

namespace ecotone {

/// How probabilities miss, by the calibration slope.
enum class ProbabilityShape { right, too_extreme, too_timid, reversed };

/// Whether the probabilities of one pipeline can be used. In every domain, its log loss stands beside that of the
/// shares of the classes among the rows of all other scored domains, which is what someone who knows no feature would
/// say.
struct ProbabilityCheck {
  struct Domain {
    std::string domain;
    double loss = 0;
    double guessing = 0;

    /// By more than a hundredth: a constant that was learned elsewhere is a little off, too.
    bool worse() const { return loss > 1.01 * guessing; }
  };
  std::vector<Domain> domains;  ///< where both are defined; none with fewer than two such domains
  double loss = 0;              ///< means over these domains
  double guessing = 0;
  std::optional<double> slope;  ///< median of the calibration slope over domains

  bool compared() const { return !domains.empty(); }
  /// On average.
  bool worse() const { return compared() && Domain{{}, loss, guessing}.worse(); }
  /// Domains in which the probabilities are worse than guessing, the worst first.
  std::vector<Domain> failing() const;
  /// Too extreme below a slope of 2/3, too timid above 3/2.
  ProbabilityShape shape() const;
  /// Whether something is wrong with them.
  bool care() const { return !failing().empty() || shape() != ProbabilityShape::right; }
};

/// Empty for numbers, for a pipeline that could not be fitted, and where nothing is known.
std::optional<ProbabilityCheck> check_probabilities(const PipelineScore& score);

}  // namespace ecotone
