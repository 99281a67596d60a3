#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

#include "ecotone/base/index.h"
#include "ecotone/base/json.h"
#include "ecotone/linalg/matrix.h"
#include "source_dir.h"

/// Reads the golden cases in tests/golden/trees.
namespace ecotone::test::trees_test {

inline double number_of(const Json& value) {
  if (value.is_number()) return value.get<double>();
  const std::string text = value.get<std::string>();
  if (text == "nan") return std::nan("");
  return text == "inf" ? HUGE_VAL : text == "-inf" ? -HUGE_VAL : std::stod(text);
}
inline Vector vector_of(const Json& list) {
  Vector result(std::ssize(list));
  for (std::size_t i = 0; i < list.size(); ++i) result[static_cast<Index>(i)] = number_of(list[i]);
  return result;
}
inline Matrix matrix_of(const Json& rows) {
  Matrix result(std::ssize(rows), std::ssize(rows.front()));
  for (Index i = 0; i < result.rows(); ++i) result.row(i) = vector_of(rows[at(i)]).transpose();
  return result;
}
inline Json golden(const std::string& name) {
  std::ifstream file(source_dir() / "tests/golden/trees" / (name + ".json"));
  return Json::parse(file);
}
inline void expect_close(double ours, double wanted) {
  EXPECT_NEAR(ours, wanted, std::max(1e-12, 1e-10 * std::abs(wanted)));
}

}  // namespace ecotone::test::trees_test
