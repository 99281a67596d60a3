#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "golden_align.h"
#include "methods/support.h"

/// The golden cases of alignment and robust risks (tests/golden/align) for stages: inputs as views. Of a task with one
/// result compared, all must be: the others fail at the end.
namespace ecotone::test {

class AlignGolden {
 public:
  explicit AlignGolden(const std::string& name) : file_(golden_file("align", name)) {}

  const Json& inputs() const { return file_.at("inputs"); }
  std::vector<Json> tasks(const std::string& op) const { return align_tasks_of(file_, op); }
  Json task(const std::string& op) const { return tasks(op).front(); }

  /// The rows with their domains, without labels.
  TrainView rows() const {
    TrainView view = view_of(Features::dense(matrix_of(inputs().at("X"))), no_labels());
    std::vector<std::string> names;
    view.domain.index.clear();
    for (const Json& each : inputs().at("domain")) {
      const auto name = each.get<std::string>();
      const auto found = std::ranges::find(names, name);
      view.domain.index.push_back(static_cast<std::int32_t>(found - names.begin()));
      if (found == names.end()) names.push_back(name);
    }
    view.role.assign(names.size(), Role::source);
    view.domain.names = std::move(names);
    return view;
  }
  /// The same with labels -1 and 1.
  TrainView classes(const std::string& label) const {
    TrainView view = rows();
    view.y = class_labels({"-1", "1"}, {});
    for (const double y : numbers_of(inputs().at(label))) view.y.index.push_back(y > 0 ? 1 : 0);
    return view;
  }
  TrainView numbers(const std::string& label) const {
    TrainView view = rows();
    view.y = Labels{Task::regress, {}, {}, vector_of(inputs().at(label))};
    return view;
  }

  /// Of 11_transport: 9 source rows, then 7 target rows.
  TrainView transport_view(bool numbers = false) const {
    const Matrix xs = matrix_of(inputs().at("Xs"));
    const Matrix xt = matrix_of(inputs().at("Xt"));
    Matrix x(xs.rows() + xt.rows(), xs.cols());
    x << xs, xt;
    Labels y{Task::regress, {}, {}, {}};
    if (numbers) {
      y.value = vector_of(inputs().at("ys"));
    } else {
      y = class_labels({}, {});
      for (const Json& each : inputs().at("y")) {
        const std::string name = each.dump();
        const auto found = std::ranges::find(y.classes, name);
        y.index.push_back(static_cast<std::int32_t>(found - y.classes.begin()));
        if (found == y.classes.end()) y.classes.push_back(name);
      }
    }
    TrainView view = view_of(Features::dense(x), std::move(y));
    view.domain.names = {"s", "t"};
    view.role = {Role::source, Role::target};
    for (std::size_t i = 9; i < 16; ++i) view.domain.index[i] = 1;
    return view;
  }

  /// A number, a vector or a matrix.
  template <class Result>
  void expect(const Json& task, const std::string& field, const Result& ours) const {
    compared(task).expect(field, ours);
  }
  /// The task as one whose results are counted, for those that a test compares on its own.
  AlignTask& compared(const Json& task) const { return compared_.try_emplace(task.dump(), task).first->second; }

 private:
  Json file_;
  mutable std::map<std::string, AlignTask> compared_;  ///< by the task's text
};

}  // namespace ecotone::test
