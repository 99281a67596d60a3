#pragma once

#include <string>
#include <utility>
#include <vector>

#include "golden_json.h"
#include "methods/support.h"

/// The golden cases of alignment and robust risks (tests/golden/align): inputs as views, expectations with tolerances.
namespace ecotone::test {

class AlignGolden {
 public:
  explicit AlignGolden(const std::string& name) : file_(golden_file("align", name)) {}

  const Json& inputs() const { return file_.at("inputs"); }
  std::vector<Json> tasks(const std::string& op) const {
    std::vector<Json> found;
    for (const Json& task : file_.at("tasks"))
      if (task.at("op") == op) found.push_back(task);
    EXPECT_FALSE(found.empty()) << op;
    return found;
  }
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

  void expect(const Json& task, const std::string& field, const Matrix& ours) const {
    const Json& wanted = task.at("expect").at(field);
    Matrix expected(1, 1);
    if (!wanted.is_array())
      expected(0, 0) = number_of(wanted);
    else
      expected = wanted.front().is_array() ? matrix_of(wanted) : Matrix(vector_of(wanted));
    const Json& tolerance = task.at("tol");
    const double most = tolerance.is_object() ? tolerance.at(field).get<double>() : tolerance.get<double>();
    ASSERT_EQ(ours.rows(), expected.rows()) << field;
    ASSERT_EQ(ours.cols(), expected.cols()) << field;
    EXPECT_LT((ours - expected).cwiseAbs().maxCoeff(), most) << field << " of " << task.dump().substr(0, 120);
  }
  void expect(const Json& task, const std::string& field, double ours) const {
    expect(task, field, Matrix::Constant(1, 1, ours));
  }

 private:
  Json file_;
};

}  // namespace ecotone::test
