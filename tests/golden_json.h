#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ecotone/base/index.h"
#include "ecotone/base/json.h"
#include "ecotone/linalg/matrix.h"
#include "source_dir.h"

/// Reads the golden cases in tests/golden.
namespace ecotone::test {

inline double number_of(const Json& value) {
  if (value.is_number()) return value.get<double>();
  const std::string text = value.get<std::string>();
  if (text == "nan") return std::nan("");
  return text == "inf" ? HUGE_VAL : text == "-inf" ? -HUGE_VAL : std::stod(text);
}
inline std::vector<double> numbers_of(const Json& list) {
  std::vector<double> result;
  for (const Json& value : list) result.push_back(number_of(value));
  return result;
}
inline std::vector<std::int32_t> indices_of(const Json& list) { return list.get<std::vector<std::int32_t>>(); }
inline Vector vector_of(const Json& list) {
  Vector result(std::ssize(list));
  for (std::size_t i = 0; i < list.size(); ++i) result[static_cast<Index>(i)] = number_of(list[i]);
  return result;
}
inline Matrix matrix_of(const Json& rows) {
  Matrix result(std::ssize(rows), rows.empty() ? 0 : std::ssize(rows.front()));
  for (Index i = 0; i < result.rows(); ++i) result.row(i) = vector_of(rows[at(i)]).transpose();
  return result;
}

/// The file `folder`/`name`.json.
inline Json golden_file(const std::string& folder, const std::string& name) {
  std::ifstream file(source_dir() / "tests/golden" / folder / (name + ".json"));
  return Json::parse(file);
}

/// The tasks of a file with one kind of operation; `tol` gives the largest difference of each result, or "exact". Of an
/// operation with one result compared, all must be: the others fail at the end.
class GoldenTasks {
 public:
  GoldenTasks(const std::string& folder, const std::string& name) : file_(golden_file(folder, name)) {}
  GoldenTasks(const GoldenTasks&) = delete;
  GoldenTasks& operator=(const GoldenTasks&) = delete;
  ~GoldenTasks() {
    for (const auto& [op, fields] : compared_)
      for (const Json& task : of(op))
        for (const auto& [field, wanted] : task.at("expect").items())
          EXPECT_TRUE(fields.contains(field) || field == "grad" || field == "note") << field << " of " << op;
  }

  std::vector<Json> of(const std::string& op) const {
    std::vector<Json> tasks;
    for (const Json& task : file_.at("tasks"))
      if (task.at("op") == op) tasks.push_back(task);
    EXPECT_FALSE(tasks.empty()) << op;
    return tasks;
  }

  /// Notes that a test compares this result on its own.
  void compared(const Json& task, const std::string& field) const { compared_[task.at("op")].insert(field); }
  void expect(const Json& task, const std::string& field, double ours) const {
    compared(task, field);
    if (!task.at("expect").contains(field)) return;
    compare(task, field, ours, number_of(task.at("expect").at(field)));
  }
  void expect(const Json& task, const std::string& field, const Vector& ours) const {
    compared(task, field);
    if (!task.at("expect").contains(field)) return;
    const Vector wanted = vector_of(task.at("expect").at(field));
    ASSERT_EQ(ours.size(), wanted.size()) << field;
    for (Index i = 0; i < ours.size(); ++i) compare(task, field, ours[i], wanted[i]);
  }
  void expect(const Json& task, const std::string& field, const Matrix& ours) const {
    compared(task, field);
    if (!task.at("expect").contains(field)) return;
    const Matrix wanted = matrix_of(task.at("expect").at(field));
    ASSERT_EQ(ours.rows(), wanted.rows()) << field;
    for (Index i = 0; i < ours.rows(); ++i)
      for (Index j = 0; j < ours.cols(); ++j) compare(task, field, ours(i, j), wanted(i, j));
  }

 private:
  Json file_;
  mutable std::map<std::string, std::set<std::string>> compared_;  ///< by operation

  void compare(const Json& task, const std::string& field, double ours, double wanted) const {
    const Json& tolerance = file_.at("tol").at(field);
    if (std::isinf(wanted) || tolerance == "exact")
      EXPECT_EQ(ours, wanted) << field << " of " << task.dump().substr(0, 200);
    else
      EXPECT_NEAR(ours, wanted, tolerance.get<double>()) << field << " of " << task.dump().substr(0, 200);
  }
};

}  // namespace ecotone::test
