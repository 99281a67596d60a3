// The golden cases of one-versus-all, one-versus-one and error-correcting output codes.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "ecotone/methods/multiclass/code_matrix.h"
#include "ecotone/methods/multiclass/decode.h"
#include "methods/support.h"
#include "source_dir.h"

namespace ecotone::test {
namespace multiclass_golden_test {

std::filesystem::path folder(const std::string& name) { return source_dir() / "tests/golden/logistic" / name; }

Matrix rows_of(const Json& rows) {
  Matrix x(static_cast<Index>(rows.size()), static_cast<Index>(rows.at(0).size()));
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < x.cols(); ++j) x(i, j) = rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
  }
  return x;
}

class Golden {
 public:
  explicit Golden(const std::string& name) : folder_(folder(name)) {
    std::ifstream file(folder_ / "case.json");
    EXPECT_TRUE(file) << folder_;
    json_ = Json::parse(file);
  }

  /// The task of this operation.
  const Json& task(const std::string& op) const {
    for (const Json& task : json_.at("tasks")) {
      if (task.at("op") == op) return task;
    }
    throw std::out_of_range("no task " + op);
  }
  double tolerance(const std::string& field) const { return json_.at("tol").at(field).get<double>(); }
  std::filesystem::path path(const Json& task, const std::string& field) const {
    return folder_ / task.at(field).get<std::string>();
  }

  Matrix csv(const Json& task, const std::string& field) const {
    std::ifstream file(path(task, field));
    EXPECT_TRUE(file) << path(task, field);
    Json rows = Json::array();
    for (std::string line; std::getline(file, line);) rows.push_back(Json::parse("[" + line + "]"));
    return rows_of(rows);
  }

  /// The rows with classes named by their index.
  TrainView view(const Json& task) const {
    const Matrix r = csv(task, "r");
    Labels y{Task::classify, {}, {}, {}};
    for (Index c = 0; c <= static_cast<Index>(r.maxCoeff()); ++c) y.classes.push_back(fmt::to_string(c));
    for (Index i = 0; i < r.rows(); ++i) y.index.push_back(static_cast<std::int32_t>(r(i, 0)));
    return view_of(Features::dense(csv(task, "X")), std::move(y));
  }

 private:
  std::filesystem::path folder_;
  Json json_;
};

/// Weights and offsets (theta is minus the offset) of every binary model.
void expect_models(const Golden& golden, const Json& expect, const Model& model) {
  const Json stage = model.inspect().at("stages").at(0);
  const Matrix w = rows_of(expect.at("w"));
  ASSERT_EQ(stage.at("binary").size(), expect.at("w").size());
  for (Index k = 0; k < w.rows(); ++k) {
    const Json& weights = stage.at(fmt::format("binary{}/weights", k));
    ASSERT_EQ(static_cast<Index>(weights.size()), w.cols());
    for (Index j = 0; j < w.cols(); ++j)
      EXPECT_NEAR(weights[static_cast<std::size_t>(j)].get<double>(), w(k, j), golden.tolerance("w")) << k;
    const auto at = static_cast<std::size_t>(k);
    EXPECT_NEAR(-stage.at("binary")[at].at("offset").get<double>(), expect.at("theta")[at].get<double>(),
                golden.tolerance("theta"));
  }
}

Prediction tested(const Golden& golden, const Json& task, const Model& model) {
  return model.predict({Features::dense(golden.csv(task, "Xtest")), std::nullopt}, context());
}

using Labelled = std::vector<std::int32_t>;

TEST(MulticlassGolden, OneVersusAll) {
  const Golden golden("06_ova_ovo");
  const Json& task = golden.task("ova");
  const Model model = fitted("logistic l2=0.02 tol=1e-10 multiclass=ova", golden.view(task));
  expect_models(golden, task.at("expect"), model);
  const Prediction prediction = tested(golden, task, model);
  EXPECT_EQ(prediction.index, task.at("expect").at("labels").get<Labelled>());
  EXPECT_LT((prediction.score - rows_of(task.at("expect").at("scores"))).cwiseAbs().maxCoeff(),
            golden.tolerance("scores"));
}

TEST(MulticlassGolden, OneVersusOne) {
  const Golden golden("06_ova_ovo");
  const Json& task = golden.task("ovo");
  const Model model = fitted("logistic l2=0.02 tol=1e-10 multiclass=ovo", golden.view(task));
  expect_models(golden, task.at("expect"), model);
  const Prediction prediction = tested(golden, task, model);
  EXPECT_EQ(prediction.index, task.at("expect").at("labels").get<Labelled>());
  // The decision values are votes plus less than one.
  EXPECT_EQ(Matrix(prediction.score.array().floor()), rows_of(task.at("expect").at("votes")));
}

double sigmoid(double score) { return 1 / (1 + std::exp(-score)); }

TEST(MulticlassGolden, VotesAndTheirTies) {
  const Golden golden("06_ova_ovo");
  const Json& task = golden.task("ovo_vote");
  const Matrix points = rows_of(task.at("points"));
  const Json& expect = task.at("expect");
  const Matrix votes = rows_of(expect.at("votes"));
  const Matrix sums = rows_of(expect.at("sum_prob"));
  for (Index i = 0; i < points.rows(); ++i) {
    SCOPED_TRACE(i);
    Vector score(3);
    for (Index k = 0; k < 3; ++k) {
      const Json& model = task.at("models")[static_cast<std::size_t>(k)];
      score[k] = points.row(i).dot(rows_of(Json::array({model.at("w")})).row(0)) - model.at("theta").get<double>();
    }
    const PairVotes found = pair_votes(score, score.unaryExpr(&sigmoid), 3);
    const auto at = static_cast<std::size_t>(i);
    EXPECT_EQ(found.votes, Vector(votes.row(i).transpose()));
    EXPECT_LT((found.sum_probability - sums.row(i).transpose()).cwiseAbs().maxCoeff(), golden.tolerance("sum_prob"));
    EXPECT_EQ(found.tied(), expect.at("tied")[at].get<bool>());
    EXPECT_EQ(found.winner(), expect.at("labels")[at].get<Index>());
  }
}

TEST(MulticlassGolden, EcocDecode) {
  const Golden golden("07_ecoc");
  const Json& task = golden.task("ecoc_decode");
  const Matrix code = golden.csv(task, "C");
  const Matrix codes = rows_of(task.at("codes"));
  const Json& expect = task.at("expect");
  for (Index i = 0; i < codes.rows(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Vector distance = code_distances(code, codes.row(i).transpose());
    EXPECT_EQ(first_largest(-distance), expect.at("labels")[at].get<Index>()) << i;
    EXPECT_EQ(distance.minCoeff(), expect.at("distance")[at].get<double>()) << i;
    EXPECT_EQ((distance.array() == distance.minCoeff()).count() > 1, expect.at("tied")[at].get<bool>()) << i;
  }
}

TEST(MulticlassGolden, EcocDiagnose) {
  const Golden golden("07_ecoc");
  const Json& task = golden.task("ecoc_diagnose");
  const CodeDiagnosis found = ecoc_diagnose(golden.csv(task, "C"));
  EXPECT_EQ(found.min_row_distance, task.at("expect").at("min_row_distance").get<Index>());
  EXPECT_EQ(found.corrects, task.at("expect").at("corrects").get<Index>());
  EXPECT_EQ(Json(found.equivalent_columns), task.at("expect").at("equivalent_columns"));
  EXPECT_TRUE(found.constant_columns.empty());
}

TEST(MulticlassGolden, Ecoc) {
  const Golden golden("07_ecoc");
  const Json& task = golden.task("ecoc");
  for (const std::string decode : {"hamming", "loss"}) {
    const std::string text = fmt::format("logistic l2=0.02 tol=1e-10 multiclass=ecoc decode={} code='{}'", decode,
                                         golden.path(task, "C").string());
    Recorder recorder;
    const Model model = fitted(text, golden.view(task), context().observed_by(&recorder));
    expect_models(golden, task.at("expect"), model);
    EXPECT_EQ(tested(golden, task, model).index, task.at("expect").at("labels_" + decode).get<Labelled>());
    const Json stage = model.inspect().at("stages").at(0);
    EXPECT_EQ(rows_of(stage.at("code")), golden.csv(task, "C"));
    EXPECT_EQ(stage.at("min_row_distance"), 2);
    EXPECT_EQ(stage.at("corrects"), 0);
    ASSERT_EQ(recorder.warnings.size(), 2U);
    EXPECT_EQ(recorder.warnings[0].first, "equivalent_code_columns");
    EXPECT_NE(recorder.warnings[0].second.find("1 and 4, 3 and 5, 3 and 6, 5 and 6"), std::string::npos);
    EXPECT_EQ(recorder.warnings[1].first, "weak_code");
  }
}

TEST(MulticlassGolden, NormalisedOneVersusAll) {
  const Golden golden("10_active_queries");
  const Json& task = golden.task("normalised_ova");
  const Matrix score = rows_of(task.at("scores"));
  const Matrix expected = rows_of(task.at("expect").at("P"));
  for (Index i = 0; i < score.rows(); ++i) {
    const Vector s = score.row(i).transpose();
    const Vector p = decode_ova(s, s.unaryExpr(&sigmoid)).probability;
    EXPECT_LT((p - expected.row(i).transpose()).cwiseAbs().maxCoeff(), golden.tolerance("P")) << i;
  }
}

}  // namespace multiclass_golden_test
}  // namespace ecotone::test
