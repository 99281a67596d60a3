#include <set>

#include "ecotone/base/random.h"
#include "ecotone/evaluate/tune/tune_folds.h"
#include "ecotone/report/json/json.h"
#include "evaluate/support.h"

/// No row, no statistic and no choice crosses the line between what is trained on and what is held out: rubbish on the
/// other side changes nothing.
namespace ecotone::test {
namespace sides_test {

/// Patients of four sites, some seen at two of them, at times that repeat.
Dataset visits(Task task) {
  constexpr Index sites = 4, n = 30;
  Dataset data = task == Task::classify ? tiny(sites, n) : tiny_regression(sites, n);
  Random random(8, "visits");
  data.time.resize(data.rows());
  for (Index i = 0; i < data.rows(); ++i) {
    // Three rows of a site each, and every fourth patient's last row is at the next site.
    const Index patient = i / sites / 3 * sites + (i / sites % 12 == 2 ? i + 1 : i) % sites;
    data.group.push_back(i % 17 == 0 ? -1 : static_cast<std::int32_t>(patient));
    data.time[i] = static_cast<double>(random.below(40));
  }
  return data;
}

/// What a split has to do with each row.
enum class Part { none, source, target, held_out };

std::vector<Part> parts_of(const Split& split, Index rows) {
  std::vector<Part> parts(static_cast<std::size_t>(rows), Part::none);
  for (const Index row : split.held_out) parts[static_cast<std::size_t>(row)] = Part::held_out;
  for (const Index row : split.target) parts[static_cast<std::size_t>(row)] = Part::target;
  for (const Index row : split.source) parts[static_cast<std::size_t>(row)] = Part::source;
  return parts;
}

/// Which of the rows that are only predicted get other features.
bool spoiled(Index row) { return row % 3 == 0; }

/// The data with other labels wherever the split does not train on them, and other features wherever it does not need
/// them: in no part, and in some of the rows that are only predicted.
Dataset with_rubbish(const Dataset& data, const Split& split) {
  const std::vector<Part> parts = parts_of(split, data.rows());
  Dataset result = data;
  Matrix x = data.x.to_matrix();
  for (Index row = 0; row < data.rows(); ++row) {
    const Part part = parts[static_cast<std::size_t>(row)];
    if (part == Part::source) continue;
    if (data.y->task == Task::classify) {
      auto& label = result.y->index[static_cast<std::size_t>(row)];
      label = 1 - label;
    } else {
      result.y->value[row] = 40 - 3 * data.y->value[row];
    }
    if (part == Part::none || (part == Part::held_out && spoiled(row))) x.row(row).setConstant(row % 2 == 0 ? -30 : 25);
  }
  result.x = Features::dense(std::move(x), data.x.names());
  return result;
}

/// The predictions of the pipeline for the rows that the split holds out and with_rubbish leaves as they are.
std::vector<std::string> predictions(const Dataset& data, const PipelineGrid& grid, EvaluateOptions options,
                                     const Split& split) {
  options.keep_predictions = true;
  const bool all = !split.target.empty();
  const std::set<Index> held(split.held_out.begin(), split.held_out.end());
  std::vector<std::string> result;
  for (const HeldOutPrediction& each : evaluate_grids(data, {grid}, options, on(2)).predictions) {
    if (each.repetition != split.repetition || !held.contains(each.row) || (!all && spoiled(each.row))) continue;
    result.push_back(fmt::format("{} {}", each.row, each.prediction));
    for (const auto& p : each.probability) result.back() += fmt::format(" {}", p.value_or(-1));
  }
  return result;
}

EvaluateOptions options_of(Protocol protocol) {
  EvaluateOptions options = with(protocol);
  options.folds = 3;
  options.repetitions = 2;
  options.blocks = 3;
  if (protocol == Protocol::named_domains) options.target = {"site2", "site0"};
  if (protocol == Protocol::forward) options.gap = 2;
  return options;
}

void expect_nothing_crosses(Protocol protocol, const std::string& pipeline, bool groups) {
  const PipelineGrid grid = PipelineGrid::parse(pipeline);
  const bool regresses = pipeline.find("gp") != std::string::npos;
  Dataset data = visits(regresses ? Task::regress : Task::classify);
  if (!groups) data.group.clear();
  const EvaluateOptions options = options_of(protocol);
  const std::vector<Split> splits = make_splits(places_of(data), options, on(2));
  for (const Split& split : {splits.front(), splits.back()}) {
    const std::vector<std::string> clean = predictions(data, grid, options, split);
    ASSERT_GE(clean.size(), 5U);
    EXPECT_EQ(predictions(with_rubbish(data, split), grid, options, split), clean)
        << protocol_name(protocol) << ", " << split.name << " held out";
  }
}

class Sides : public testing::TestWithParam<std::string> {};

/// Between them the protocols leave rows in no part: later blocks, gaps, other rows of a held-out patient.
TEST_P(Sides, AreKeptApart) {
  for (const Protocol protocol : {Protocol::leave_one_domain_out, Protocol::adapt, Protocol::domain_split,
                                  Protocol::k_fold, Protocol::named_domains, Protocol::forward})
    expect_nothing_crosses(protocol, GetParam(), true);
  expect_nothing_crosses(Protocol::forward, GetParam(), false);
}

INSTANTIATE_TEST_SUITE_P(Pipelines, Sides,
                         testing::Values("scale | logistic", "scale | logistic l2={0.01,1}", "ridge", "step",
                                         "scale | svm probability=true", "scale | logistic l2=0.1 | calibrate",
                                         "scale | gp fit=cv", "scale | adaboost rounds=5"));

TEST(Rubbish, InLabelsOfTheTargetDoesNotReachPipelinesThatAdapt) {
  for (const char* pipeline : {"scale | weight.logistic | logistic l2=0.1", "scale | weight.gaussian | ridge"})
    expect_nothing_crosses(Protocol::adapt, pipeline, true);
}

/// The test above could not fail if rubbish were harmless: trained on, it changes predictions.
TEST(Rubbish, ThatIsTrainedOnShows) {
  const Dataset data = visits(Task::classify);
  Dataset without = data;
  without.group.clear();
  const PipelineGrid grid = PipelineGrid::parse("scale | logistic l2=0.1");
  const EvaluateOptions options = options_of(Protocol::leave_one_domain_out);
  const Split split = make_splits(places_of(data), options, on(2)).front();
  Dataset rubbish = with_rubbish(data, split);
  rubbish.group.clear();  // other rows of held-out patients are now trained on
  EXPECT_NE(predictions(rubbish, grid, options, split), predictions(without, grid, options, split));
}

TEST(Grouped, OneRowEachChangesNothing) {
  Dataset data = visits(Task::classify);
  for (std::size_t i = 0; i < data.group.size(); ++i) data.group[i] = static_cast<std::int32_t>(i);
  Dataset without = data;
  without.group.clear();
  for (const Protocol protocol : {Protocol::leave_one_domain_out, Protocol::k_fold, Protocol::forward}) {
    const auto pipes = pipelines({"scale | logistic", "scale | logistic l2=0.1 | calibrate"});
    Evaluation a = evaluate(data, pipes, options_of(protocol), on(2));
    const Evaluation b = evaluate(without, pipes, options_of(protocol), on(2));
    ASSERT_TRUE(a.groups.has_value());
    EXPECT_EQ(a.groups->groups, data.rows());
    for (std::size_t p = 0; p < 2; ++p) EXPECT_EQ(a.pipelines[p].mean, b.pipelines[p].mean);
  }
}

/// Blocks are scored in order of time, however rows are ordered and whichever domains they are of.
TEST(Forward, ScoresBlocksOfTime) {
  const Dataset data = visits(Task::classify);
  EvaluateOptions options = options_of(Protocol::forward);
  options.window = 15;
  const Evaluation found = evaluate(data, pipelines({"constant", "scale | logistic l2=0.1"}), options, on(2));
  ASSERT_TRUE(found.forward.has_value());
  ASSERT_EQ(found.forward->blocks.size(), 3U);
  EXPECT_EQ(found.unit(), "block");
  ASSERT_EQ(found.pipelines[1].domains.size(), 3U);
  Index rows = 0;
  for (std::size_t b = 0; b < 3; ++b) {
    const ScoredBlock& block = found.forward->blocks[b];
    EXPECT_EQ(block.name, found.pipelines[1].domains[b].domain);
    EXPECT_LE(block.first, block.last);
    if (b > 0) {
      EXPECT_GT(block.first, found.forward->blocks[b - 1].last);
    }
    Index own = 0;
    for (const double time : data.time) own += time >= block.first && time <= block.last;
    EXPECT_EQ(found.pipelines[1].domains[b].rows, own);
    rows += own;
  }
  EXPECT_LT(rows, data.rows());  // the first block is only trained on
  EXPECT_EQ(to_json(evaluate(data, pipelines({"constant", "scale | logistic l2=0.1"}), options, on(1))).dump(),
            to_json(found).dump());
  Dataset one = data;
  one.domain = {{"all"}, std::vector<std::int32_t>(static_cast<std::size_t>(data.rows()), 0)};
  one.role = {Role::source};
  EXPECT_EQ(evaluate(one, pipelines({"constant"}), options, on(2)).pipelines[0].domains.size(), 3U);
}

/// Folds of a grid's choice, by domains and by rows.
TEST(TuneFolds, KeepGroupsOnOneSide) {
  Dataset data = visits(Task::classify);
  Recorder recorder;
  const Context context({.threads = 1, .observer = &recorder});
  for (const bool one : {false, true}) {
    if (one) {
      data.domain = {{"all"}, std::vector<std::int32_t>(static_cast<std::size_t>(data.rows()), 0)};
      data.role = {Role::source};
    }
    const TuneFolds folds = tune_folds(data, rows_by_role(data), false, context);
    EXPECT_EQ(folds.plain.size(), one ? 5U : 4U);
    Index dropped = 0;
    for (const Split& fold : folds.plain) {
      std::set<std::int32_t> held;
      for (const Index row : fold.held_out) held.insert(data.group[static_cast<std::size_t>(row)]);
      held.erase(-1);
      for (const Index row : fold.source) EXPECT_FALSE(held.contains(data.group[static_cast<std::size_t>(row)]));
      dropped += data.rows() - std::ssize(fold.source) - std::ssize(fold.held_out);
    }
    EXPECT_EQ(dropped > 0, !one);
  }
  data = visits(Task::classify);
  // Groups that have rows in every domain: a domain cannot be held out, groups can.
  for (std::size_t i = 0; i < data.group.size(); ++i) data.group[i] = static_cast<std::int32_t>(i / 4);
  const TuneFolds folds = tune_folds(data, rows_by_role(data), false, context);
  EXPECT_FALSE(folds.by_domain);
  EXPECT_EQ(folds.plain.size(), 5U);
  std::size_t held = 0;
  for (const Split& fold : folds.plain) {
    EXPECT_EQ(std::ssize(fold.source) + std::ssize(fold.held_out), data.rows());
    held += fold.held_out.size();
    for (const Index row : fold.source)
      for (const Index other : fold.held_out) EXPECT_NE(row / 4, other / 4);
  }
  EXPECT_EQ(std::ssize(data.group), static_cast<std::ptrdiff_t>(held));
  // One group: nothing can be held out.
  for (std::int32_t& group : data.group) group = 0;
  const Error error = error_of([&] { tune_folds(data, rows_by_role(data), false, context); });
  EXPECT_EQ(error.code(), "no_folds");
  EXPECT_THAT(error.what(), ::testing::HasSubstr("groups"));
}

/// One class is left without the groups of a held-out domain.
TEST(TuneFolds, AreOfGroupsWhereDomainsWouldLeaveOneClass) {
  Dataset data = tiny(3, 40);
  for (std::size_t i = 0; i < data.y->index.size(); ++i) {
    const bool everywhere = i / 3 % 2 == 0;
    data.y->index[i] = everywhere ? 1 : 0;
    data.group.push_back(everywhere ? static_cast<std::int32_t>(i / 6) : -1);
  }
  const TuneFolds folds = tune_folds(data, rows_by_role(data), false, on(1));
  EXPECT_FALSE(folds.by_domain);
}

}  // namespace sides_test
}  // namespace ecotone::test
