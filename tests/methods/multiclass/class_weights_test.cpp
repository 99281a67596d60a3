#include "ecotone/methods/multiclass/class_weights.h"

#include "methods/support.h"

namespace ecotone::test {
namespace class_weights_test {

/// Uneven classes with row weights.
TrainView uneven(Index classes) {
  TrainView view = overlapping(120, 3, classes, 2);
  for (Index i = 0; i < 40; ++i) view.y.index[static_cast<std::size_t>(i)] = 0;
  view.weight = Vector::LinSpaced(120, 0.5, 2);
  return view;
}

Json results(const Model& model) {
  Json stage = model.inspect().at("stages").at(0);
  stage.erase("options");
  return stage;
}

TEST(ClassWeights, BalancedIsThoseRowWeights) {
  for (const Index classes : {2, 3}) {
    const TrainView view = uneven(classes);
    // W / (R W_r)
    Vector sum = Vector::Zero(classes);
    for (Index i = 0; i < 120; ++i) sum[view.y.index[static_cast<std::size_t>(i)]] += view.weight[i];
    TrainView weighted = view;
    for (Index i = 0; i < 120; ++i) {
      const double own = sum[view.y.index[static_cast<std::size_t>(i)]];
      weighted.weight[i] *= sum.sum() / (static_cast<double>(classes) * own);
    }
    EXPECT_NEAR(weighted.weight.sum(), view.weight.sum(), 1e-9);
    for (const std::string multiclass : {"softmax", "ova", "ovo", "ecoc"}) {
      const std::string text = "logistic l2=0.1 multiclass=" + multiclass;
      EXPECT_EQ(results(fitted(text + " class_weight=balanced", view)), results(fitted(text, weighted))) << multiclass;
      EXPECT_NE(results(fitted(text + " class_weight=balanced", view)), results(fitted(text, view))) << multiclass;
    }
  }
}

TEST(ClassWeights, TwoIsEveryRowOfTheClassTwice) {
  for (const Index classes : {2, 3}) {
    TrainView view = uneven(classes);
    std::vector<Index> rows;
    for (Index i = 0; i < 120; ++i) {
      rows.push_back(i);
      if (view.y.index[static_cast<std::size_t>(i)] == 1) rows.push_back(i);
    }
    TrainView doubled = view_of(view.x.take(rows), view.y.take(rows));
    doubled.weight.resize(doubled.labelled());
    for (std::size_t i = 0; i < rows.size(); ++i) doubled.weight[static_cast<Index>(i)] = view.weight[rows[i]];
    const Batch batch{view.x, std::nullopt};
    for (const std::string multiclass : {"softmax", "ova", "ovo", "ecoc"}) {
      const std::string text = "logistic l2=0.1 norm=sum multiclass=" + multiclass;
      const Prediction given = fitted(text + " class_weight=c1:2", view).predict(batch, context());
      const Prediction expected = fitted(text, doubled).predict(batch, context());
      EXPECT_LT((given.probability - expected.probability).cwiseAbs().maxCoeff(), 1e-8) << multiclass;
    }
  }
}

TEST(ClassWeights, ListsNameClasses) {
  const TrainView view = view_of(Features::dense(Matrix::Zero(3, 1)), class_labels({"a", "a:b", "c,d"}, {0, 1, 2}));
  EXPECT_EQ(class_weights("t", view, "none"), Vector::Ones(3));
  EXPECT_EQ(class_weights("t", view, "a:2"), (Vector(3) << 2, 1, 1).finished());
  EXPECT_EQ(class_weights("t", view, "c,d:0.5,a:b:3e1"), (Vector(3) << 1, 30, 0.5).finished());
}

TEST(ClassWeights, ErrorsByName) {
  const TrainView view = uneven(3);
  const auto fit = [&](const std::string& weights) {
    return code_of([&] { fitted("logistic l2=0.1 class_weight='" + weights + "'", view); });
  };
  EXPECT_EQ(fit("c0:2,c1:0.5"), "none");
  EXPECT_EQ(fit("d:2"), "unknown_class");
  for (const std::string bad :
       {"", "equal", "c0", "c0:", "c0:x", "c0:-1", "c0:nan", "c0:inf", "c0:1e999", "c0:1,", "c0:1,c0:2", "c0=2"}) {
    EXPECT_EQ(fit(bad), "bad_option") << bad;
  }
  EXPECT_EQ(message_of([&] { fitted("logistic class_weight=c0:-1", view); }),
            "logistic: class_weight of class 'c0' must be a number >= 0, got '-1'");
  TrainView weightless = view;
  for (Index i = 0; i < 120; ++i) {
    if (view.y.index[static_cast<std::size_t>(i)] == 2) weightless.weight[i] = 0;
  }
  EXPECT_EQ(code_of([&] { fitted("logistic l2=0.1 class_weight=balanced", weightless); }), "zero_weights");
}

}  // namespace class_weights_test
}  // namespace ecotone::test
