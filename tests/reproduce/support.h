#pragma once

#include <stdexcept>
#include <string>

#include "ecotone/reproduce/experiment.h"
#include "evaluate/support.h"

/// Shorthands that the tests of reproduce share.
namespace ecotone::test {

/// An experiment without published numbers.
inline Experiment experiment_of(const Json& recipe) {
  return parse_experiment("small", recipe.dump(), R"({"source": "here"})");
}

inline const ReproducedRow& cell(const Reproduction& result, const std::string& row, const std::string& column) {
  for (const ReproducedRow& one : result.rows)
    if (one.row == row && one.column == column) return one;
  throw std::out_of_range(row + " of " + column);
}
inline double ours(const Reproduction& result, const std::string& row, const std::string& column) {
  return cell(result, row, column).ours;
}

}  // namespace ecotone::test
