#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ecotone/data/dataset.h"
#include "golden_json.h"

/// How the cases in tests/golden/align are read.
namespace ecotone::test {

/// Domains of a list of names, in order of first appearance.
inline Domains domains_named(const Json& list) {
  Domains domains;
  std::map<std::string, std::int32_t> number;
  for (const Json& each : list) {
    const auto name = each.get<std::string>();
    const auto found = number.emplace(name, static_cast<std::int32_t>(domains.names.size()));
    if (found.second) domains.names.push_back(name);
    domains.index.push_back(found.first->second);
  }
  return domains;
}

/// One task: results are compared within its tolerance, and all that are expected must be.
class AlignTask {
 public:
  explicit AlignTask(const Json& task) : task_(task) {}
  AlignTask(const AlignTask&) = delete;
  AlignTask& operator=(const AlignTask&) = delete;
  ~AlignTask() {
    for (const auto& [field, wanted] : task_.at("expect").items())
      EXPECT_TRUE(wanted.is_null() || compared_.contains(field)) << field << " of " << name();
  }

  const Json& params() const { return task_.at("params"); }
  const Json& wanted(const std::string& field) const { return task_.at("expect").at(field); }
  /// Notes that a test compares this result on its own; whether there is anything to compare with.
  bool expects(const std::string& field) {
    compared_.insert(field);
    return task_.at("expect").contains(field) && !task_.at("expect").at(field).is_null();
  }
  double tolerance(const std::string& field) const {
    const Json& tol = task_.at("tol");
    return tol.is_object() ? tol.at(field).get<double>() : tol.get<double>();
  }
  void expect(const std::string& field, double ours) {
    if (expects(field)) {
      EXPECT_NEAR(ours, number_of(wanted(field)), tolerance(field)) << field << " of " << name();
    }
  }
  void expect(const std::string& field, const Vector& ours) {
    if (expects(field)) compare(field, ours, vector_of(wanted(field)));
  }
  void expect(const std::string& field, const Matrix& ours) {
    if (expects(field)) compare(field, ours, matrix_of(wanted(field)));
  }
  void compare(const std::string& field, const Matrix& ours, const Matrix& theirs) const {
    ASSERT_EQ(ours.rows(), theirs.rows()) << field;
    ASSERT_EQ(ours.cols(), theirs.cols()) << field;
    EXPECT_LE((ours - theirs).cwiseAbs().maxCoeff(), tolerance(field)) << field << " of " << name();
  }

 private:
  Json task_;
  std::set<std::string> compared_;

  std::string name() const { return task_.at("op").get<std::string>() + " " + task_.value("params", Json()).dump(); }
};

/// The tasks of a case with one operation.
inline std::vector<Json> align_tasks_of(const Json& file, const std::string& op) {
  std::vector<Json> found;
  for (const Json& task : file.at("tasks"))
    if (task.at("op") == op) found.push_back(task);
  EXPECT_FALSE(found.empty()) << op;
  return found;
}

inline std::vector<Json> align_tasks(const std::string& name, const std::string& op) {
  return align_tasks_of(golden_file("align", name), op);
}

/// A number, or none for "auto".
inline std::optional<double> auto_number(const Json& value) {
  if (value.is_string()) return std::nullopt;
  return value.get<double>();
}

/// The option as text: the word or the number.
inline std::string option_of(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

}  // namespace ecotone::test
