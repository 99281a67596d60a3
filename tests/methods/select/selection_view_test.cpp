#include "ecotone/methods/select/selection_view.h"

#include <gtest/gtest.h>

#include "ecotone/methods/select/selection_data.h"
#include "methods/support.h"

namespace ecotone::test {
namespace selection_view_test {

/// Numbers that stay exact when a million or a billion is added to them.
double coarse(double value) { return std::round(value * 1024) / 1024; }

/// y = 2 a - c + noise, in four domains whose means differ a little.
TrainView numbers(double x_offset = 0, double y_offset = 0) {
  Random random(5, "numbers");
  constexpr Index rows = 400;
  Matrix x(rows, 4);
  Vector y(rows);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < 4; ++j) x(i, j) = coarse(random.normal() + 0.1 * static_cast<double>(i % 4));
    y[i] = coarse(2 * x(i, 0) - x(i, 2) + 0.5 * random.normal()) + y_offset;
  }
  x.col(0).array() += x_offset;
  x.col(3).array() += x_offset;
  TrainView view = view_of(Features::dense(x, {"a", "b", "c", "d"}), {Task::regress, {}, {}, y});
  view.domain = dealt_domains(rows, 4);
  view.role.assign(4, Role::source);
  return view;
}

void expect_near(const Json& found, const Json& expected, const char* name) {
  ASSERT_EQ(found.contains(name), expected.contains(name));
  if (!expected.contains(name)) return;
  const auto a = found.at(name).get<std::vector<double>>();
  const auto b = expected.at(name).get<std::vector<double>>();
  ASSERT_EQ(a.size(), b.size()) << name;
  for (std::size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], 1e-7) << name << " " << k;
}

TEST(SelectionView, FarColumnsAndLabelsLoseNothing) {
  struct Move {
    double x, y;
  };
  const TrainView near = numbers();
  for (const char* pipeline : {"step", "ridge", "greedy steps=6 mode=stepwise intercept=true",
                               "tgreedy steps=6 intercept=true", "greedy steps=3 route=lazy intercept=true"}) {
    const Model expected = fitted(pipeline, near);
    const Json stage = expected.inspect().at("stages")[0];
    const Vector value = expected.predict({near.x, {}}, context()).value;
    for (const Move& move : {Move{1e6, 0}, Move{1e9, 0}, Move{0, 1e7}, Move{1e9, 1e7}}) {
      SCOPED_TRACE(fmt::format("{} x + {} y + {}", pipeline, move.x, move.y));
      const TrainView far = numbers(move.x, move.y);
      const Model model = fitted(pipeline, far);
      const Json found = model.inspect().at("stages")[0];
      for (const char* name : {"indices", "weights", "loss", "gain", "lodo_value"}) expect_near(found, stage, name);
      const Vector moved = model.predict({far.x, {}}, context()).value;
      EXPECT_LT((moved - value - Vector::Constant(value.size(), move.y)).cwiseAbs().maxCoeff(), 1e-5);
    }
  }
}

TEST(SelectionView, CentredColumnsAloneKeepTheLabelAsItIs) {
  const TrainView near = numbers();
  const TrainView far = numbers(1e9);
  const char* pipeline = "greedy steps=6 mode=stepwise centre=source";
  const Json expected = fitted(pipeline, near).inspect().at("stages")[0];
  const Json found = fitted(pipeline, far).inspect().at("stages")[0];
  for (const char* name : {"indices", "weights", "loss"}) expect_near(found, expected, name);
  EXPECT_EQ(selection_view("greedy", numbers(0, 1e7), {.x = true, .y = false}, context()).y_centre, 0);
}

TEST(SelectionView, WhatLiesNearStaysTheSameObject) {
  TrainView view = numbers();
  Matrix x = view.x.to_matrix();
  x.col(1).setConstant(1e9);
  view.x = Features::dense(x);
  const SelectionView found = selection_view("step", view, {.x = true, .y = true}, context());
  EXPECT_EQ(found.view.x.shared_storage(), view.x.shared_storage());
  EXPECT_EQ(found.centre.size(), 0);
  EXPECT_EQ(found.y_centre, 0);
  const TrainView far = numbers(1e9, 1e7);
  EXPECT_EQ(selection_view("greedy", far, {}, context()).view.x.shared_storage(), far.x.shared_storage());
}

TEST(SelectionView, ADomainWithoutWeightIsLeftOut) {
  TrainView view = numbers();
  view.weight = Vector::Ones(400);
  for (Index i = 2; i < 400; i += 4) view.weight[i] = 0;
  std::vector<Index> others;
  for (Index i = 0; i < 400; ++i)
    if (i % 4 != 2) others.push_back(i);
  TrainView without = view;
  without.x = view.x.take(others);
  without.y = view.y.take(others);
  without.domain = view.domain.take(others);
  without.role.assign(3, Role::source);
  without.weight = Vector::Ones(300);
  for (const char* pipeline : {"step", "ridge", "tgreedy steps=3"}) {
    Recorder recorder;
    const Context run({.threads = 2, .seed = 1, .observer = &recorder});
    const Json found = fitted(pipeline, view, run).inspect().at("stages")[0];
    expect_near(found, fitted(pipeline, without).inspect().at("stages")[0], "weights");
    ASSERT_EQ(recorder.warnings.size(), 1U);
    EXPECT_EQ(recorder.warnings[0].first, "domain_without_weight");
    EXPECT_NE(recorder.warnings[0].second.find("'d3'"), std::string::npos);
  }
  view.weight.setZero();
  EXPECT_EQ(message_of([&] { fitted("ridge", view); }), "ridge: all rows with a label have weight 0");
}

TEST(SelectionView, ADomainWithoutWeightIsLeftOutOfMomentsToo) {
  TrainView view = numbers();
  view.weight = Vector::Ones(400);
  for (Index i = 2; i < 400; i += 4) view.weight[i] = 0;
  Recorder recorder;
  const Context run({.threads = 2, .seed = 1, .observer = &recorder});
  Moments moments = SelectionData("moments", view).moments(GramKind::double_precision, run);
  EXPECT_EQ(labelled_list(moment_columns("step", moments, run)->moments), (std::vector<Index>{0, 1, 3}));
  ASSERT_EQ(recorder.warnings.size(), 1U);
  EXPECT_EQ(recorder.warnings[0].first, "domain_without_weight");
  moments.weight.setZero();
  EXPECT_EQ(code_of([&] { moment_columns("step", moments, run); }), "no_weight");
}

TEST(SelectionView, OneDomainOfWhichHalfHasNoWeightIsLearntFromTheOther) {
  TrainView view = numbers();
  view.domain = dealt_domains(400, 1);
  view.role = {Role::source};
  view.weight = Vector::Zero(400);
  view.weight.head(8).setOnes();
  EXPECT_EQ(code_of([&] { fitted("ridge", view); }), "none");
}

TEST(SelectionView, MomentsAloneSayWhichColumnLostItsDigits) {
  const auto warned = [](double x, double y, GramKind kind, bool centred) {
    const TrainView view = numbers(x, y);
    const Moments moments = SelectionData("moments", view).moments(kind, context());
    Recorder recorder;
    warn_lost_digits("step", moments, {.x = centred, .y = centred}, Context({.threads = 1, .observer = &recorder}));
    return recorder.warnings.empty() ? std::string() : recorder.warnings[0].first + " " + recorder.warnings[0].second;
  };
  constexpr auto full = GramKind::double_precision;
  EXPECT_EQ(warned(1e4, 1e4, full, true), "");
  EXPECT_EQ(warned(1e9, 0, full, false), "");
  for (const double offset : {1e6, 1e9}) {
    const std::string said = warned(offset, 0, full, true);
    EXPECT_TRUE(said.starts_with("lost_digits step: column '")) << said;
    EXPECT_TRUE(said.find("'a'") != std::string::npos || said.find("'d'") != std::string::npos) << said;
  }
  EXPECT_NE(warned(0, 1e7, full, true).find("the label"), std::string::npos);
  EXPECT_NE(warned(1e3, 0, GramKind::single_precision, true), "");
  EXPECT_EQ(warned(10, 0, GramKind::single_precision, true), "");
  // A constant column has none to lose.
  TrainView view = numbers();
  Matrix x = view.x.to_matrix();
  x.col(1).setConstant(1700000000.3);
  view.x = Features::dense(x);
  Recorder recorder;
  warn_lost_digits("step", SelectionData("moments", view).moments(full, context()), {.x = true, .y = true},
                   Context({.threads = 1, .observer = &recorder}));
  EXPECT_TRUE(recorder.warnings.empty());
}

TEST(SelectionView, DomainsOfOneClassAreNamedInAWarning) {
  TrainView view = overlapping(300, 3, 2, 3);
  for (std::size_t i = 0; i < 300; ++i)
    if (view.domain.index[i] == 1) view.y.index[i] = 0;
  for (const char* pipeline : {"step score=auroc", "ridge score=auroc"}) {
    Recorder recorder;
    const Context run({.threads = 2, .seed = 1, .observer = &recorder});
    fitted(pipeline, view, run);
    ASSERT_FALSE(recorder.warnings.empty());
    EXPECT_EQ(recorder.warnings[0].first, "one_class_domains");
    EXPECT_NE(recorder.warnings[0].second.find("1 of the 3 domains"), std::string::npos);
  }
}

}  // namespace selection_view_test
}  // namespace ecotone::test
