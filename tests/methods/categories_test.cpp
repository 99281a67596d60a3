#include "ecotone/methods/categories.h"

#include <mutex>

#include "ecotone/data/formats/csv/csv.h"
#include "ecotone/data/read.h"
#include "ecotone/methods/registry.h"
#include "methods/support.h"

namespace ecotone {
namespace category_stage_test {

using test::context;

/// Shares of the second class by code of a column; missing and unknown codes have the share of all rows.
class CodeShares final : public Fitted {
 public:
  CodeShares(Index column, std::vector<double> share, double overall)
      : column_(column), share_(std::move(share)), overall_(overall) {}

  Prediction predict(const Batch& batch, const Context&) const override {
    const Matrix x = batch.x.to_matrix();
    Prediction prediction;
    prediction.task = Task::classify;
    prediction.probability.resize(x.rows(), 2);
    for (Index i = 0; i < x.rows(); ++i) {
      const double code = x(i, column_);
      const bool known = code >= 0 && code < static_cast<double>(share_.size());
      const double p = known ? share_[static_cast<std::size_t>(code)] : overall_;
      prediction.probability.row(i) << 1 - p, p;
      prediction.index.push_back(p > 0.5 ? 1 : 0);
    }
    return prediction;
  }
  StageState save() const override { return {}; }

 private:
  Index column_;
  std::vector<double> share_;
  double overall_;
};

/// What the learner saw at its last fit.
struct Seen {
  Matrix x;
  std::vector<Index> categories;
  std::vector<std::string> names;
  int fits = 0;
} seen;

StageResult fit_shares(const TrainView& view, const OptionValues&, const Context&, FitCache&) {
  const Matrix x = view.x.to_matrix();
  {
    static std::mutex mutex;  // folds are fitted side by side
    const std::lock_guard lock(mutex);
    seen = {x, view.categories, view.x.names(), seen.fits + 1};
  }
  if (view.categories.empty()) internal_error("no categories");
  const Index column = view.categories.front();
  std::vector<double> rows(400, 1), second(400, 0.5);
  double all = 0;
  for (Index i = 0; i < view.labelled(); ++i) {
    all += view.y.index[at(i)];
    if (std::isnan(x(i, column))) continue;
    rows[static_cast<std::size_t>(x(i, column))] += 1;
    second[static_cast<std::size_t>(x(i, column))] += view.y.index[at(i)];
  }
  const double overall = all / static_cast<double>(view.labelled());
  // A level without rows is like one that the model does not know.
  for (std::size_t k = 0; k < rows.size(); ++k) second[k] = rows[k] > 1 ? second[k] / rows[k] : overall;
  return {std::make_shared<CodeShares>(column, std::move(second), overall), view, {}};
}

/// A learner that takes categories; it is in no registry.
const Method& shares_method() {
  static const Method method = [] {
    Method made{.name = "shares", .family = Family::learn, .learns = Learns::labels};
    made.takes_missing = true;
    made.takes_categories = true;
    made.fit = fit_shares;
    return made;
  }();
  return method;
}

Pipeline shares(const std::string& behind = "") {
  std::vector<Stage> stages{{&shares_method(), {}}};
  if (!behind.empty()) {
    stages.push_back({&method(behind), stage_options(method(behind), {})});
  }
  return Pipeline(std::move(stages));
}

/// Texts of which one occurs in the last site alone, and some are missing.
std::string table(Index rows = 120) {
  Random random(5, "texts");
  std::string text = "site,age,word,y\n";
  for (Index i = 0; i < rows; ++i) {
    const Index site = i % 3;
    const Index word = random.below(6) + (site == 2 ? 1 : 0);
    const bool second = random.uniform() < (word % 2 == 0 ? 0.8 : 0.2);
    text +=
        fmt::format("s{},{},{},{}\n", site, i, random.below(9) == 0 ? "" : fmt::format("w{}", word), second ? 1 : 0);
  }
  return text;
}

Dataset read_text(std::string text, const ReadOptions& options = {}) {
  return read_csv({ByteSource::memory(std::move(text), "data.csv")}, options, {}, context());
}

Dataset read_table(bool codes) { return read_text(table(), {.label = "y", .domain = "site", .codes = codes}); }

TEST(CategoryStage, BothFormsGiveTheLearnerTheSameRows) {
  const Dataset levels = read_table(false), codes = read_table(true);
  const Model by_codes = Model::fit(shares(), train_view(codes, context()), codes.schema, context());
  const Seen first = seen;
  EXPECT_EQ(first.categories, (std::vector<Index>{1}));
  EXPECT_EQ(first.names, (std::vector<std::string>{"age", "word"}));
  const Model by_levels = Model::fit(shares(), train_view(levels, context()), levels.schema, context());
  EXPECT_TRUE(test::same_bytes(seen.x, first.x));
  EXPECT_EQ(seen.categories, first.categories);
  EXPECT_EQ(seen.names, first.names);
  // The model keeps the form that it was fitted with and answers both.
  EXPECT_EQ(by_codes.schema(), codes.schema);
  EXPECT_EQ(by_levels.schema(), levels.schema);
  std::vector<Index> all(static_cast<std::size_t>(levels.rows()));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Index>(i);
  const Prediction answers = by_codes.predict(batch(codes, all), context());
  EXPECT_TRUE(test::same_bytes(by_levels.predict(batch(levels, all), context()), answers));
  EXPECT_TRUE(test::same_bytes(by_codes.predict(batch(levels, all), context()), answers));
  EXPECT_TRUE(test::same_bytes(by_codes.transform(batch(levels, all), context()).to_matrix(), first.x));
}

TEST(CategoryStage, LevelsOfHeldOutRowsAreUnknownInBothForms) {
  const Dataset levels = read_table(false), codes = read_table(true);
  std::vector<Index> train, held;
  for (Index i = 0; i < levels.rows(); ++i) (levels.domain.index[at(i)] == 2 ? held : train).push_back(i);
  const Model by_levels = Model::fit(shares(), train_view(levels, train, {}, context()), levels.schema, context());
  const Model by_codes = Model::fit(shares(), train_view(codes, train, {}, context()), codes.schema, context());
  EXPECT_EQ(by_levels.schema().columns[1].levels.size() + 1, codes.schema.columns[1].levels.size());
  EXPECT_EQ(by_codes.schema(), codes.schema) << "codes are positions";
  EXPECT_TRUE(test::same_bytes(by_levels.predict(batch(levels, held), context()),
                               by_codes.predict(batch(codes, held), context())));
}

TEST(CategoryStage, NewRowsAreMatchedByName) {
  const Dataset codes = read_table(true);
  const Model model = Model::fit(shares(), train_view(codes, context()), codes.schema, context());
  // Columns in another order, levels that the model does not know, others that the batch lacks.
  const std::string text = "word,extra,age\nw3,1,7\nw9,2,8\n,3,9\n";
  const Dataset levels = read_text(text);
  const std::vector<Index> rows{0, 1, 2};
  const Dataset known = parse_for_model(text, "new", model.schema(), {}, context());
  EXPECT_TRUE(
      test::same_bytes(model.predict(batch(levels, rows), context()), model.predict(batch(known, rows), context())));
  const Dataset lacking = read_text("age\n7\n");
  EXPECT_NE(test::message_of([&] {
              model.predict(batch(lacking, {rows.begin(), 1}), context());
            }).find("'word'"),
            std::string::npos);
  Matrix x(1, 2);
  x << 7, 1.5;
  const std::string message = test::message_of([&] {
    model.predict({Features::dense(x, {"age", "word"}), {}, {41}}, context());
  });
  EXPECT_NE(message.find("row 42 of column 'word' holds 1.5"), std::string::npos) << message;
}

TEST(CategoryStage, RefitsBehindTheLearnerBeginWithTheDataAsTheyAre) {
  const Dataset levels = read_table(false), codes = read_table(true);
  seen.fits = 0;
  const Model by_levels = Model::fit(shares("calibrate"), train_view(levels, context()), levels.schema, context());
  EXPECT_EQ(seen.fits, 4) << "one of all rows, one without each site";
  const Model by_codes = Model::fit(shares("calibrate"), train_view(codes, context()), codes.schema, context());
  std::vector<Index> rows{0, 1, 2, 3, 4, 5};
  const Prediction answers = by_codes.predict(batch(codes, rows), context());
  EXPECT_TRUE(test::same_bytes(by_levels.predict(batch(levels, rows), context()), answers));
  EXPECT_GT(answers.probability.col(1).maxCoeff(), answers.probability.col(1).minCoeff());
}

TEST(CategoryStage, CodesAreNoNumbersToOtherMethods) {
  const Dataset codes = read_table(true);
  const TrainView view = train_view(codes, context());
  for (const char* text : {"logistic", "impute | scale | logistic"}) {
    const std::string message =
        test::message_of([&] { Model::fit(Pipeline::parse(text), view, codes.schema, context()); });
    EXPECT_NE(message.find("column 'word' holds codes of categories"), std::string::npos) << message;
  }
  // What never looks at features may have any.
  EXPECT_EQ(Model::fit(Pipeline::parse("constant"), view, codes.schema, context()).features().size(), 2U);
}

TEST(CategoryStage, OtherMethodsStillSeeAFeaturePerLevel) {
  const Dataset levels = read_table(false);
  EXPECT_EQ(first_stage_cols(Pipeline::parse("logistic"), levels.schema), levels.x.cols());
  EXPECT_EQ(first_stage_cols(shares(), levels.schema), 2);
  const TrainView view =
      first_stage_view(Pipeline::parse("logistic"), levels.schema, train_view(levels, context()), context());
  EXPECT_TRUE(view.categories.empty());
  EXPECT_EQ(view.x.names(), levels.x.names());
}

}  // namespace category_stage_test
}  // namespace ecotone
