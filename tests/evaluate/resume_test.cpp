// Finished fits come back from a journal, and nothing but the time tells.
#include "base/temp_folder.h"
#include "ecotone/base/files/journal.h"
#include "ecotone/evaluate/finished_work.h"
#include "ecotone/evaluate/fit_archive.h"
#include "ecotone/evaluate/tune/tune.h"
#include "ecotone/report/json/json.h"
#include "evaluate/support.h"

namespace ecotone::test {
namespace resume_test {

// One cannot be fitted without a target.
const std::vector<std::string> texts = {"constant", "scale | logistic l2={0.01,1} l1={0,0.01}",
                                        "weight.gaussian | logistic l2=0.1", "scale | svm C={0.1,1} sigma={0.5,2}"};

/// Everything that a user sees of an evaluation.
struct Seen {
  std::string document;
  std::vector<std::string> warnings, notes;
  bool operator==(const Seen&) const = default;
};

Seen evaluated(const Dataset& data, EvaluateOptions options, Journal* journal, std::uint64_t seed = 3) {
  Recorder recorder;
  options.journal = journal;
  options.keep_predictions = true;
  std::vector<PipelineGrid> grids;
  for (const std::string& text : texts) grids.push_back(PipelineGrid::parse(text));
  const Evaluation result =
      evaluate_grids(data, grids, options, Context({.threads = 2, .seed = seed, .observer = &recorder}));
  Json document = to_json(result);
  for (const HeldOutPrediction& one : result.predictions) {
    Json row = {one.pipeline, one.row, one.prediction};
    for (const auto& p : one.probability) row.push_back(p ? Json(*p) : Json());
    document["predictions"].push_back(row);
  }
  return {document.dump(), recorder.warnings, recorder.notes};
}

Seen tuned(const Dataset& data, Journal* journal) {
  Recorder recorder;
  const Context context({.threads = 2, .seed = 3, .observer = &recorder});
  TuneOptions options;
  options.journal = journal;
  const auto points = search_points(texts, options, context);
  return {to_json(tune(data, points, options, context)).dump(), recorder.warnings, recorder.notes};
}

/// A data set whose third site has one class, so that some pipelines fail or warn.
Dataset awkward() {
  Dataset data = tiny(4, 30);
  for (std::size_t i = 0; i < data.y->index.size(); ++i)
    if (data.domain.index[i] == 2) data.y->index[i] = 0;
  return data;
}

/// Runs `work` with journals cut to many lengths; it must always give the same, and redo no more than is lost.
template <class Work>
void expect_resumed(Work&& work) {
  const TempFolder folder;
  const Seen plain = work(nullptr);
  {
    Journal journal(folder / "j");
    EXPECT_EQ(work(&journal), plain);
    EXPECT_GT(journal.added(), 3U);
  }
  const std::string whole = ::ecotone::get(folder / "j");
  {
    Journal journal(folder / "j");
    EXPECT_EQ(work(&journal), plain);
    EXPECT_EQ(journal.added(), 0U);
    EXPECT_GT(journal.used(), 0U);
  }
  Random random(1, "resume-test");
  for (int i = 0; i < 12; ++i) {
    std::string damaged = whole.substr(0, random.below(whole.size()));
    if (i % 2 == 1 && damaged.size() > 100) damaged[60 + random.below(damaged.size() - 60)] ^= 0x10;
    put(folder / "j", damaged);
    Journal journal(folder / "j");
    EXPECT_EQ(work(&journal), plain) << "journal of " << damaged.size() << " bytes";
    EXPECT_EQ(journal.used() > 0, journal.found() > 0);
  }
}

TEST(Resume, EvaluationsGoOnWhereTheyStopped) {
  expect_resumed([](Journal* journal) { return evaluated(awkward(), {}, journal); });
}

TEST(Resume, EvaluationsOfNumbersToo) {
  const auto run = [](Journal* journal) {
    EvaluateOptions options = with(Protocol::k_fold);
    options.journal = journal;
    options.folds = 3;
    const std::vector<PipelineGrid> grids = {PipelineGrid::parse("constant"),
                                             PipelineGrid::parse("scale | least_squares l2={0.01,1}")};
    Recorder recorder;
    const Context context({.threads = 2, .seed = 3, .observer = &recorder});
    const Evaluation result = evaluate_grids(tiny_regression(3, 30), grids, options, context);
    return Seen{to_json(result).dump(), recorder.warnings, recorder.notes};
  };
  expect_resumed(run);
}

TEST(Resume, TuningGoesOnWhereItStopped) {
  expect_resumed([](Journal* journal) { return tuned(awkward(), journal); });
}

TEST(Resume, OtherWorkIsNotFound) {
  const TempFolder folder;
  {
    Journal first(folder / "j");
    evaluated(awkward(), {}, &first);
  }
  Journal journal(folder / "j");
  const auto used_by = [&](auto&& run) {
    const std::size_t before = journal.used();
    run();
    return journal.used() - before;
  };
  Dataset other = awkward();
  other.y->index[0] = 1 - other.y->index[0];
  EXPECT_EQ(used_by([&] { evaluated(other, {}, &journal); }), 0U);
  EXPECT_EQ(used_by([&] { evaluated(awkward(), {}, &journal, 4); }), 0U);
  EvaluateOptions choice;
  choice.choice_metric = "auroc";
  // The points of the grids were fitted before, but the choice among them is another.
  EXPECT_EQ(evaluated(awkward(), choice, &journal), evaluated(awkward(), choice, nullptr));
  EXPECT_GT(used_by([&] { evaluated(awkward(), {}, &journal); }), 0U);
}

TEST(Resume, PathsDoNotDependOnEachOther) {
  // The same points in another grid: what stands before them must not reach their scores.
  const Dataset data = tiny(4, 40);
  const Context context = on(2, 3);
  const auto scores = [&](const std::vector<std::string>& grid) {
    const auto points = search_points(grid, {}, context);
    const Tuning tuning = tune(data, points, {}, context);
    std::vector<std::vector<std::optional<double>>> last;
    for (const TunePoint& point : tuning.points)
      if (point.pipeline.starts_with("scale")) last.push_back(point.folds);
    return last;
  };
  const std::string path = "scale | logistic l2={0.01,0.1,1}";
  EXPECT_EQ(scores({"logistic l2={0.001,10}", path}), scores({path}));
}

TEST(Resume, ErrorsAndChoicesAreKeptExactly) {
  SplitFit fit;
  fit.outcome.rows = {3, 1};
  fit.outcome.predicted = {1, 0};
  fit.outcome.probability = Matrix::Random(2, 3);
  fit.outcome.seen = {true, false, true};
  fit.outcome.value = Vector::Random(2);
  fit.outcome.repetition = 4;
  fit.choice = SplitChoice{"north", "logistic", 0.1};
  fit.error = Error(ErrorKind::option, "bad", "a text");
  const auto read = unarchived<SplitFit>(archived(fit));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->outcome.rows, fit.outcome.rows);
  EXPECT_EQ(read->outcome.predicted, fit.outcome.predicted);
  EXPECT_EQ(read->outcome.probability, fit.outcome.probability);
  EXPECT_EQ(read->outcome.seen, fit.outcome.seen);
  EXPECT_EQ(read->outcome.value, fit.outcome.value);
  EXPECT_EQ(read->outcome.repetition, 4);
  EXPECT_EQ(read->choice->held_out, "north");
  EXPECT_EQ(read->choice->pipeline, "logistic");
  EXPECT_EQ(read->choice->mean, 0.1);
  EXPECT_EQ(read->error->kind(), ErrorKind::option);
  EXPECT_EQ(read->error->code(), "bad");
  EXPECT_STREQ(read->error->what(), "a text");
}

}  // namespace resume_test
}  // namespace ecotone::test
