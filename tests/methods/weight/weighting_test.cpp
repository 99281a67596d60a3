#include "ecotone/methods/weight/weighting.h"

#include <numeric>

#include "ecotone/measure/metrics.h"
#include "ecotone/methods/registry.h"
#include "methods/support.h"

namespace ecotone::test {
namespace weighting_test {

/// Source domains a and b (labels by the sign of the first column) and a target whose first column is moved by `shift`.
TrainView shifted(Index a, Index b, Index target, double shift, Index cols = 2) {
  Random random(7, "weighting_test");
  Matrix x(a + b + target, cols);
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < cols; ++j) x(i, j) = random.normal();
    if (i >= a && i < a + b) x(i, 1) += 0.5;
    if (i >= a + b) x(i, 0) += shift;
  }
  Labels y = class_labels({"no", "yes"}, {});
  for (Index i = 0; i < a + b; ++i) y.index.push_back(x(i, 0) + 0.8 * random.normal() > 0 ? 1 : 0);
  TrainView view = view_of(Features::dense(std::move(x)), std::move(y));
  view.domain.names = {"a", "b", "t"};
  view.role = {Role::source, Role::source, Role::target};
  for (Index i = 0; i < view.x.rows(); ++i)
    view.domain.index[static_cast<std::size_t>(i)] = i < a ? 0 : i < a + b ? 1 : 2;
  return view;
}

/// A weight stage alone.
StageResult weighted(const std::string& text, const TrainView& view, const Context& run = context()) {
  const Stage stage = Pipeline::parse(text).stages().front();
  FitCache cache;
  return stage.method->fit(view, stage.options, run, cache);
}

WeightReport report_of(const StageResult& result) { return dynamic_cast<const Weighting&>(*result.fitted).all(); }

const std::vector<std::string> stages = {"weight.logistic", "weight.knn", "weight.gaussian"};

TEST(Weighting, WithoutAShiftWeightsAreNearOne) {
  for (const std::string& stage : stages) {
    const StageResult result = weighted(stage, shifted(1000, 1000, 2000, 0));
    const WeightReport report = report_of(result);
    EXPECT_EQ(report.exponent, 1) << stage;
    EXPECT_GT(report.ess, 0.6 * 2000) << stage;
    EXPECT_NEAR(report.auroc.value(), 0.5, 0.1) << stage;
    EXPECT_NEAR(result.next.weight.mean(), 1, 1e-12) << stage;
  }
}

TEST(Weighting, PullsTheMeanOfTheSourceToTheTarget) {
  for (const std::string& stage : stages) {
    const TrainView view = shifted(1000, 1000, 2000, 0.7);
    const Vector weight = weighted(stage, view).next.weight;
    const Matrix x = view.x.to_matrix();
    const double mean = weight.dot(x.col(0).head(2000)) / weight.sum();
    EXPECT_NEAR(mean, 0.7, 0.15) << stage;
  }
}

TEST(Weighting, FlattenReachesTheEffectiveSampleSize) {
  const TrainView view = shifted(300, 300, 300, 2.5);
  for (const std::string& stage : stages) {
    const WeightReport raw = report_of(weighted(stage + " flatten=none", view));
    EXPECT_EQ(raw.exponent, 1) << stage;
    EXPECT_DOUBLE_EQ(raw.ess, raw.ess_raw.value()) << stage;
    const StageResult half = weighted(stage + " flatten=400", view);
    EXPECT_NEAR(report_of(half).ess, 400, 1e-6) << stage;
    EXPECT_NEAR(effective_sample_size(half.next.weight), 400, 1e-6) << stage;
    EXPECT_LT(report_of(half).exponent, 1) << stage;
    EXPECT_DOUBLE_EQ(report_of(half).ess_raw.value(), raw.ess_raw.value()) << stage;
    // More than there are rows: equal weights.
    const StageResult equal = weighted(stage + " flatten=601", view);
    EXPECT_EQ(report_of(equal).exponent, 0) << stage;
    EXPECT_EQ(equal.next.weight, Vector::Ones(600)) << stage;
    // By default 20 rows for each of two columns and the offset.
    EXPECT_GE(report_of(weighted(stage, view)).ess, 60 - 1e-6) << stage;
  }
}

/// A solver ends at 0 or at some dust of rounding, as the order of the rows has it.
TEST(Weighting, FlatteningDoesNotTellDustFromZero) {
  TrainView view = shifted(60, 60, 50, 1);
  const auto flattened = [&](double ess, bool solved, const std::vector<double>& dust) {
    const Weigher weigher{.who = "weight.test",
                          .log_ratio =
                              [&](const Features&, Index sources) {
                                Vector log_weight(sources);
                                for (Index i = 0; i < sources; ++i)
                                  log_weight[i] =
                                      std::log(i % 3 == 0 ? dust[at(i) % dust.size()] : 1.0 + 3.0 * (i % 7));
                                return log_weight;
                              },
                          .solved = solved};
    WeightOptions options;
    options.flatten.value = ess;
    return weigh(view, weigher, options, context());
  };
  for (const double ess : {60.0, 100.0, 119.0}) {
    const StageResult zero = flattened(ess, true, {0});
    EXPECT_GE(report_of(zero).ess, ess * (1 - 1e-12));
    EXPECT_GE(effective_sample_size(zero.next.weight), ess * (1 - 1e-12));
    for (const std::vector<double>& dust : {std::vector<double>{1e-13}, {0, 1e-13, 1e-300, 1e-9}, {1e-7, 0}})
      EXPECT_LT((flattened(ess, true, dust).next.weight - zero.next.weight).cwiseAbs().maxCoeff(), 1e-9) << ess;
    // Found as logarithms, small weights are as good as others.
    const StageResult small = flattened(ess, false, {1e-13});
    EXPECT_GE(effective_sample_size(small.next.weight), ess * (1 - 1e-12));
    EXPECT_GE(effective_sample_size(flattened(ess, false, {0}).next.weight), ess * (1 - 1e-12));
  }
  // Power 0 is equal weights of all rows; rows that were given none keep none.
  view.weight = Vector::Ones(120);
  view.weight[5] = 0;
  const StageResult equal = flattened(120, true, {0});
  EXPECT_LT(report_of(equal).exponent, 1e-6);
  EXPECT_LT((equal.next.weight - view.weight).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_EQ(equal.next.weight[5], 0);
  // Weights that are not flattened stay as estimated.
  EXPECT_EQ(flattened(2, true, {0}).next.weight[3], 0);
}

/// Every stage reaches the effective sample size that is asked for, whatever it thinks of single rows.
TEST(Weighting, EveryStageReachesTheEffectiveSampleSize) {
  const TrainView view = shifted(100, 100, 80, 2.5);
  for (const char* stage :
       {"weight.logistic", "weight.knn", "weight.knn zero=cap", "weight.gaussian", "weight.kde", "weight.kmm sigma=1",
        "weight.kliep sigma=0.5", "weight.ulsif sigma=0.5 lam=0.01", "weight.rulsif sigma=0.5 lam=0.01", "weight.tars"})
    for (const double ess : {100.0, 190.0, 200.0}) {
      const StageResult result = weighted(fmt::format("{} flatten={}", stage, ess), view);
      EXPECT_GE(effective_sample_size(result.next.weight), ess * (1 - 1e-9)) << stage;
      EXPECT_GE(report_of(result).ess, ess * (1 - 1e-9)) << stage;
    }
}

/// The order of the rows changes which weights a solver leaves at dust, and no flattened weight.
TEST(Weighting, KernelMeanMatchingDoesNotDependOnTheOrderOfRows) {
  const TrainView view = shifted(60, 60, 60, 1);
  std::vector<Index> order(180);
  for (Index i = 0; i < 180; ++i) order[at(i)] = i < 120 ? (i * 77) % 120 : i;
  TrainView other = view;
  other.x = view.x.take(order);
  other.domain = view.domain.take(order);
  for (std::size_t i = 0; i < 120; ++i) other.y.index[i] = view.y.index[at(order[i])];
  const std::string stage = "weight.kmm sigma=1 flatten=100";
  const Vector first = weighted(stage, view).next.weight, second = weighted(stage, other).next.weight;
  for (Index i = 0; i < 120; ++i) EXPECT_NEAR(second[i], first[order[at(i)]], 1e-9) << i;
}

TEST(Weighting, ClipCutsAtAMultipleOfTheMean) {
  const TrainView view = shifted(300, 300, 300, 2);
  const Vector raw = weighted("weight.logistic flatten=none", view).next.weight;
  const Vector cut = weighted("weight.logistic flatten=none clip=3", view).next.weight;
  ASSERT_GT(raw.maxCoeff(), 3);
  // Divided by their mean again after the cut.
  const Vector expected = raw.cwiseMin(3.0) / raw.cwiseMin(3.0).mean();
  EXPECT_LT((cut - expected).cwiseAbs().maxCoeff(), 1e-12);
  for (const std::string& stage : stages) {
    for (const char* options : {" clip=2", " clip=2 flatten=400", " clip=2 per_source=true"}) {
      EXPECT_NEAR(weighted(stage + options, view).next.weight.mean(), 1, 1e-12) << stage << options;
    }
  }
}

TEST(Weighting, WithoutNormalisingTheMeanIsTheEstimated) {
  const TrainView view = shifted(300, 300, 200, 1);
  const Vector normal = weighted("weight.logistic flatten=none", view).next.weight;
  const Vector raw = weighted("weight.logistic flatten=none normalise=false", view).next.weight;
  const double factor = raw[0] / normal[0];
  EXPECT_GT(std::abs(factor - 1), 1e-3);
  EXPECT_LT((raw - factor * normal).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(Weighting, GivenWeightsAndFormerStagesMultiply) {
  TrainView view = shifted(200, 200, 300, 1);
  const Vector alone = weighted("weight.logistic", view).next.weight;
  view.weight = Vector::LinSpaced(400, 0, 4);
  const StageResult once = weighted("weight.logistic", view);
  EXPECT_TRUE(once.next.weight == Vector(alone.array() * view.weight.array()));
  const StageResult twice = weighted("weight.logistic", once.next);
  EXPECT_TRUE(twice.next.weight == Vector(alone.array() * once.next.weight.array()));
}

/// The report is of what the learner gets, and a tenth of the rows with a weight is worth a tenth at most.
TEST(Weighting, ReportsTheProductWithGivenWeights) {
  TrainView view = shifted(300, 300, 300, 0.3);
  const WeightReport alone = report_of(weighted("weight.logistic", view));
  for (const double scale : {1.0, 1e-200, 1e200}) {
    view.weight = Vector::Zero(600);
    for (Index i = 0; i < 600; i += 10) view.weight[i] = scale;
    for (const char* text : {"weight.logistic", "weight.logistic per_source=true"}) {
      const StageResult result = weighted(text, view);
      const Vector product = result.next.weight / scale;
      EXPECT_NEAR(report_of(result).ess, effective_sample_size(product), 1e-9) << text << scale;
      EXPECT_LE(report_of(result).ess, 60) << text;
      EXPECT_DOUBLE_EQ(report_of(result).ess_raw.value(), report_of(result).ess) << text;
      EXPECT_NEAR(report_of(result).largest_share, product.maxCoeff() / product.sum(), 1e-12) << text;
      EXPECT_EQ(report_of(result).exponent, 1) << text;
    }
  }
  EXPECT_GT(alone.ess, 300);
  // A domain all of whose rows have no weight is worth nothing; without any weight there is nothing to learn from.
  view.weight = Vector::Ones(600);
  view.weight.tail(300).setZero();
  const StageResult half = weighted("weight.logistic per_source=true", view);
  EXPECT_EQ(dynamic_cast<const Weighting&>(*half.fitted).sources()[1].report.ess, 0);
  EXPECT_EQ(code_of([&] { Weighting::load(half.fitted->save()); }), "none");
  view.weight.setZero();
  EXPECT_EQ(code_of([&] { weighted("weight.logistic", view); }), "zero_weights");
}

/// One row cannot be held out: there is no AUROC, and the model file says so.
TEST(Weighting, OneTargetRowHasNoAurocAndIsWarnedOf) {
  const TrainView view = shifted(60, 60, 1, 1);
  for (const std::string stage : {"weight.logistic", "weight.knn"}) {
    for (const char* options : {"", " per_source=true"}) {
      Recorder recorder;
      const StageResult result = weighted(stage + options, view, context().observed_by(&recorder));
      EXPECT_FALSE(report_of(result).auroc) << stage;
      const StageState state = result.fitted->save();
      EXPECT_TRUE(state.info["auroc"].is_null()) << stage;
      EXPECT_EQ(Weighting::load(state)->save().info, state.info) << stage;
      ASSERT_FALSE(recorder.warnings.empty()) << stage;
      EXPECT_EQ(recorder.warnings[0].first, "few_target_rows") << stage;
      EXPECT_EQ(
          recorder.warnings[0].second,
          stage + ": the target has 1 row, fewer than the 3 that 2 columns need; the weights rest on too few points");
    }
  }
  Recorder enough;
  weighted("weight.logistic flatten=none", shifted(600, 600, 3, 0), context().observed_by(&enough));
  for (const auto& warning : enough.warnings) EXPECT_NE(warning.first, "few_target_rows");
}

TEST(Weighting, PerSourceKeepsTheSharesOfDomains) {
  const TrainView view = shifted(300, 100, 300, 1.5);
  for (const std::string& stage : stages) {
    const StageResult result = weighted(stage + " per_source=true", view);
    const Vector& weight = result.next.weight;
    EXPECT_NEAR(weight.head(300).sum(), 300, 1e-9) << stage;
    EXPECT_NEAR(weight.tail(100).sum(), 100, 1e-9) << stage;
    const auto& fitted = dynamic_cast<const Weighting&>(*result.fitted);
    ASSERT_EQ(fitted.sources().size(), 2U);
    EXPECT_EQ(fitted.sources()[1].domain, "b");
    EXPECT_EQ(fitted.sources()[1].report.rows, 100);
    EXPECT_GE(fitted.all().ess, 60 - 1e-6) << stage;
    // Pooled weights need not keep them: domain b differs from the target in its second column, too.
    EXPECT_GT(std::abs(weighted(stage, view).next.weight.tail(100).sum() - 100), 1) << stage;
  }
}

TEST(Weighting, WarnsOfFewEffectiveRows) {
  const auto said = [](const std::string& text, const TrainView& view) {
    Recorder recorder;
    weighted(text, view, context().observed_by(&recorder));
    return recorder.warnings;
  };
  EXPECT_TRUE(said("weight.logistic", shifted(300, 300, 600, 0.3)).empty());
  const TrainView far = shifted(300, 300, 300, 4);
  const auto flattened = said("weight.logistic", far);
  ASSERT_EQ(flattened.size(), 1U);
  EXPECT_EQ(flattened[0].first, "low_effective_sample");
  EXPECT_NE(flattened[0].second.find("of 600 rows"), std::string::npos) << flattened[0].second;
  EXPECT_NE(flattened[0].second.find("power 0."), std::string::npos) << flattened[0].second;
  const auto raw = said("weight.logistic flatten=none", far);
  ASSERT_EQ(raw.size(), 1U);
  EXPECT_NE(raw[0].second.find("not flattened"), std::string::npos) << raw[0].second;
  const auto few = said("weight.logistic", shifted(10, 10, 20, 1));
  ASSERT_EQ(few.size(), 1U);
  EXPECT_EQ(few[0].second,
            "weight.logistic: 20 rows are fewer than the 60 that flatten=auto asks for, so no weights are applied");
  EXPECT_EQ(said("weight.knn flatten=25 per_source=true", shifted(10, 10, 20, 0))[0].second,
            "weight.knn: 20 rows are fewer than the 25 that flatten=25 asks for, so no weights are applied");
}

TEST(Weighting, KnowsBeforeAnyWorkThatNothingCanBeWeighted) {
  TrainView view = shifted(30, 20, 40, 1);
  const Weigher weigher{.who = "weight.test", .log_ratio = [](const Features&, Index) -> Vector {
                          ADD_FAILURE() << "a ratio was estimated for nothing";
                          return {};
                        }};
  for (const bool per_source : {false, true}) {
    WeightOptions options;
    options.per_source = per_source;
    const StageResult result = weigh(view, weigher, options, context());
    const WeightReport report = report_of(result);
    EXPECT_EQ(report.exponent, 0);
    EXPECT_EQ(report.ess, 50);
    EXPECT_FALSE(report.ess_raw || report.auroc);
    EXPECT_EQ(result.next.weight, Vector::Ones(50));
    const StageState state = result.fitted->save();
    EXPECT_TRUE(state.info.at("ess_raw").is_null());
    EXPECT_EQ(Weighting::load(state)->save().info, state.info);
    EXPECT_EQ(state.info.contains("sources"), per_source);
  }
  view.weight = Vector::LinSpaced(50, 1, 3);
  EXPECT_EQ(weigh(view, weigher, {}, context()).next.weight, view.weight);
}

TEST(Weighting, GaussianWeightsThatLeaveAFewRowsAreNotApplied) {
  const TrainView far = shifted(300, 300, 300, 6);
  Recorder recorder;
  const StageResult result = weighted("weight.gaussian", far, context().observed_by(&recorder));
  EXPECT_EQ(result.next.weight, Vector::Ones(600));
  EXPECT_EQ(report_of(result).exponent, 0);
  EXPECT_LT(report_of(result).ess_raw.value(), 5);
  ASSERT_EQ(recorder.warnings.size(), 1U);
  EXPECT_EQ(recorder.warnings[0].first, "low_effective_sample");
  EXPECT_NE(recorder.warnings[0].second.find("so no weights are applied (flatten=none applies them)"),
            std::string::npos);
  // Who asks for raw weights gets them.
  EXPECT_LT(effective_sample_size(weighted("weight.gaussian flatten=none", far).next.weight), 5);
  Recorder by_source;
  const StageResult each = weighted("weight.gaussian per_source=true", far, context().observed_by(&by_source));
  EXPECT_EQ(each.next.weight, Vector::Ones(600));
  ASSERT_EQ(by_source.warnings.size(), 1U);
  EXPECT_NE(by_source.warnings[0].second.find("the domains 'a', 'b'"), std::string::npos);
  // As estimated they would be multiplied by the mean of a ratio that was rejected.
  EXPECT_EQ(weighted("weight.gaussian normalise=false", far).next.weight, Vector::Ones(600));
}

TEST(Weighting, SaysWhatIsMissing) {
  TrainView view = shifted(20, 20, 0, 0);
  view.domain.names.pop_back();
  view.role.pop_back();
  for (const std::string& stage : stages) {
    const auto fit = [&] { fitted(stage + " | logistic l2=0.1", view); };
    EXPECT_EQ(code_of(fit), "no_target");
    EXPECT_EQ(message_of(fit),
              stage + ": no target domain; name one with --target (fit) or use --protocol adapt (evaluate)");
  }
}

TEST(Weighting, RefusesFeaturesThatWeightsCannotBeEstimatedFrom) {
  const TrainView view = shifted(30, 30, 40, 1);
  TrainView large = view;
  large.x = Features::dense(1e200 * view.x.to_matrix());
  for (const char* text : {"weight.logistic squares=true", "weight.knn", "weight.gaussian"}) {
    EXPECT_EQ(code_of([&] { weighted(text, large); }), "non_finite") << text;
  }
  // cap: no target row is among the neighbours of any source row
  EXPECT_EQ(code_of([&] { weighted("weight.knn k=3 zero=cap", shifted(30, 30, 40, 100)); }), "zero_weights");
}

TEST(Weighting, WorksWithWhatFollows) {
  const TrainView view = shifted(150, 150, 200, 1);
  for (const std::string& stage : stages) {
    for (const char* learner :
         {"logistic l2=auto", "logistic l2=0.1 | calibrate", "least_squares l2=0.1", "constant"}) {
      TrainView suited = view;
      if (std::string(learner).starts_with("least")) {
        suited.y = {Task::regress, {}, {}, Vector::LinSpaced(300, 0, 1)};
      }
      const Model model = fitted(stage + " | " + learner, suited);
      EXPECT_EQ(reloaded(model).inspect(), model.inspect()) << stage << learner;
      EXPECT_EQ(model.inspect()["stages"][0]["rows"], 300);
    }
    const Model three = fitted(stage + " | logistic l2=0.1 multiclass=ovo", overlapping(200, 3, 3, 2, 60));
    EXPECT_EQ(three.classes().size(), 3U);
  }
}

TEST(Weighting, RefusesBrokenModels) {
  const TrainView view = shifted(150, 150, 200, 1);
  const StageState state = weighted("weight.logistic per_source=true", view).fitted->save();
  EXPECT_EQ(code_of([&] { Weighting::load(state); }), "none");
  const auto with = [&](const char* name, Json value) {
    StageState broken = state;
    broken.info[name] = std::move(value);
    return code_of([&] { Weighting::load(broken); });
  };
  EXPECT_EQ(with("exponent", 1.5), "bad_model");
  EXPECT_EQ(with("exponent", "x"), "bad_model");
  EXPECT_EQ(with("ess", 301), "bad_model");
  EXPECT_EQ(with("rows", -1), "bad_model");
  EXPECT_EQ(with("auroc", -0.1), "bad_model");
  EXPECT_EQ(with("auroc", nullptr), "none");
  EXPECT_EQ(with("auroc", "high"), "bad_model");
  EXPECT_EQ(with("ess", nullptr), "bad_model");
  EXPECT_EQ(with("sources", 3), "bad_model");
  EXPECT_EQ(with("sources", Json::array({1})), "bad_model");
  EXPECT_EQ(with("sources", Json::array({Json::object()})), "bad_model");
}

}  // namespace weighting_test
}  // namespace ecotone::test
