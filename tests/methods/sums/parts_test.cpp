#include "ecotone/methods/sums/parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <numeric>

#include "ecotone/methods/sums/sums_route.h"
#include "ecotone/solve/components/low_rank.h"
#include "methods/support.h"

namespace ecotone::test {
namespace parts_test {

/// Rows of four hospitals in three columns of numbers and one of text; labels are two classes or numbers.
Dataset hospitals(Task task = Task::classify, Index rows = 240) {
  Random random(5, "hospitals");
  Matrix x = Matrix::Zero(rows, 5);
  Dataset data;
  data.schema.columns = {{.name = "age", .levels = {}},
                         {.name = "dose", .levels = {}},
                         {.name = "pulse", .levels = {}},
                         {.name = "ward", .kind = ColumnKind::categorical, .levels = {"a", "b"}}};
  Labels y{task, {}, {}, {}};
  if (task == Task::classify) y.classes = {"no", "yes"};
  y.value = Vector(task == Task::regress ? rows : 0);
  for (Index i = 0; i < rows; ++i) {
    const Index domain = i % 4;
    for (Index j = 0; j < 3; ++j)
      x(i, j) = 3.0 * static_cast<double>(j) + 0.3 * static_cast<double>(domain) + random.normal();
    x(i, random.uniform() < 0.4 ? 3 : 4) = 1;
    const double value = x(i, 0) - 0.5 * x(i, 1) + 0.4 * x(i, 3) + random.normal();
    if (task == Task::classify) {
      y.index.push_back(value > -1.2 ? 1 : 0);
    } else {
      y.value[i] = 20 + value;
    }
  }
  data.x = Features::dense(std::move(x), data.schema.feature_names());
  data.y = std::move(y);
  data.domain = dealt_domains(rows, 4);
  data.role.assign(4, Role::source);
  return data;
}

/// Some rows of the data as a site would read them: with its own classes and levels.
Dataset site(const Dataset& all, const std::vector<Index>& rows) {
  Dataset data = all;
  data.x = all.x.take(rows);
  data.y = all.y->take(rows);
  drop_unused_classes(*data.y);
  data.domain = all.domain.take(rows);
  set_targets(data, all.target_names());
  return data;
}

std::vector<Index> every(Index step, Index from, Index rows) {
  std::vector<Index> result;
  for (Index i = from; i < rows; i += step) result.push_back(i);
  return result;
}

Batch batch_of(const Dataset& data) { return {data.x, data.domain}; }

SumsPart part_of(const std::string& pipeline, const Dataset& data, const Model* behind = nullptr, int threads = 2) {
  return make_part(Pipeline::parse(pipeline), data, behind, {.min_rows = 1}, context(threads));
}

/// The model of the data dealt to three sites, each with rows of all domains.
Model finished(const std::string& pipeline, const Dataset& data, const Model* behind = nullptr) {
  std::vector<SumsPart> parts;
  for (Index s = 0; s < 3; ++s) {
    std::vector<Index> rows;
    for (Index i = 0; i < data.rows(); ++i)
      if ((i / 4) % 3 == s) rows.push_back(i);
    parts.push_back(part_of(pipeline, site(data, rows), behind));
  }
  return finish_parts(in_order(std::move(parts)), behind, context());
}

double largest_difference(const Model& a, const Model& b, const Dataset& data) {
  const Prediction p = a.predict(batch_of(data), context()), q = b.predict(batch_of(data), context());
  if (p.task == Task::regress) return (p.value - q.value).cwiseAbs().maxCoeff();
  return (p.probability - q.probability).cwiseAbs().maxCoeff();
}

TEST(Parts, FinishedIsWhatFitGivesOnAllRows) {
  const Dataset classes = hospitals(), numbers = hospitals(Task::regress);
  for (const std::string pipeline : {"ridge lam=0.1", "scale | ridge lam=0.1 domain_weights=pooled", "tgreedy steps=3",
                                     "scale | greedy steps=4 mode=stepwise", "scale | step size=2 lam=0.1",
                                     "scale | tgreedy steps=2 | ridge lam=0.3", "scale | ridge score=squared_error"}) {
    const Model fit = Model::fit(Pipeline::parse(pipeline), train_view(classes, context()), classes.schema, context());
    EXPECT_LT(largest_difference(finished(pipeline, classes), fit, classes), 1e-10) << pipeline;
  }
  for (const std::string pipeline : {"least_squares l2=0.01", "scale | least_squares l2=0.001 offset=true",
                                     "scale | ridge lam=0.1", "step size=2 lam=0.1", "scale | step"}) {
    const bool chooses = pipeline == "scale | step";  // behind scale it is chosen with scale refitted
    const Model fit = Model::fit(Pipeline::parse(pipeline), train_view(numbers, context()), numbers.schema, context());
    EXPECT_LT(largest_difference(finished(pipeline, numbers), fit, numbers), chooses ? 0.3 : 1e-10) << pipeline;
  }
}

/// What fit makes of all rows, some of them of targets without labels.
double from_fit(const std::string& pipeline, const Dataset& data) {
  const Model fit = Model::fit(Pipeline::parse(pipeline), train_view(data, context()), data.schema, context());
  return largest_difference(finished(pipeline, data), fit, data);
}

TEST(Parts, DomainsAreAlignedAsOnTheirRows) {
  const Dataset classes = hospitals(), numbers = hospitals(Task::regress);
  for (const std::string pipeline :
       {"scale by=domain | ridge lam=0.1", "scale by=domain centre=pooled shrink_sd=3 | ridge lam=0.1",
        "scale by=domain shrink_mean=0 shrink_sd=0 | ridge lam=0.1", "scale | barycentre ridge=0.001 | ridge lam=0.1",
        "align to=barycentre map=coral domain_weights=rows ridge=0.001 | ridge lam=0.1",
        "scale | align ridge=0.001 pool_sources=true | scale by=domain | ridge lam=0.1"}) {
    EXPECT_LT(from_fit(pipeline, classes), 1e-9) << pipeline;
    EXPECT_LT(from_fit(pipeline, numbers), 1e-8) << pipeline;
  }
}

TEST(Parts, DomainsAreAlignedToTargetsWithoutLabels) {
  Dataset classes = hospitals(), numbers = hospitals(Task::regress);
  for (const std::vector<std::string>& targets :
       {std::vector{classes.domain.names[1]}, std::vector{classes.domain.names[0], classes.domain.names[3]}}) {
    set_targets(classes, targets);
    set_targets(numbers, targets);
    for (const std::string pipeline :
         {"scale | coral ridge=0.001 | ridge lam=0.1", "scale | linot ridge=0.001 | ridge lam=0.1",
          "scale | align ridge=0.001 pool_sources=true move_mean=false | ridge lam=0.1",
          "scale by=domain | ridge lam=0.1", "scale | ridge lam=0.1"}) {
      EXPECT_LT(from_fit(pipeline, classes), 1e-9) << pipeline;
      EXPECT_LT(from_fit(pipeline, numbers), 1e-8) << pipeline;
    }
  }
}

TEST(Parts, ASiteMayHaveATargetAlone) {
  const Dataset data = hospitals(Task::regress);
  const std::string pipeline = "scale | coral ridge=0.001 | ridge lam=0.1", target = data.domain.names[2];
  Dataset known = site(data, every(4, 0, 240)), fresh = site(data, every(4, 2, 240));
  known.role.assign(1, Role::source);
  fresh.y.reset();
  set_targets(fresh, {target});
  const auto parts = in_order({part_of(pipeline, known), part_of(pipeline, fresh)});
  const Model model = finish_parts(parts, nullptr, context());
  EXPECT_EQ(model.domains(), (std::vector{data.domain.names[0], target}));
  Dataset both = site(data, [] {
    std::vector<Index> rows = every(4, 0, 240);
    for (const Index row : every(4, 2, 240)) rows.push_back(row);
    return rows;
  }());
  set_targets(both, {target});
  const Model fit = Model::fit(Pipeline::parse(pipeline), train_view(both, context()), both.schema, context());
  EXPECT_LT(largest_difference(model, fit, both), 1e-8);
  // Through a file, byte by byte the same model.
  const TensorFile file = TensorFile::parse(parts_tensors(parts).bytes(), "parts");
  EXPECT_EQ(finish_parts(in_order(parts_from(file)), nullptr, context()).bytes(), model.bytes());
  EXPECT_EQ(code_of([&] { finish_parts({part_of(pipeline, fresh)}, nullptr, context()); }), "no_labels");
  EXPECT_EQ(code_of([&] { finish_parts({part_of(pipeline, known)}, nullptr, context()); }), "no_target");
  // A domain is a target everywhere or nowhere.
  const Dataset labelled = site(data, every(4, 2, 240));
  EXPECT_EQ(code_of([&] {
              finish_parts(in_order({part_of(pipeline, labelled), part_of(pipeline, fresh)}), nullptr, context());
            }),
            "different_sums");
  EXPECT_EQ(code_of([&] { part_of("kpca route=low_rank map=fourier sigma=1 | ridge", fresh); }), "needs_rows");
}

TEST(Parts, ComponentsAreThoseOfTheirDrawnFeatures) {
  const Dataset data = hospitals();
  const std::string components = "dica route=low_rank map=fourier sigma=3 rank=60 components=3 lam=0.1";
  const Model model = finished(components + " | ridge lam=0.1", data);
  // One part of all rows gives the same, up to rounding.
  const Model whole = finish_parts({part_of(components + " | ridge lam=0.1", data)}, nullptr, context());
  EXPECT_LT(largest_difference(model, whole, data), 1e-9);
  EXPECT_EQ(model.training_rows(0), 0);
  const Json stage = model.inspect()["stages"][0];
  EXPECT_EQ(stage["map_rows"], 0);
  EXPECT_FALSE(stage.contains("residual"));
  EXPECT_EQ(stage["rows"], 240);
  // Training projections have mean 0 and mean square 1.
  const Matrix z =
      finish_parts({part_of(components, data)}, nullptr, context()).transform(batch_of(data), context()).to_matrix();
  EXPECT_LT(z.colwise().mean().cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LT(((z.array().square().colwise().mean()) - 1).abs().maxCoeff(), 1e-9);
  for (const std::string name : {"kpca", "udica", "coir"})
    EXPECT_LT(
        largest_difference(
            finished(name + components.substr(4) + " | ridge lam=0.1", data),
            finish_parts({part_of(name + components.substr(4) + " | ridge lam=0.1", data)}, nullptr, context()), data),
        1e-9)
        << name;
}

TEST(Parts, ComponentsAreThoseOfTheSumsOfTheRows) {
  // The same features of the rows, summed by the engine of route=low_rank.
  const Dataset classes = hospitals(), numbers = hospitals(Task::regress);
  const LowRankMap map = drawn_map({.kind = KernelKind::rbf, .sigma = 3}, Vector::Zero(5), 40, context());
  const auto wanted = [&](const Dataset& data, const LowRankOutputs& outputs) {
    const LowRankSums sums = gather_low_rank_sums({data.x, map, data.domain.index, 4, outputs}, context());
    return low_rank_components(sums, {.supervised = true, .weight = 1, .relative = true, .lam = 0.1, .components = 3},
                               1e-4, context());
  };
  const auto gamma = [&](const std::string& more, const Dataset& data) {
    const std::string pipeline = "dica route=low_rank map=fourier sigma=3 rank=40 components=3 lam=0.1" + more;
    return finish_parts({part_of(pipeline, data)}, nullptr, context()).state(0).vector("gamma", -1);
  };
  const LowRankComponents of_classes = wanted(classes, LowRankOutputs::of_classes(classes.y->index, 2));
  const Matrix y = numbers.y->value;
  const LowRankComponents of_numbers = wanted(numbers, LowRankOutputs::of_rows(y));
  const auto compare = [](const Vector& ours, const Vector& theirs) {
    ASSERT_EQ(ours.size(), theirs.size());
    EXPECT_LT((ours - theirs).cwiseAbs().maxCoeff(), 1e-8 * theirs.maxCoeff());
  };
  compare(gamma("", classes), of_classes.spectrum.gamma);
  compare(gamma(" output_kernel=linear", numbers), of_numbers.spectrum.gamma);
}

TEST(Parts, AConstantColumnHasNoWeight) {
  Dataset data = hospitals();
  Matrix x = data.x.to_matrix();
  x.col(1).setConstant(0.1);
  data.x = Features::dense(x, data.schema.feature_names());
  for (const std::string pipeline : {"scale | ridge lam=0.1", "ridge lam=0.1", "scale | least_squares l2=0.1"}) {
    const bool numbers = pipeline.ends_with("l2=0.1");
    if (numbers) data.y = hospitals(Task::regress).y;
    const Model model = finished(pipeline, data);
    EXPECT_EQ(model.state(model.pipeline().stages().size() - 1).vector("weights", 5)[1], 0) << pipeline;
  }
}

TEST(Parts, DependentColumnsNeedAPenalty) {
  // The wards of all rows add up to 1.
  EXPECT_EQ(code_of([] { finished("least_squares l2=0", hospitals(Task::regress)); }), "singular");
}

TEST(Parts, DigitsThatSumsLoseAreReported) {
  Dataset data = hospitals();
  Matrix x = data.x.to_matrix();
  x.col(0).array() += 1e7;
  data.x = Features::dense(x, data.schema.feature_names());
  Recorder recorder;
  finish_parts({part_of("scale | ridge lam=0.1", data)}, nullptr, context().observed_by(&recorder));
  ASSERT_EQ(recorder.warnings.size(), 1U);
  EXPECT_EQ(recorder.warnings.front().first, "lost_digits");
}

TEST(Parts, RowsWithoutATableHaveNamesOfTheirOwn) {
  Dataset data = hospitals();
  data.schema = {};
  data.x = Features::dense(data.x.to_matrix());
  const Model model = finished("scale | ridge lam=0.1", data);
  EXPECT_EQ(model.features().front(), "x1");
  EXPECT_LT(largest_difference(model, fitted("scale | ridge lam=0.1", train_view(data, context())), data), 1e-10);
}

TEST(Parts, AnyOrderAndGroupingGivesTheSameBytes) {
  const Dataset data = hospitals();
  std::vector<SumsPart> parts;
  for (Index s = 0; s < 5; ++s) parts.push_back(part_of("scale | ridge", site(data, every(5, s, data.rows()))));
  const std::string model = finish_parts(in_order(parts), nullptr, context()).bytes();
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), 0);
  int tried = 0;
  do {
    std::vector<SumsPart> some;
    for (std::size_t i = 0; i < 3; ++i) some.push_back(parts[order[i]]);
    // Three are merged into a file first, the others join later.
    std::vector<SumsPart> all = parts_from(TensorFile::parse(parts_tensors(in_order(some)).bytes(), "some.eco"));
    for (std::size_t i = 3; i < 5; ++i) all.push_back(parts[order[i]]);
    all = in_order(std::move(all));
    EXPECT_EQ(finish_parts(all, nullptr, context()).bytes(), model);
  } while (++tried < 24 && std::ranges::next_permutation(order).found);
  for (const int threads : {1, 7}) {
    std::vector<SumsPart> own;
    for (Index s = 0; s < 5; ++s)
      own.push_back(part_of("scale | ridge", site(data, every(5, s, data.rows())), nullptr, threads));
    EXPECT_EQ(finish_parts(in_order(own), nullptr, context(threads)).bytes(), model);
  }
}

TEST(Parts, MergingLeavesGramMatricesWhereTheyAre) {
  const Dataset data = hospitals();
  RowSums sums = part_of("ridge lam=0.1", site(data, every(2, 0, data.rows()))).sums;
  const double* const before = sums.moments.gram.front().values().data();
  Dataset others = site(data, every(2, 0, data.rows()));
  others.y->classes = {"no", "perhaps"};
  const RowSums more = part_of("scale", others).sums;
  sums.merge(more);
  EXPECT_EQ(sums.moments.gram.front().values().data(), before);
  EXPECT_EQ(sums.classes, (std::vector<std::string>{"no", "perhaps", "yes"}));
  EXPECT_EQ(sums.of_class[0].rows, Vector(2 * more.of_class[0].rows));
  EXPECT_EQ(sums.of_class[1].rows, more.of_class[1].rows);
  EXPECT_EQ(sums.of_class[2].rows, more.of_class[1].rows);
}

TEST(Parts, SitesMayLackAClassOrACategory) {
  const Dataset data = hospitals();
  // The first site has only "yes" in ward a, the second the rest.
  std::vector<Index> first, second;
  const Matrix x = data.x.to_matrix();
  for (Index i = 0; i < data.rows(); ++i) (data.y->index[at(i)] == 1 && x(i, 3) == 1 ? first : second).push_back(i);
  Dataset one = site(data, first);
  ASSERT_EQ(one.y->classes, std::vector<std::string>{"yes"});
  one.schema.columns[3].levels = {"a"};
  one.x = Features::dense(one.x.to_matrix().leftCols(4), one.schema.feature_names());
  const std::string pipeline = "scale | ridge lam=0.1";
  const Model model =
      finish_parts(in_order({part_of(pipeline, one), part_of(pipeline, site(data, second))}), nullptr, context());
  const Model fit = Model::fit(Pipeline::parse(pipeline), train_view(data, context()), data.schema, context());
  EXPECT_LT(largest_difference(model, fit, data), 1e-10);
  EXPECT_EQ(model.classes(), (std::vector<std::string>{"no", "yes"}));
}

TEST(Parts, RowsMayGoThroughAModelFirst) {
  const Dataset data = hospitals();
  const Model scale = finished("scale", data);
  EXPECT_FALSE(scale.pipeline().predicts());
  const std::string behind = "dica route=low_rank map=fourier sigma=2 rank=50 components=2 | ridge lam=0.1";
  const Model model = finished(behind, data, &scale);
  EXPECT_EQ(model.pipeline().text(), "scale | " + Pipeline::parse(behind).text());
  EXPECT_EQ(reloaded(model).bytes(), model.bytes());
  EXPECT_LT(largest_difference(model, finish_parts({part_of(behind, data, &scale)}, &scale, context()), data), 1e-9);
  const SumsPart part = part_of(behind, data, &scale);
  EXPECT_EQ(code_of([&] { finish_parts({part}, nullptr, context()); }), "other_model");
  const Model predicts = finished("scale | ridge lam=0.1", data);
  EXPECT_EQ(code_of([&] { part_of("ridge", data, &predicts); }), "behind_predicts");
}

TEST(Parts, RefusesWhatDoesNotFitTogether) {
  const Dataset data = hospitals();
  const SumsPart part = part_of("scale | ridge", data);
  const auto code = [&](const SumsPart& other) { return code_of([&] { in_order({part, other}); }); };
  EXPECT_EQ(code(part), "same_part");
  EXPECT_EQ(code(part_of("scale | ridge lam=1", data)), "different_sums");
  EXPECT_EQ(code(part_of("scale | ridge", hospitals(Task::regress))), "different_sums");
  SumsPart seed = part;
  seed.seed = 7;
  EXPECT_EQ(code(seed), "different_sums");
  Dataset other = site(data, every(2, 0, data.rows()));
  other.schema.columns[1].name = "weight";
  other.x = Features::dense(other.x.to_matrix(), other.schema.feature_names());
  EXPECT_EQ(code(part_of("scale | ridge", other)), "different_sums");
  SumsPart days = part, months = part_of("scale | ridge", site(data, every(2, 0, data.rows())));
  for (SumsPart* each : {&days, &months}) each->schema.columns[0].kind = ColumnKind::date;
  days.schema.columns[0].slashes = SlashOrder::day_first;
  EXPECT_EQ(in_order({days, months}).size(), 2U);
  months.schema.columns[0].slashes = SlashOrder::month_first;
  EXPECT_EQ(code_of([&] { in_order({days, months}); }), "different_sums");
  EXPECT_EQ(code_of([&] { in_order({}); }), "no_parts");
}

TEST(Parts, EqualRowsOfOtherSourcesBothCount) {
  const Dataset data = hospitals();
  const std::string pipeline = "scale | ridge lam=0.1";
  const auto of = [&](const std::string& source, Index first) {
    const Dataset half = site(data, every(2, first, data.rows()));
    return make_part(Pipeline::parse(pipeline), half, nullptr, {.min_rows = 1, .source = source}, context());
  };
  EXPECT_EQ(code_of([&] { in_order({of("1", 0), of("1", 0)}); }), "same_part");
  const std::string bytes = parts_tensors(in_order({of("1", 0), of("2", 0), of("3", 1)})).bytes();
  const std::vector<SumsPart> parts = parts_from(TensorFile::parse(bytes, "parts"));
  ASSERT_EQ(parts.size(), 3U);
  std::vector<Index> rows = every(2, 1, data.rows());
  for (Index time = 0; time < 2; ++time) std::ranges::copy(every(2, 0, data.rows()), std::back_inserter(rows));
  const Dataset all = site(data, rows);
  const Model fit = Model::fit(Pipeline::parse(pipeline), train_view(all, context()), all.schema, context());
  EXPECT_LT(largest_difference(finish_parts(in_order(parts), nullptr, context()), fit, data), 1e-10);
  // Parts without a source say nothing of it, as before there were any.
  EXPECT_NE(bytes.find("source"), std::string::npos);
  EXPECT_EQ(parts_tensors({of("", 0)}).bytes().find("source"), std::string::npos);
}

TEST(Parts, RareCategoriesAreRefused) {
  Dataset data = hospitals(Task::regress);  // of 60 rows in each domain
  const auto code = [&](int min_rows) {
    return code_of([&] { make_part(Pipeline::parse("scale"), data, nullptr, {.min_rows = min_rows}, context()); });
  };
  const auto message = [&](const Dataset& of) {
    return message_of([&] { make_part(Pipeline::parse("scale"), of, nullptr, {}, context()); });
  };
  EXPECT_EQ(code(10), "none");
  // Two rows of d2 are alone in a ward; in d1 all are in the same, which tells nothing.
  Matrix x = data.x.to_matrix();
  for (Index i = 0; i < x.rows(); ++i)
    if (i % 4 < 2) x.row(i).tail(2) << (i == 1 || i == 41 ? 1 : 0), (i == 1 || i == 41 ? 0 : 1);
  data.x = Features::dense(x, data.schema.feature_names());
  EXPECT_EQ(code(3), "small_category");
  EXPECT_EQ(code(2), "none");
  EXPECT_NE(message(data).find("in domain 'd2' 2 rows have the category 'a' in column 'ward'"), std::string::npos);
  set_targets(data, {"d2"});
  EXPECT_EQ(code(3), "small_category");
  // Drawn features have no column of a category.
  const Pipeline drawn = Pipeline::parse("kpca route=low_rank map=fourier sigma=1 rank=9");
  EXPECT_EQ(code_of([&] { make_part(drawn, hospitals(), nullptr, {.min_rows = 10}, context()); }), "none");
}

TEST(Parts, RareNumbersOfColumnsOfTwoAreRefused) {
  const auto message = [](double common, double rare, double third) {
    Dataset data = hospitals(Task::regress);
    Matrix x = data.x.to_matrix();
    x.col(1).setConstant(common);
    x(8, 1) = rare;
    x(12, 1) = third;
    data.x = Features::dense(x, data.schema.feature_names());
    return message_of([&] { make_part(Pipeline::parse("scale"), data, nullptr, {}, context()); });
  };
  EXPECT_NE(message(0, 1, 0).find("'d1' 1 row has 1 in column 'dose' and all others 0"), std::string::npos);
  EXPECT_NE(message(1, 0, 1).find("'d1' 1 row has 0 in column 'dose' and all others 1"), std::string::npos);
  EXPECT_NE(message(3, 7.5, 3).find("1 row has 7.5 in column 'dose'"), std::string::npos);
  EXPECT_EQ(message(2, 2, 2), "");
  EXPECT_EQ(message(0, 1, 2), "");
}

/// Sums of products with labels of 0 and 1 are sums over the rows that have 1.
TEST(Parts, RareLabelsAreRefused) {
  const Dataset all = hospitals(Task::regress);  // of 60 rows in each domain
  const auto labelled = [&](Index ones, double last) {
    Dataset data = all;
    data.y->value.setZero();
    for (Index i = 0; i < ones; ++i) data.y->value[4 * i] = 1;
    data.y->value[4 * ones] = last;
    return data;
  };
  const auto message = [](const Dataset& data, const std::string& pipeline, const Model* behind, int min_rows) {
    return message_of([&] { make_part(Pipeline::parse(pipeline), data, behind, {.min_rows = min_rows}, context()); });
  };
  const Model scale = finished("scale", all);
  const std::string drawn = "kpca route=low_rank map=fourier sigma=1 rank=9 | ridge lam=1";
  const std::vector<std::pair<std::string, const Model*>> ways = {
      {"scale | ridge lam=1", nullptr}, {"ridge lam=1", &scale}, {drawn, nullptr}, {drawn, &scale}};
  for (const auto& [pipeline, behind] : ways) {
    EXPECT_NE(
        message(labelled(1, 0), pipeline, behind, 10).find("in domain 'd1' 1 row has the label 1 and all others 0"),
        std::string::npos)
        << pipeline;
    EXPECT_EQ(message(labelled(1, 0), pipeline, behind, 1), "") << pipeline;
    EXPECT_EQ(message(labelled(10, 0), pipeline, behind, 10), "") << pipeline;
    EXPECT_EQ(message(labelled(1, 7), pipeline, behind, 10), "") << pipeline;
  }
  Dataset target = labelled(1, 0);
  target.y->value.tail(220) = all.y->value.tail(220);  // so that the others have something to learn
  set_targets(target, {"d1"});
  EXPECT_EQ(message(target, "scale | ridge lam=1", nullptr, 10), "");
}

TEST(Parts, KnowHowManyRowsHaveTheRarestOfTwoValues) {
  Dataset data = hospitals(Task::regress);
  Matrix x = data.x.to_matrix();
  const auto rarest = [&](const std::string& pipeline) {
    data.x = Features::dense(x, data.schema.feature_names());
    const SumsPart part = part_of(pipeline, data);
    const std::vector<SumsPart> read = parts_from(TensorFile::parse(parts_tensors({part}).bytes(), "part.eco"));
    EXPECT_EQ(read.front().rarest, part.rarest);
    return part.rarest;
  };
  x.rightCols(2) = x.middleCols(0, 2);  // no categories
  const std::string drawn = "kpca route=low_rank map=fourier sigma=1 rank=9";
  EXPECT_EQ(rarest("scale"), 240);
  x.col(1).setZero();
  for (const Index i : {0, 4, 8}) x(i, 1) = 1;
  EXPECT_EQ(rarest("scale"), 3);
  EXPECT_EQ(rarest(drawn), 240);
  data.y->value.setZero();
  for (const Index i : {1, 5}) data.y->value[i] = 1;
  EXPECT_EQ(rarest("scale"), 2);
  EXPECT_EQ(rarest(drawn), 2);
}

/// The same rows summed in another order are another part, and count again.
TEST(Parts, PartsOfTheSameRowsAreReported) {
  const auto warned = [](const std::vector<SumsPart>& parts) {
    Recorder recorder;
    added(in_order(parts), context().observed_by(&recorder));
    Index found = 0;
    for (const auto& warning : recorder.warnings) found += warning.first == "alike_parts" ? 1 : 0;
    return found;
  };
  for (const Dataset& data : {hospitals(), hospitals(Task::regress)}) {
    std::vector<Index> rows = every(2, 0, data.rows()), back(rows.rbegin(), rows.rend());
    for (const std::string pipeline :
         {"scale | ridge lam=0.1", "kpca route=low_rank map=fourier sigma=1 rank=9 | ridge lam=1"}) {
      const auto of = [&](const std::vector<Index>& some) { return part_of(pipeline, site(data, some)); };
      const SumsPart there = of(rows), back_again = of(back);
      EXPECT_NE(there.id(), back_again.id());
      EXPECT_EQ(warned({there, back_again}), 1) << pipeline;
      EXPECT_EQ(warned({there, of(every(2, 1, data.rows())), back_again}), 1) << pipeline;
      EXPECT_EQ(warned({there, of(every(2, 1, data.rows()))}), 0) << pipeline;
      SumsPart one = there, two = back_again;
      one.source = "1";
      two.source = "2";
      EXPECT_EQ(warned({one, two}), 0) << pipeline;
    }
  }
  // As many rows of every domain, and one of them other.
  Dataset other = hospitals(Task::regress);
  const std::vector<Index> rows = every(1, 0, other.rows());
  const SumsPart before = part_of("scale", site(other, rows));
  Matrix x = other.x.to_matrix();
  x(17, 2) += 0.001;
  other.x = Features::dense(x, other.schema.feature_names());
  EXPECT_EQ(warned({before, part_of("scale", site(other, rows))}), 0);
  // Where all columns have mean 0, rounding is all that is left of their sums.
  const Dataset data = hospitals();
  const Model scale = finished("scale by=domain", data);
  const SumsPart forward = part_of("ridge lam=1", data, &scale);
  const SumsPart backward = part_of("ridge lam=1", site(data, {rows.rbegin(), rows.rend()}), &scale);
  EXPECT_EQ(warned({forward, backward}), 1);
}

/// Whoever looks at no labels does not mind what kind they are.
TEST(Parts, StagesThatLearnOfColumnsAloneTakeSitesWithoutLabels) {
  const Dataset classes = hospitals(), numbers = hospitals(Task::regress);
  const Dataset one = site(classes, every(3, 0, 240)), two = site(numbers, every(3, 1, 240));
  Dataset three = site(classes, every(3, 2, 240));
  three.y.reset();
  Dataset all = classes;
  all.y.reset();
  for (const std::string pipeline : {"scale", "scale by=domain", "scale | align to=barycentre ridge=0.001"}) {
    const Model model = finish_parts(
        in_order({part_of(pipeline, one), part_of(pipeline, two), part_of(pipeline, three)}), nullptr, context());
    const Model fit = Model::fit(Pipeline::parse(pipeline), train_view(all, context()), all.schema, context());
    const Matrix made = model.transform(batch_of(all), context()).to_matrix();
    EXPECT_LT((made - fit.transform(batch_of(all), context()).to_matrix()).cwiseAbs().maxCoeff(), 1e-9) << pipeline;
    EXPECT_TRUE(model.classes().empty());
  }
  EXPECT_EQ(code_of([&] { in_order({part_of("ridge", one), part_of("ridge", two)}); }), "different_sums");
}

TEST(Parts, FewerRowsThanColumnsAreReported) {
  const Dataset data = hospitals();
  const Pipeline drawn = Pipeline::parse("kpca route=low_rank map=fourier sigma=1 rank=62");
  for (const int min_rows : {1, 2}) {
    Recorder recorder;
    const SumsPart part = make_part(drawn, data, nullptr, {.min_rows = min_rows}, context().observed_by(&recorder));
    ASSERT_EQ(part.sums.cols(), 62);
    ASSERT_EQ(recorder.warnings.size(), min_rows > 1 ? 1U : 0U);
    for (const auto& warning : recorder.warnings) EXPECT_EQ(warning.first, "few_rows");
  }
}

/// Sums of squares of columns far from 0 lose digits; two rounds keep them.
TEST(Parts, ColumnsFarFromZeroAreReportedAndKeepTheirDigitsInTwoRounds) {
  const Dataset near = hospitals();
  Dataset far = near;
  Matrix x = near.x.to_matrix();
  x.col(0).array() += 1e7;
  far.x = Features::dense(x, far.schema.feature_names());
  const auto warned = [](const std::string& pipeline, const Dataset& data, const Model* behind) {
    Recorder recorder;
    make_part(Pipeline::parse(pipeline), data, behind, {.min_rows = 1}, context().observed_by(&recorder));
    std::vector<std::string> codes;
    for (const auto& warning : recorder.warnings) codes.push_back(warning.first);
    return codes;
  };
  EXPECT_EQ(warned("scale | ridge lam=0.1", near, nullptr), (std::vector<std::string>{}));
  EXPECT_EQ(warned("scale | ridge lam=0.1", far, nullptr), (std::vector<std::string>{"lost_digits"}));
  EXPECT_EQ(warned("scale", far, nullptr), (std::vector<std::string>{}));
  const Model scale = finished("scale", far);
  EXPECT_EQ(warned("ridge lam=0.1", far, &scale), (std::vector<std::string>{}));
  const Matrix wanted =
      fitted("scale | ridge lam=0.1", train_view(near, context())).predict(batch_of(near), context()).score;
  const Matrix one = finished("scale | ridge lam=0.1", far).predict(batch_of(far), context()).score;
  const Matrix two = finished("ridge lam=0.1", far, &scale).predict(batch_of(far), context()).score;
  EXPECT_GT((one - wanted).cwiseAbs().maxCoeff(), 1e-5);
  EXPECT_LT((two - wanted).cwiseAbs().maxCoeff(), 1e-6);
}

TEST(Parts, RefusesWhatNeedsRows) {
  const Dataset data = hospitals();
  const auto code = [&](const std::string& pipeline) { return code_of([&] { part_of(pipeline, data); }); };
  EXPECT_EQ(code("impute | ridge"), "needs_rows");
  EXPECT_EQ(code("scale | logistic"), "needs_rows");
  EXPECT_EQ(code("scale | ridge score=auroc"), "bad_option");
  EXPECT_EQ(code("dica | ridge"), "needs_rows");
  EXPECT_EQ(code("scale | dica route=low_rank map=fourier sigma=1 | ridge"), "needs_rows");
  EXPECT_EQ(code_of([&] { part_of("least_squares", hospitals(Task::regress)); }), "needs_rows");
  EXPECT_EQ(code_of([&] { make_part(Pipeline::parse("ridge"), data, nullptr, {.min_rows = 61}, context()); }),
            "small_domain");
  EXPECT_EQ(code("ridge class_weight=balanced"), "needs_rows");
  EXPECT_EQ(code("least_squares l2=1"), "needs_numbers");
  Dataset grouped = data;
  grouped.group.assign(at(data.rows()), 0);
  EXPECT_EQ(code_of([&] { part_of("ridge", grouped); }), "idle_flag");
  Dataset sparse = data;
  sparse.x = Features::sparse(to_csr(data.x.to_matrix()), data.schema.feature_names());
  EXPECT_EQ(code_of([&] { part_of("ridge", sparse); }), "sparse_sums");
  Dataset three = data;
  three.y->classes.push_back("perhaps");
  for (Index i = 0; i < data.rows(); i += 3) three.y->index[at(i)] = 2;
  EXPECT_EQ(code_of([&] { part_of("scale | ridge", three); }), "needs_two_classes");
  EXPECT_EQ(part_of("kpca route=low_rank map=fourier sigma=1 rank=9", three).sums.classes.size(), 3U);
  Dataset weighted = data;
  weighted.weight = Vector::Ones(data.rows());
  EXPECT_EQ(code_of([&] { part_of("ridge", weighted); }), "weighted_sums");
  Dataset missing = data;
  Matrix x = data.x.to_matrix();
  x(3, 1) = std::nan("");
  missing.x = Features::dense(x, data.schema.feature_names());
  EXPECT_EQ(code_of([&] { part_of("ridge", missing); }), "non_finite");
  Dataset unlabelled = data;
  unlabelled.y.reset();
  EXPECT_EQ(code_of([&] { part_of("ridge", unlabelled); }), "no_labels");
  EXPECT_EQ(part_of("scale", unlabelled).sums.rows(), 240);
  const Dataset yes = site(data, [&] {
    std::vector<Index> rows;
    for (Index i = 0; i < data.rows(); ++i)
      if (data.y->index[at(i)] == 1) rows.push_back(i);
    return rows;
  }());
  EXPECT_EQ(code_of([&] { finish_parts({part_of("ridge", yes)}, nullptr, context()); }), "one_class");
}

TEST(Parts, SumsOfOtherColumnsAreRefused) {
  SumsPart part = part_of("ridge lam=1", hospitals());
  part.schema.columns.pop_back();
  EXPECT_EQ(
      code_of([&] { Model::from_sums(Pipeline::parse("ridge lam=1"), part.sums, part.schema, nullptr, context()); }),
      "different_sums");
  part = part_of("ridge lam=1", hospitals());
  part.sums.moments.xx(0, 0) = 1e200;
  EXPECT_EQ(code_of([&] { finish_parts({part}, nullptr, context()); }), "non_finite");
  const std::string drawn = "kpca route=low_rank map=fourier sigma=1 rank=";
  part = part_of(drawn + "20 | ridge lam=1", hospitals());
  EXPECT_EQ(code_of([&] {
              Model::from_sums(Pipeline::parse(drawn + "30 | ridge lam=1"), part.sums, part.schema, nullptr, context());
            }),
            "different_sums");
}

TEST(PartsFile, ReadsWhatItWrote) {
  const Dataset data = hospitals();
  for (const auto& part : {part_of("scale | ridge", data), part_of("ridge", hospitals(Task::regress))}) {
    const std::string bytes = parts_tensors({part}).bytes();
    const std::vector<SumsPart> read = parts_from(TensorFile::parse(bytes, "part.eco"));
    ASSERT_EQ(read.size(), 1U);
    EXPECT_EQ(read.front().id(), part.id());
    EXPECT_EQ(parts_tensors(read).bytes(), bytes);
  }
}

TEST(PartsFile, ContentThatNoRowsHaveIsRefused) {
  const SumsPart part = part_of("scale | ridge", hospitals());
  const auto code = [&](auto&& change) {
    SumsPart changed = part;
    change(changed);
    return code_of([&] { parts_from(TensorFile::parse(parts_tensors({changed}).bytes(), "part.eco")); });
  };
  EXPECT_EQ(code([](SumsPart&) {}), "none");
  EXPECT_EQ(code([](SumsPart& p) { p.pipeline = "scale | logistic"; }), "bad_sums");
  EXPECT_EQ(code([](SumsPart& p) { p.pipeline = "scale|ridge"; }), "bad_sums");
  EXPECT_EQ(code([](SumsPart& p) { p.pipeline = "no such thing"; }), "bad_sums");
  EXPECT_EQ(code([](SumsPart& p) { p.schema.columns.push_back({.name = "more", .levels = {}}); }), "bad_sums");
  EXPECT_EQ(code([](SumsPart& p) { std::swap(p.schema.columns[0], p.schema.columns[1]); }), "bad_sums");
  EXPECT_EQ(code([](SumsPart& p) { p.schema.columns[3].coded = true; }), "bad_sums");
  EXPECT_EQ(code([](SumsPart& p) { p.sums.row_cols = 4; }), "bad_sums");
  EXPECT_EQ(code([](SumsPart& p) { p.sums.of_class[0].rows[0] += 1; }), "bad_sums");
  EXPECT_EQ(code([](SumsPart& p) { p.sums.of_class[0].rows[0] = 0.5; }), "bad_sums");
  EXPECT_EQ(code([](SumsPart& p) { p.sums.of_class[0].x1(0, 0) = std::nan(""); }), "bad_sums");
  EXPECT_EQ(code([](SumsPart& p) { p.sums.of_class[0].groups[0] = "elsewhere"; }), "bad_sums");
  EXPECT_EQ(code([](SumsPart& p) { p.sums.moments.weight[0] = 1e9; }), "bad_sums");
  EXPECT_EQ(code([](SumsPart& p) { p.sums.task = Task::regress; }), "bad_sums");
  EXPECT_EQ(code([](SumsPart& p) { p.rarest = 241; }), "bad_sums");
  EXPECT_EQ(code([](SumsPart& p) { p.rarest = 0; }), "none");  // of older programs
  EXPECT_EQ(code([](SumsPart& p) { p.sums.moments.x1(0, 0) = 1e9; }), "bad_moments");
}

TEST(PartsFile, ChangedBytesAreRefused) {
  const std::string bytes = parts_tensors({part_of("scale | ridge", hospitals(Task::classify, 40))}).bytes();
  for (std::size_t length = 0; length < bytes.size(); length += 7)
    EXPECT_EQ(code_of([&] { parts_from(TensorFile::parse(bytes.substr(0, length), "part.eco")); }) == "none", false);
  int loaded = 0;
  for (std::size_t place = 0; place < bytes.size(); ++place) {
    std::string changed = bytes;
    changed[place] = static_cast<char>(changed[place] ^ 0x11);
    try {
      parts_from(TensorFile::parse(changed, "part.eco"));
      ++loaded;  // the version, or the padding of the header
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::file) << place << ": " << error.what();
    }
  }
  EXPECT_LT(loaded, 80);
}

}  // namespace parts_test
}  // namespace ecotone::test
