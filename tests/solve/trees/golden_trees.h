#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "golden_json.h"

/// Reads the golden cases in tests/golden/trees.
namespace ecotone::test::trees_test {

inline Json golden(const std::string& name) { return golden_file("trees", name); }
inline void expect_close(double ours, double wanted) {
  EXPECT_NEAR(ours, wanted, std::max(1e-12, 1e-10 * std::abs(wanted)));
}

}  // namespace ecotone::test::trees_test
