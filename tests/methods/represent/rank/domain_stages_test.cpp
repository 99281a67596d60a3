// scale by=domain and rank: the golden cases through pipelines, new domains, and model files.
#include "ecotone/methods/registry.h"
#include "golden_align.h"
#include "methods/support.h"

namespace ecotone::test {
namespace domain_stages_test {

struct Case {
  Json inputs;
  TrainView view;
  Batch fresh;

  explicit Case(const std::string& name) : inputs(golden_file("align", name).at("inputs")) {
    view.x = Features::dense(matrix_of(inputs.at("X")));
    view.y = no_labels();
    view.domain = domains_named(inputs.at("domain"));
    view.role.assign(view.domain.names.size(), Role::source);
    fresh = {Features::dense(matrix_of(inputs.at("new"))), domains_named(inputs.at("new_domain"))};
  }
};

TEST(ScaleByDomain, Golden) {
  const Case in("01_scale_domain");
  for (const Json& each : align_tasks("01_scale_domain", "scale_by_domain")) {
    AlignTask task(each);
    const Json& params = task.params();
    const Model model = fitted(fmt::format("scale by=domain shrink_mean={} shrink_sd={}",
                                           option_of(params.at("shrink_mean")), option_of(params.at("shrink_sd"))),
                               in.view);
    task.expect("Z", model.transform({in.view.x, in.view.domain}, context()).to_matrix());
    task.expect("new", model.transform(in.fresh, context()).to_matrix());
    task.expect("new", reloaded(model).transform(in.fresh, context()).to_matrix());
  }
}

TEST(ScaleByDomain, AColumnOfOneValueInEveryDomainBecomesZeroAndIsNamed) {
  TrainView view = overlapping(90, 2, 2, 3);
  Matrix x = view.x.to_matrix();
  for (Index i = 0; i < 90; ++i) x(i, 1) = std::vector<double>{0.1, 0.3, 0.7}[at(view.domain.index[at(i)])];
  view.x = Features::dense(x, {"age", "site"});
  Recorder recorder;
  const Model model = fitted("scale by=domain", view, context().observed_by(&recorder));
  ASSERT_FALSE(recorder.warnings.empty());
  EXPECT_EQ(recorder.warnings[0].first, "constant_in_domains");
  EXPECT_NE(recorder.warnings[0].second.find("'site'"), std::string::npos) << recorder.warnings[0].second;
  const Matrix z = model.transform({view.x, view.domain}, context()).to_matrix();
  EXPECT_EQ(z.col(1).cwiseAbs().maxCoeff(), 0);
}

TEST(RankByDomain, Golden) {
  const Case in("02_rank_domain");
  for (const Json& each : align_tasks("02_rank_domain", "rank_by_domain")) {
    AlignTask task(each);
    const Json& params = task.params();
    const Model model =
        fitted(fmt::format("rank shrink={} output={}", option_of(params.at("shrink")), option_of(params.at("output"))),
               in.view);
    task.expect("Z", model.transform({in.view.x, in.view.domain}, context()).to_matrix());
    task.expect("new", model.transform(in.fresh, context()).to_matrix());
    task.expect("new", reloaded(model).transform(in.fresh, context()).to_matrix());
  }
}

/// Rows of weight 0 are as good as absent; the size of other weights does not matter.
TEST(RankByDomain, LeavesRowsWithoutWeightOut) {
  TrainView view = overlapping(60, 2, 2, 2, 20);
  std::vector<Index> kept;
  view.weight = Vector::Constant(60, 0.5);
  for (Index i = 0; i < 60; ++i) {
    if (i % 5 == 0)
      view.weight[i] = 0;
    else
      kept.push_back(i);
  }
  TrainView without = view;
  for (Index i = 60; i < 80; ++i) kept.push_back(i);
  without.x = view.x.take(kept);
  without.domain = view.domain.take(kept);
  without.y.index.clear();
  for (const Index i : kept)
    if (i < 60) without.y.index.push_back(view.y.index[at(i)]);
  without.weight = Vector::Ones(std::ssize(without.y.index));
  const Batch all{view.x, view.domain};
  EXPECT_TRUE(same_bytes(fitted("rank", view).transform(all, context()).to_matrix(),
                         fitted("rank", without).transform(all, context()).to_matrix()));
  TrainView none = overlapping(60, 2, 2, 2);
  none.weight = Vector::Zero(60);
  EXPECT_EQ(code_of([&] { fitted("rank", none); }), "zero_weights");
}

TEST(RankByAll, WarnsOfOptionsOfDomains) {
  const TrainView view = overlapping(40, 2, 2, 2);
  for (const char* text : {"rank by=all shrink=2", "rank by=all new=pooled"}) {
    Recorder recorder;
    fitted(text, view, context().observed_by(&recorder));
    ASSERT_EQ(recorder.warnings.size(), 1U) << text;
    EXPECT_EQ(recorder.warnings[0].first, "unused_option") << text;
  }
  for (const char* text : {"rank by=all output=uniform", "rank shrink=2 new=pooled"}) {
    Recorder recorder;
    fitted(text, view, context().observed_by(&recorder));
    EXPECT_TRUE(recorder.warnings.empty()) << text;
  }
}

/// A domain of training keeps its statistics: one of its rows is answered the same alone and among others.
TEST(DomainStages, OfKnownDomainsAnswerARowAlone) {
  const TrainView view = overlapping(90, 3, 2, 3, 20);
  for (const char* text : {"scale by=domain", "rank", "scale by=domain centre=pooled shrink_sd=0"}) {
    const Model model = fitted(text, view);
    const Matrix all = model.transform({view.x, view.domain}, context()).to_matrix();
    for (const Index row : {0, 17, 89, 100}) {
      const std::vector<Index> one = {row};
      const Matrix alone = model.transform({view.x.take(one), view.domain.take(one)}, context()).to_matrix();
      EXPECT_TRUE(same_bytes(alone, Matrix(all.row(row)))) << text;
    }
  }
}

TEST(DomainStages, PooledNeedNoSample) {
  const TrainView view = overlapping(90, 3, 2, 3);
  for (const char* text : {"scale by=domain new=pooled", "rank new=pooled", "rank by=all"}) {
    const Model model = fitted(text, view);
    EXPECT_FALSE(model.needs_domain_sample()) << text;
    const Features x = overlapping(40, 3, 2, 1).x;
    const Matrix all = model.transform({x, std::nullopt}, context()).to_matrix();
    const Matrix one = model.transform({x.take(std::vector<Index>{7}), std::nullopt}, context()).to_matrix();
    EXPECT_TRUE(same_bytes(one, Matrix(all.row(7)))) << text;
  }
  EXPECT_TRUE(fitted("scale by=domain", view).needs_domain_sample());
  EXPECT_TRUE(fitted("rank", view).needs_domain_sample());
}

TEST(DomainStages, EqualBytesForAnyNumberOfThreads) {
  TrainView view = overlapping(4000, 5, 2, 4, 700);
  view.weight = Vector::LinSpaced(view.labelled(), 0, 3);
  for (const char* text : {"scale by=domain", "rank", "scale by=domain | logistic l2=0.1"}) {
    const Model one = fitted(text, view, context(1));
    const Model many = fitted(text, view, context(7));
    EXPECT_TRUE(one.bytes() == many.bytes()) << text;
    const Batch fresh{view.x, std::nullopt};
    EXPECT_TRUE(same_bytes(one.transform(fresh, context(1)).to_matrix(), many.transform(fresh, context(7)).to_matrix()))
        << text;
    EXPECT_TRUE(reloaded(one).bytes() == one.bytes()) << text;
  }
}

TEST(DomainStages, RefuseWhatIsMissingAndTellOfClassShares) {
  TrainView view = overlapping(60, 3, 2, 2);
  for (std::size_t i = 0; i < 60; ++i) view.domain.index[i] = view.y.index[i] == 0 || i % 20 == 1 ? 0 : 1;
  Recorder recorder;
  fitted("scale by=domain", view, context().observed_by(&recorder));
  ASSERT_FALSE(recorder.warnings.empty());
  EXPECT_EQ(recorder.warnings[0].first, "class_shares_differ");
  Matrix x = view.x.to_matrix();
  x(5, 1) = nan;
  view.x = Features::dense(x);
  for (const char* text : {"scale by=domain", "rank"})
    EXPECT_EQ(code_of([&] { fitted(text, view); }), "non_finite") << text;
}

TEST(DomainStages, RefuseBrokenModels) {
  const TrainView view = overlapping(60, 3, 2, 2);
  for (const char* text : {"scale by=domain", "rank"}) {
    const Method& tested = method(std::string(text).substr(0, std::string(text).find(' ')));
    const Pipeline pipeline = Pipeline::parse(text);
    const StageResult fit = tested.fit(view, pipeline.stages()[0].options, context(), *std::make_unique<FitCache>());
    const StageState good = fit.fitted->save();
    const StageInput input{3, Task::classify, {}};
    const auto load = [&](const StageState& state) { tested.load(state, pipeline.stages()[0].options, input); };
    EXPECT_NO_THROW(load(good));
    StageState bad = good;
    bad.info["domains"] = {"a", "a"};
    EXPECT_EQ(code_of([&] { load(bad); }), "bad_model") << text;
    bad = good;
    bad.set("rows", Vector(Vector::Constant(2, -1)));
    EXPECT_EQ(code_of([&] { load(bad); }), "bad_model") << text;
    bad = good;
    bad.set("rows", Vector(Vector::Constant(3, 20)));
    EXPECT_EQ(code_of([&] { load(bad); }), "bad_model") << text;
  }
}

}  // namespace domain_stages_test
}  // namespace ecotone::test
