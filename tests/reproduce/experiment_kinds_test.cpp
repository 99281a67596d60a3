/// The kinds paths, domain_splits and projections, on small data whose answers are computed here by definition.

#include <filesystem>
#include <fstream>
#include <numeric>

#include "ecotone/report/json/json.h"
#include "ecotone/reproduce/experiment.h"
#include "ecotone/reproduce/public_data.h"
#include "reproduce/support.h"

namespace ecotone::test {
namespace experiment_kinds_test {

using ::testing::HasSubstr;

Experiment one_item(Json item) {
  item.update({{"title", "t"}, {"table", "one"}});
  return experiment_of({{"paper", "key"}, {"title", "Small"}, {"items", {item}}});
}
std::string refusal_of(const Json& item) {
  const Error error = error_of([&] { one_item(item); });
  EXPECT_EQ(error.code(), "bad_experiment");
  return error.what();
}
/// A folder that is removed at the end.
class Folder {
 public:
  explicit Folder(const std::string& name) : path(std::filesystem::path(::testing::TempDir()) / name) {
    std::filesystem::remove_all(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }

  void write(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories((path / name).parent_path());
    std::ofstream(path / name, std::ios::binary) << bytes;
  }

  std::filesystem::path path;
};

TEST(PublicData, FindsFilesGzippedOrInPartsAndSaysWhereOthersArePublished) {
  const Folder folder("ecotone_public_data");
  folder.write("mnist/train10k-images-idx3-ubyte.gz", "x");
  folder.write("cifar10/test_batch.bin", "x");
  EXPECT_EQ(data_file(folder.path, "mnist/train-images-idx3-ubyte"),
            folder.path / "mnist/train10k-images-idx3-ubyte.gz");
  EXPECT_EQ(data_file(folder.path, "cifar10/test_batch.bin"), folder.path / "cifar10/test_batch.bin");
  const Error missing = error_of([&] { (void)data_file(folder.path, "parkinsons/parkinsons_updrs.csv"); });
  EXPECT_EQ(missing.code(), "missing_data");
  EXPECT_THAT(missing.what(), HasSubstr("no parkinsons/parkinsons_updrs.csv in"));
  EXPECT_THAT(missing.what(), HasSubstr("UCI Machine Learning Repository, as CSV"));
  const Error none = error_of([&] { (void)data_file({}, "mnist/t10k-images-idx3-ubyte"); });
  EXPECT_EQ(none.code(), "no_data");
  EXPECT_THAT(none.what(), HasSubstr("--data or ECOTONE_DATA"));
}

// ---- paths

constexpr Index classes = 4, per_class = 20, pixels = 9;

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 255);
  return bytes;
}

/// Images of 3 x 3 pixels, class after class.
struct Pixels {
  Matrix x{classes * per_class, pixels};
  std::vector<Index> label;
};

Pixels write_images(const Folder& folder, const std::string& part, std::uint64_t seed) {
  Pixels made;
  Random random(seed, "paths-test");
  std::string images = big_endian(2051) + big_endian(classes * per_class) + big_endian(3) + big_endian(3);
  std::string labels = big_endian(2049) + big_endian(classes * per_class);
  for (Index i = 0; i < made.x.rows(); ++i) {
    made.label.push_back(i / per_class);
    labels += static_cast<char>(made.label.back());
    for (Index j = 0; j < pixels; ++j) {
      const double value = 100 + 60 * ((made.label.back() >> (j % 2) & 1) - 0.5) + 40 * random.normal();
      made.x(i, j) = std::clamp(std::round(value), 0.0, 255.0);
      images += static_cast<char>(static_cast<unsigned char>(made.x(i, j)));
    }
  }
  folder.write("mnist/" + part + "-images-idx3-ubyte", images);
  folder.write("mnist/" + part + "-labels-idx1-ubyte", labels);
  return made;
}

Json paths_item() {
  return Json::parse(R"({"kind": "paths", "metric": "auroc", "repetitions": 1,
    "panels": [{"panel": "one", "images": "mnist", "class": "2"}, {"panel": "pairs", "images": "mnist"}],
    "stages": {"mnist": "scale"}, "per_class": 20, "pairs": 30, "steps": 4, "at": [1, 4],
    "rules": ["greedy", "T-greedy"], "centring": ["none", "leak"], "shown": ["0"]})");
}

/// The share of pairs in order.
double pair_auroc(const std::vector<double>& positive, const std::vector<double>& negative) {
  double sum = 0;
  for (const double p : positive)
    for (const double n : negative) sum += p > n ? 1 : p == n ? 0.5 : 0;
  return sum / static_cast<double>(positive.size() * negative.size());
}

TEST(ExperimentPaths, RefusesImagesThatDoNotBelongTogether) {
  const Folder folder("ecotone_paths_classes");
  write_images(folder, "train", 1);
  write_images(folder, "t10k", 2);
  const Experiment experiment = one_item(paths_item());
  const auto refused = [&] {
    return error_of([&] { (void)reproduce(experiment, experiment.items[0], {.data = folder.path}, on(1)); });
  };
  std::string labels = big_endian(2049) + big_endian(classes * per_class);
  for (Index i = 0; i < classes * per_class; ++i) labels += static_cast<char>(i == 0 ? 9 : i / per_class);
  folder.write("mnist/train-labels-idx1-ubyte", labels);
  EXPECT_EQ(refused().code(), "different_classes");
  EXPECT_THAT(refused().what(), HasSubstr("of the classes 0, 1, 2, 3, 9, the test images of 0, 1, 2, 3"));
  write_images(folder, "train", 1);
  folder.write("mnist/t10k-images-idx3-ubyte", big_endian(2051) + big_endian(classes * per_class) + big_endian(3) +
                                                   big_endian(2) + std::string(classes * per_class * 6, 'a'));
  EXPECT_THAT(refused().what(), HasSubstr("a training image has 9 pixels, a test image 6"));
}

TEST(ExperimentPaths, TheFirstStepIsTheDefinition) {
  const Folder folder("ecotone_paths");
  Pixels train = write_images(folder, "train", 1);
  Pixels test = write_images(folder, "t10k", 2);
  const Experiment experiment = one_item(paths_item());
  ReproduceOptions options;
  options.data = folder.path;
  options.draw = true;
  const Reproduction result = reproduce(experiment, experiment.items[0], options, on(2));
  // Standardised over the training images.
  for (Index j = 0; j < pixels; ++j) {
    const double mean = train.x.col(j).mean();
    const double sd = std::sqrt((train.x.col(j).array() - mean).square().mean());
    for (Pixels* each : {&train, &test}) each->x.col(j) = (each->x.col(j).array() - mean) / sd;
  }
  const auto covariance = [&](Index domain, Index j) {  // E[x y] of 2 against one other digit
    return (train.x.col(j).segment(2 * per_class, per_class).sum() -
            train.x.col(j).segment(domain * per_class, per_class).sum()) /
           (2.0 * per_class);
  };
  const auto square = [&](Index domain, Index j) {
    return (train.x.col(j).segment(2 * per_class, per_class).squaredNorm() +
            train.x.col(j).segment(domain * per_class, per_class).squaredNorm()) /
           (2.0 * per_class);
  };
  double source = 0, target = 0;
  for (const Index held_out : {0, 1, 3}) {
    Index best = 0;
    double gain = -1, sign = 1;
    for (Index j = 0; j < pixels; ++j) {
      double mu = 0, x2 = 0;
      for (const Index d : {0, 1, 3}) {
        if (d == held_out) continue;
        mu += covariance(d, j) / 2;
        x2 += square(d, j) / 2;
      }
      if (mu * mu / x2 <= gain) continue;
      best = j;
      gain = mu * mu / x2;
      sign = mu > 0 ? 1 : -1;
    }
    const auto scores = [&](Index digit) {
      std::vector<double> values;
      for (Index i = 0; i < per_class; ++i) values.push_back(sign * test.x(digit * per_class + i, best));
      return values;
    };
    for (const Index d : {0, 1, 3}) (d == held_out ? target : source) += pair_auroc(scores(2), scores(d));
  }
  EXPECT_NEAR(cell(result, "one, greedy, source", "1").ours, source / 6, 1e-12);
  EXPECT_NEAR(cell(result, "one, greedy, target", "1").ours, target / 3, 1e-12);
  for (const char* column : {"1", "4"})
    for (const std::string panel : {"one", "one, leaking", "pairs"}) {
      const auto gap = [&](const std::string& rule) {
        return cell(result, panel + ", " + rule + ", source", column).ours -
               cell(result, panel + ", " + rule + ", target", column).ours;
      };
      EXPECT_NEAR(cell(result, panel + ", gap of greedy minus gap of T-greedy", column).ours,
                  gap("greedy") - gap("T-greedy"), 1e-12);
    }
  // T-greedy takes the largest |T|, so its first step has at least greedy's.
  const auto chart = std::ranges::find(result.figures.charts, "one, without 0, size of T", &LineChart::title);
  ASSERT_NE(chart, result.figures.charts.end());
  ASSERT_EQ(chart->lines.size(), 2U);
  EXPECT_GE(chart->lines[1].values[0], chart->lines[0].values[0]);
  // One chart of the mean and of the class shown for each of three panels, and one of T for each.
  EXPECT_EQ(result.figures.charts.size(), 9U);
  EXPECT_EQ(to_json(reproduce(experiment, experiment.items[0], options, on(1))), to_json(result));
}

TEST(ExperimentPaths, RefusesWrongFields) {
  const auto refused = [](const char* field, const Json& value) {
    Json item = paths_item();
    item[field] = value;
    return refusal_of(item);
  };
  EXPECT_THAT(refused("at", {1, 5}), HasSubstr("'at' must be a list of whole numbers in [1, 4], got 5"));
  EXPECT_THAT(refused("rules", {"greedi"}), HasSubstr("'rules' must be one of greedy, T-greedy, got 'greedi'"));
  EXPECT_THAT(refused("rules", {"T-greedy", "greedy"}), HasSubstr("both in this order"));
  EXPECT_THAT(refused("centring", {"target"}), HasSubstr("got 'target'"));
  EXPECT_THAT(refused("stages", {{"cifar10", "scale"}}), HasSubstr("'stages' has none for 'mnist'"));
  EXPECT_THAT(refused("stages", {{"mnist", "skale"}}), HasSubstr("did you mean 'scale'"));
  EXPECT_THAT(refused("metric", "accuracy"), HasSubstr("must be auroc"));
}

// ---- domain_splits

/// Three domains of four rows: y is 2 x in all, with a shift by domain.
const char* table =
    "site,x,y\na,0,0\na,1,2\na,2,4\na,3,6\nb,0,1\nb,1,3\nb,2,5\nb,3,7\nc,0,10\nc,1,12\nc,2,14\nc,3,16\n";

Json splits_item() {
  return Json::parse(R"({"kind": "domain_splits", "metric": "rmse", "repetitions": 1,
    "data": [{"data": "table", "file": "here/table.csv", "label": "y", "domain": "site"}],
    "train_domains": 0, "folds": 2,
    "columns": [{"column": "first", "data": "table", "learner": "least_squares l2={1000000,0}"},
                {"column": "second", "data": "table", "learner": "constant", "stages_of": "first"}],
    "rows": [{"row": "mean", "pipeline": "constant"}, {"row": "line", "stages": "scale"},
             {"row": "other", "stages": "scale", "in": {"first": "scale | least_squares l2=0"}}]})");
}

TEST(ExperimentDomainSplits, LeavesEachDomainOutAndChoosesWithinTheOthers) {
  const Folder folder("ecotone_splits");
  folder.write("here/table.csv", table);
  const Experiment experiment = one_item(splits_item());
  ReproduceOptions options;
  options.data = folder.path;
  options.draw = true;
  const Reproduction result = reproduce(experiment, experiment.items[0], options, on(2));
  EXPECT_EQ(cell(result, "mean", "first").repetitions, 3);
  // The mean of the others: 8.5, 8 and 3.5; the rows of a, b, c deviate from their own means 3, 4, 13 by sqrt(5).
  const double expected = (std::sqrt(5 + 5.5 * 5.5) + std::sqrt(5 + 16.0) + std::sqrt(5 + 9.5 * 9.5)) / 3;
  EXPECT_NEAR(cell(result, "mean", "first").ours, expected, 1e-12);
  // A line through the others misses by their mean shift alone; the huge penalty would be a constant.
  EXPECT_NEAR(cell(result, "line", "first").ours, (5.5 + 4 + 9.5) / 3, 1e-5);
  EXPECT_NEAR(cell(result, "other", "first").ours, cell(result, "line", "first").ours, 1e-5);
  EXPECT_NEAR(cell(result, "line", "second").ours, expected, 1e-12);
  ASSERT_EQ(result.figures.dots.size(), 2U);
  EXPECT_EQ(result.figures.dots[0].categories, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_NEAR(result.figures.dots[0].series[1].values[2], 9.5, 1e-5);
}

TEST(ExperimentDomainSplits, DrawsDomainsAndRows) {
  const Folder folder("ecotone_splits_drawn");
  folder.write("here/table.csv", table);
  Json item = splits_item();
  item["train_domains"] = 2;
  item["repetitions"] = 12;
  for (Json& column : item["columns"]) column["rows_per_domain"] = 2;
  const Experiment experiment = one_item(item);
  ReproduceOptions options;
  options.data = folder.path;
  const Reproduction result = reproduce(experiment, experiment.items[0], options, on(2));
  EXPECT_EQ(cell(result, "mean", "first").repetitions, 12);
  EXPECT_GT(*cell(result, "mean", "first").spread, 0.5);
  EXPECT_EQ(to_json(reproduce(experiment, experiment.items[0], options, on(7))), to_json(result));
  EXPECT_NE(to_json(reproduce(experiment, experiment.items[0], options, on(2, 1))), to_json(result));
  item["train_domains"] = 3;
  const Experiment all = one_item(item);
  EXPECT_EQ(error_of([&] { reproduce(all, all.items[0], options, on(1)); }).code(), "too_few_domains");
}

TEST(ExperimentDomainSplits, RefusesWrongFields) {
  const auto refused = [](const std::function<void(Json&)>& change) {
    Json item = splits_item();
    change(item);
    return refusal_of(item);
  };
  EXPECT_THAT(refused([](Json& item) { item["metric"] = "regret"; }), HasSubstr("must be one of rmse, mae"));
  EXPECT_THAT(refused([](Json& item) { item["columns"][1]["stages_of"] = "third"; }), HasSubstr("stages of 'third'"));
  EXPECT_THAT(refused([](Json& item) { item["columns"][0]["data"] = "tabel"; }), HasSubstr("the data 'tabel'"));
  EXPECT_THAT(refused([](Json& item) { item["rows"][1]["pipeline"] = "constant"; }),
              HasSubstr("'stages' or 'pipeline'"));
  EXPECT_THAT(refused([](Json& item) {
                item["rows"][2]["in"] = {{"thirst", "constant"}};
              }),
              HasSubstr("'thirst', which is not a column"));
  EXPECT_THAT(refused([](Json& item) { item["rows"][1]["stages"] = "skale"; }), HasSubstr("did you mean 'scale'"));
}

// ---- projections

Json projections_item() {
  return Json::parse(R"({"kind": "projections", "metric": "shares", "repetitions": 3,
    "generator": "wishart", "options": {"domains": "7", "rows": "30"}, "train_domains": 5, "neighbours": 5,
    "rows": [{"row": "plain", "stages": "kpca sigma=2 components=2"},
             {"row": "columns", "stages": "scale"},
             {"row": "invariant", "stages": "udica sigma=2 components=2 weight=1000000"}], "drawn": ["plain"]})");
}

TEST(ExperimentProjections, InvarianceBringsDomainsTogether) {
  const Experiment experiment = one_item(projections_item());
  ReproduceOptions options;
  options.draw = true;
  const Reproduction result = reproduce(experiment, experiment.items[0], options, on(2));
  EXPECT_LT(cell(result, "invariant", "distributional variance").ours,
            0.7 * cell(result, "plain", "distributional variance").ours);
  for (const char* row : {"plain", "columns", "invariant"}) {
    EXPECT_GT(cell(result, row, "KS").ours, 0);
    EXPECT_LT(cell(result, row, "KS").ours, 1);
    EXPECT_LT(cell(result, row, "R2").ours, 1);
  }
  ASSERT_EQ(result.figures.scatters.size(), 1U);
  const ScatterChart& chart = result.figures.scatters[0];
  ASSERT_EQ(chart.groups.size(), 3U);  // training rows and two unseen domains
  EXPECT_EQ(chart.groups[0].points.rows(), std::ssize(chart.groups[0].value));
  EXPECT_EQ(to_json(reproduce(experiment, experiment.items[0], options, on(1))), to_json(result));
}

TEST(ExperimentProjections, RefusesWrongFields) {
  Json item = projections_item();
  item["drawn"] = {"plane"};
  EXPECT_THAT(refusal_of(item), HasSubstr("'plane' is to be drawn"));
  item = projections_item();
  item["rows"][0]["stages"] = "scale | least_squares";
  EXPECT_THAT(refusal_of(item), HasSubstr("ends in a learner"));
  item = projections_item();
  item["train_domains"] = 7;
  const Experiment all = one_item(item);
  EXPECT_EQ(error_of([&] { reproduce(all, all.items[0], {}, on(1)); }).code(), "too_few_domains");
}

// ---- expected, sets, class_shares

/// Seven domains of 20 rows with so many of class 1, which a constant always answers. The last is unlike the others.
const std::vector<Index> ones = {14, 15, 14, 15, 14, 15, 2};

std::string table_of_ones() {
  std::string rows = "site,x,y\n";
  for (std::size_t d = 0; d < ones.size(); ++d)
    for (Index i = 0; i < 20; ++i) rows += fmt::format("s{},{},{}\n", d, i, i < ones[d] ? "one" : "none");
  return rows;
}

Reproduction trust_result(const Folder& folder, const std::string& kind, const std::string& more) {
  folder.write("here/table.csv", table_of_ones());
  const Json item = Json::parse(fmt::format(
      R"({{"kind": "{}", "metric": "accuracy", "repetitions": 1, {}
           "data": [{{"data": "table", "pipelines": ["constant"], "file": "here/table.csv", "label": "y",
                      "domain": "site"}}]}})",
      kind, more));
  const Experiment experiment = one_item(item);
  ReproduceOptions options;
  options.data = folder.path;
  return reproduce(experiment, experiment.items[0], options, on(2));
}

TEST(ExperimentTrust, ExpectedValuesAreComparedWithWhatComes) {
  const Folder folder("ecotone_expected");
  const Reproduction result = trust_result(folder, "expected", "");
  const double total = 89;
  double error = 0;
  for (const Index own : ones)
    error += 100.0 / 7 * std::abs(static_cast<double>(own) / 20 - (total - static_cast<double>(own)) / 120);
  EXPECT_NEAR(ours(result, "source", "table error"), error, 1e-9);
  // The other domains are alike and say nothing of the last; where it is among the others, intervals are wide.
  EXPECT_NEAR(ours(result, "source", "table covered"), 600.0 / 7, 1e-9);
  EXPECT_NEAR(ours(result, "source", "all covered"), 600.0 / 7, 1e-9);
  EXPECT_GT(ours(result, "source", "table width"), 20);
}

TEST(ExperimentTrust, SetsCoverTheRowsOfTheirClass) {
  const Folder folder("ecotone_sets");
  const Reproduction result = trust_result(folder, "sets", R"("level": 0.6, "methods": ["pooled"],)");
  EXPECT_NEAR(ours(result, "pooled", "table coverage"), 100 * 89.0 / 140, 1e-9);
  EXPECT_NEAR(ours(result, "pooled", "table size"), 1, 1e-12);
}

TEST(ExperimentTrust, SharesAreCorrectedWhereTheyDiffer) {
  const Experiment experiment = one_item(Json::parse(R"({"kind": "class_shares", "metric": "accuracy", "repetitions": 1,
    "data": [{"data": "drawn", "pipelines": ["logistic l2=0.01"], "generator": "exchangeable", "draws": 3, "last": true,
              "options": {"differ": "classes", "rows": "300", "domains": "9", "spread": "1.2"}}]})"));
  const Reproduction result = reproduce(experiment, experiment.items[0], {}, on(2));
  EXPECT_GT(ours(result, "always", "drawn"), ours(result, "none", "drawn") + 2);
  EXPECT_GT(ours(result, "replay", "drawn corrected"), 0);
}

}  // namespace experiment_kinds_test
}  // namespace ecotone::test
