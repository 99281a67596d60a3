// align and subspace: the golden cases, saved and loaded, and what they do with targets and new domains.
#include "ecotone/methods/represent/align/align.h"

#include "ecotone/methods/represent/subspace/subspace_stage.h"
#include "golden_align.h"
#include "methods/support.h"

namespace ecotone::test {
namespace align_test {

/// A golden case as a view; rows of targets come last in all of them.
TrainView align_view(const Json& inputs, const Json& targets) {
  TrainView view;
  view.x = Features::dense(matrix_of(inputs.at("X")));
  view.y = no_labels();
  view.domain = domains_named(inputs.at("domain"));
  for (const std::string& name : view.domain.names) {
    const bool target = std::ranges::find(targets, Json(name)) != targets.end();
    view.role.push_back(target ? Role::target : Role::source);
  }
  return view;
}

AlignOptions options_of(const Json& params) {
  AlignOptions options;
  options.map = params.at("map") == "coral" ? LinearMapKind::coral : LinearMapKind::monge;
  options.to = params.at("to") == "target" ? AlignTo::target : AlignTo::barycentre;
  options.shrink_mean.value = auto_number(params.at("shrink_mean"));
  options.shrink_cov.value = auto_number(params.at("shrink_cov"));
  options.ridge = params.at("ridge");
  options.move_mean = params.value("move_mean", true);
  return options;
}

void expect_case(const std::string& name) {
  const Json inputs = golden_file("align", name).at("inputs");
  for (const Json& each : align_tasks(name, "align")) {
    AlignTask task(each);
    const TrainView view = align_view(inputs, task.params().value("targets", inputs.at("target")));
    const AlignOptions options = options_of(task.params());
    const StageResult fit = Align::fit("align", view, options, context());
    EXPECT_TRUE(fit.status.converged) << fit.status.text;
    const auto& found = dynamic_cast<const Align&>(*fit.fitted);
    task.expect("reference_mean", found.parts().reference_mean);
    task.expect("reference_cov", found.parts().reference);
    if (task.expects("A")) {
      for (Index e = 0; e < std::ssize(found.parts().names); ++e) {
        const Json& maps = task.wanted("A");
        const std::string& domain = found.parts().names[at(e)];
        if (maps.contains(domain)) task.compare("A", found.parts().shifts[at(e)].map, matrix_of(maps.at(domain)));
      }
    }
    task.expect("Z", fit.next.x.to_matrix());
    const Batch fresh{Features::dense(matrix_of(inputs.at("new"))), domains_named(inputs.at("new_domain"))};
    if (task.expects("new")) {
      const auto loaded = Align::load("align", found.save(), options, {view.x.cols(), Task::regress, {}});
      task.expect("new", found.transform(fresh, context()).to_matrix());
      task.expect("new", loaded->transform(fresh, context()).to_matrix());
    }
  }
}

TEST(Align, GoldenLinearMaps) { expect_case("03_linear_maps"); }

TEST(Align, GoldenSingularCovariances) { expect_case("04_singular"); }

TEST(Align, GivesTheTargetsMoments) {
  const TrainView view = overlapping(200, 3, 2, 2, 100);
  for (const LinearMapKind map : {LinearMapKind::coral, LinearMapKind::monge}) {
    AlignOptions options;
    options.map = map;
    options.shrink_mean.value = options.shrink_cov.value = 0;
    options.ridge = 0;
    const StageResult fit = Align::fit("align", view, options, context());
    const std::vector<GroupMoments> after =
        group_moments(fit.next.x, view.domain.index, 3, {}, ScatterKind::full, "test", context());
    for (std::size_t e = 0; e < 2; ++e) {
      EXPECT_LT((after[e].mean - after[2].mean).norm(), 1e-10);
      EXPECT_LT((after[e].scatter / (after[e].count - 1) - after[2].scatter / (after[2].count - 1)).norm(), 1e-10);
    }
    EXPECT_TRUE(same_bytes(fit.next.x.to_matrix().bottomRows(100), view.x.to_matrix().bottomRows(100)));
  }
}

TEST(Align, WithoutSamplesARowIsAnsweredAlone) {
  const TrainView view = overlapping(90, 3, 2, 3, 30);
  for (const AlignTo to : {AlignTo::target, AlignTo::barycentre}) {
    AlignOptions options;
    options.to = to;
    options.fresh = NewDomain::pooled;
    const StageResult fit = Align::fit("align", view, options, context());
    EXPECT_FALSE(fit.fitted->needs_domain_sample());
    const Features x = overlapping(40, 3, 2, 1).x;
    const Matrix all = fit.fitted->transform({x, std::nullopt}, context()).to_matrix();
    const Matrix one = fit.fitted->transform({x.take(std::vector<Index>{7}), std::nullopt}, context()).to_matrix();
    EXPECT_TRUE(same_bytes(one, Matrix(all.row(7))));
    EXPECT_EQ(same_bytes(all, x.to_matrix()), to == AlignTo::target);
  }
}

TEST(Align, NeedsATargetToMapToOne) {
  AlignOptions options;
  options.to = AlignTo::target;
  EXPECT_EQ(code_of([&] { Align::fit("coral", overlapping(60, 3, 2, 2), options, context()); }), "no_target");
}

TEST(Align, PooledSourcesHaveOneMap) {
  AlignOptions options;
  options.pool_sources = true;
  const StageResult fit = Align::fit("align", overlapping(90, 3, 2, 3, 30), options, context());
  const auto& parts = dynamic_cast<const Align&>(*fit.fitted).parts();
  EXPECT_TRUE(same_bytes(parts.shifts[0].map, parts.shifts[2].map));
}

/// inspect lists how far each domain is from what all share; without shrinkage this follows from plain moments.
TEST(Align, ListsWhatItFoundOfEachDomain) {
  const TrainView view = overlapping(90, 3, 2, 3, 40);
  const Model model = fitted("align shrink_mean=0 | logistic l2=1", view);
  const Json samples = model.inspect().at("stages")[0].at("samples");
  ASSERT_EQ(samples.size(), 4U);
  EXPECT_EQ(samples[3].at("domain"), "target");
  EXPECT_EQ(samples[3].at("rows"), 40);
  const std::vector<GroupMoments> groups =
      group_moments(view.x, view.domain.index, 4, {}, ScatterKind::full, "test", context());
  const MomentPrior prior = moment_prior(groups, "test");
  for (std::size_t e = 0; e < 4; ++e) {
    const Vector apart = (groups[e].mean - prior.mean).cwiseAbs().cwiseQuotient(prior.variance.cwiseSqrt());
    EXPECT_NEAR(samples[e].at("moved").get<double>(), apart.mean(), 1e-12);
    EXPECT_GT(samples[e].at("spread").get<double>(), 0.5);
  }
  EXPECT_EQ(reloaded(model).inspect().at("stages")[0].at("samples"), samples);
}

TEST(Align, RefusesBrokenModels) {
  const AlignOptions options;
  const StageResult fit = Align::fit("align", overlapping(60, 3, 2, 2, 20), options, context());
  const StageInput input{3, Task::classify, {}};
  const auto load = [&](const StageState& state) { Align::load("align", state, options, input); };
  const StageState good = fit.fitted->save();
  EXPECT_NO_THROW(load(good));
  StageState bad = good;
  bad.info["to"] = "nowhere";
  EXPECT_EQ(code_of([&] { load(bad); }), "bad_model");
  bad = good;
  bad.set("maps", Matrix(Matrix::Zero(3, 3)));
  EXPECT_EQ(code_of([&] { load(bad); }), "bad_model");
  bad = good;
  bad.set("kappa", Vector(Vector::Constant(3, -1)));
  EXPECT_EQ(code_of([&] { load(bad); }), "bad_model");
}

TEST(Subspace, Golden) {
  const Json inputs = golden_file("align", "05_subspace").at("inputs");
  const Matrix xs = matrix_of(inputs.at("Xs")), xt = matrix_of(inputs.at("Xt"));
  Matrix both(xs.rows() + xt.rows(), xs.cols());
  both << xs, xt;
  TrainView view;
  view.x = Features::dense(both);
  view.y = no_labels();
  view.domain = domains_named(inputs.at("source_domain"));
  view.role.assign(view.domain.names.size(), Role::source);
  for (Index i = 0; i < xt.rows(); ++i)
    view.domain.index.push_back(static_cast<std::int32_t>(view.domain.names.size()));
  view.domain.names.emplace_back("target");
  view.role.push_back(Role::target);
  FitCache cache;
  for (const Json& each : align_tasks("05_subspace", "subspace_align")) {
    AlignTask task(each);
    SubspaceOptions options;
    options.components.value = task.params().at("m").get<double>();
    const StageResult fit = Subspace::fit(view, options, context(), cache);
    const auto& found = dynamic_cast<const Subspace&>(*fit.fitted);
    task.expect("basis", found.parts().target.vectors);
    task.expect("variance", found.parts().target.variance);
    task.expect("source", Matrix(fit.next.x.to_matrix().topRows(xs.rows())));
    task.expect("target", Matrix(fit.next.x.to_matrix().bottomRows(xt.rows())));
    options.pool_sources = true;
    const StageResult pooled = Subspace::fit(view, options, context(), cache);
    task.expect("source_pooled", Matrix(pooled.next.x.to_matrix().topRows(xs.rows())));
    const auto loaded = Subspace::load(pooled.fitted->save(), options, {xs.cols(), Task::regress, {}});
    task.expect("source_pooled",
                Matrix(loaded->transform({view.x, view.domain}, context()).to_matrix().topRows(xs.rows())));
  }
}

TEST(Subspace, ATargetWithoutDirectionsIsReplacedByAllDomains) {
  FitCache cache;
  TrainView flat = overlapping(90, 4, 2, 3, 6);
  Matrix x = flat.x.to_matrix();
  x.bottomRows(6).setConstant(0.1);
  flat.x = Features::dense(x);
  for (const TrainView& view : {overlapping(90, 4, 2, 3, 1), flat}) {
    Recorder recorder;
    const StageResult fit = Subspace::fit(view, {}, context().observed_by(&recorder), cache);
    ASSERT_FALSE(recorder.warnings.empty());
    EXPECT_EQ(recorder.warnings[0].first, "few_target_rows");
    EXPECT_TRUE(fit.status.converged) << fit.status.text;
    const auto& parts = dynamic_cast<const Subspace&>(*fit.fitted).parts();
    const PrincipalBasis within = principal_basis(parts.prior.within, context());
    EXPECT_GT(parts.target.vectors.cols(), 1);
    EXPECT_TRUE(same_bytes(parts.target.vectors, within.vectors.leftCols(parts.target.vectors.cols())));
    EXPECT_TRUE(fit.next.x.to_matrix().allFinite());
  }
  Recorder recorder;
  Subspace::fit(overlapping(90, 4, 2, 3, 30), {}, context().observed_by(&recorder), cache);
  for (const auto& each : recorder.warnings) EXPECT_NE(each.first, "few_target_rows");
}

/// A source domain of two rows takes the target's directions and leaves all others as many as the target has.
TEST(Subspace, ASmallSourceDomainDoesNotTakeDirectionsFromOthers) {
  FitCache cache;
  TrainView view = overlapping(92, 4, 2, 3, 30);
  const Index before = dynamic_cast<const Subspace&>(*Subspace::fit(view, {}, context(), cache).fitted).directions();
  view.domain.names.emplace_back("small");
  view.role.push_back(Role::source);
  view.domain.index[90] = view.domain.index[91] = 4;
  Recorder recorder;
  const StageResult fit = Subspace::fit(view, {}, context().observed_by(&recorder), cache);
  const auto& found = dynamic_cast<const Subspace&>(*fit.fitted);
  EXPECT_GT(before, 1);
  EXPECT_EQ(found.directions(), before);
  EXPECT_TRUE(same_bytes(found.parts().shifts[4].map, found.parts().target.vectors));
  EXPECT_FALSE(same_bytes(found.parts().shifts[0].map, found.parts().target.vectors));
  ASSERT_EQ(recorder.warnings.size(), 1U);
  EXPECT_EQ(recorder.warnings[0].first, "few_domain_rows");
  EXPECT_NE(recorder.warnings[0].second.find("'small' has 2"), std::string::npos) << recorder.warnings[0].second;
}

TEST(Subspace, HasFewerDirectionsThanTheTargetHasRows) {
  FitCache cache;
  const auto directions_with = [&](Index target_rows) {
    const StageResult fit = Subspace::fit(overlapping(90, 6, 2, 3, target_rows), {}, context(), cache);
    return dynamic_cast<const Subspace&>(*fit.fitted).directions();
  };
  EXPECT_EQ(directions_with(2), 1);
  EXPECT_LE(directions_with(4), 3);
  EXPECT_GT(directions_with(0), 3);
}

TEST(Subspace, DirectionsWithoutVarianceAreArbitrary) {
  const PrincipalBasis none{Matrix::Identity(3, 3), Vector::Zero(3)};
  EXPECT_TRUE(gap_closed(none, 1));
  const PrincipalBasis one{Matrix::Identity(3, 3), Vector::Unit(3, 0)};
  EXPECT_FALSE(gap_closed(one, 1));
  EXPECT_TRUE(gap_closed(one, 2));
}

TEST(Subspace, AnswersOneRowOfANewDomainAndOtherwiseItsOwnBasis) {
  const TrainView view = overlapping(90, 4, 2, 3, 30);
  SubspaceOptions options;
  options.components.value = 2;
  FitCache cache;
  const StageResult fit = Subspace::fit(view, options, context(), cache);
  const Features x = overlapping(40, 4, 2, 1).x;
  const Matrix one = fit.fitted->transform({x.head(1), std::nullopt}, context()).to_matrix();
  EXPECT_TRUE(one.allFinite());
  EXPECT_EQ(one.cols(), 2);
  const Matrix all = fit.fitted->transform({x, std::nullopt}, context()).to_matrix();
  EXPECT_LT(all.colwise().mean().norm(), 1e-10);
  options.components.value = 5;
  EXPECT_EQ(code_of([&] { Subspace::fit(view, options, context(), cache); }), "bad_option");
}

TEST(Align, EqualBytesForAnyNumberOfThreads) {
  TrainView view = overlapping(3000, 5, 2, 4, 700);
  view.weight = Vector::LinSpaced(view.labelled(), 0, 3);
  FitCache cache;
  const StageResult one = Align::fit("align", view, {}, context(1)), many = Align::fit("align", view, {}, context(7));
  EXPECT_TRUE(same_bytes(one.next.x.to_matrix(), many.next.x.to_matrix()));
  EXPECT_TRUE(same_bytes(Subspace::fit(view, {}, context(1), cache).next.x.to_matrix(),
                         Subspace::fit(view, {}, context(7), cache).next.x.to_matrix()));
}

}  // namespace align_test
}  // namespace ecotone::test
