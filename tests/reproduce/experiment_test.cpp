#include "ecotone/reproduce/experiment.h"

#include "ecotone/measure/intervals.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/text/text.h"
#include "evaluate/support.h"

namespace ecotone::test {
namespace experiment_test {

using ::testing::HasSubstr;
using ::testing::Not;

/// A small experiment: the plain model, one without the features, and one that is the plain model in another column.
Json recipe() {
  return Json::parse(R"({
    "paper": "key", "title": "Small", "items": [{
      "example": "one", "title": "t", "kind": "shift", "metric": "error", "repetitions": 3, "margin": {"wide": 12},
      "columns": [{"column": "wide", "generator": "noshift", "options": {"test": "500", "features": "4"}},
                  {"column": "narrow", "generator": "misspecified", "options": {"test": "500"}}],
      "rows": [{"row": "plain", "pipeline": "logistic l2=0.01"},
               {"row": "constant", "pipeline": "constant", "in": {"narrow": "logistic l2=0.01"}}],
      "claims": [{"claim": "worse", "row": "constant", "column": "wide", "at_least": 1},
                 {"claim": "better", "row": "constant", "column": "wide", "at_most": -1}],
      "left_out": ["a row"]}]})");
}
Json published() {
  return Json::parse(R"({"source": "here", "numbers": [
    {"item": "one", "row": "plain", "column": "wide", "published": 22, "published_se": 5, "published_repetitions": 4},
    {"item": "one", "row": "constant", "column": "wide", "published": 90}]})");
}
Experiment parse(const Json& json, const Json& numbers = published()) {
  return parse_experiment("small", json.dump(), numbers.dump());
}
std::string refusal(const Json& json, const Json& numbers = published()) {
  const Error error = error_of([&] { parse(json, numbers); });
  EXPECT_EQ(error.kind(), ErrorKind::file);
  EXPECT_EQ(error.code(), "bad_experiment");
  return error.what();
}

TEST(Experiment, RunsAndSetsPublishedBesideOurs) {
  const Experiment experiment = parse(recipe());
  const Reproduction result = reproduce(experiment, experiment.item("one"), {}, on(2));
  ASSERT_EQ(result.rows.size(), 4U);
  const ReproducedRow& plain = result.rows[0];
  EXPECT_EQ(plain.row, "plain");
  EXPECT_EQ(plain.column, "wide");
  EXPECT_EQ(plain.repetitions, 3);
  EXPECT_EQ(plain.published, 22);
  EXPECT_EQ(plain.published_spread, 10);  // 5 sqrt(4)
  EXPECT_GT(plain.ours, 10);
  EXPECT_LT(plain.ours, 35);
  EXPECT_EQ(plain.verdict, Verdict::agrees);
  // The other rows are differences: the constant loses about 25 points, far from the number that is claimed here.
  EXPECT_GT(result.rows[1].ours, 10);
  EXPECT_EQ(result.rows[1].verdict, Verdict::differs);
  EXPECT_FALSE(result.rows[1].published_spread);
  // In the other column both rows are one pipeline.
  EXPECT_EQ(result.rows[3].ours, 0);
  EXPECT_EQ(result.rows[3].verdict, Verdict::none);
  EXPECT_EQ(result.claims[0].holds, true);
  EXPECT_EQ(result.claims[1].holds, false);
  const std::string table = reproduction_table(result);
  EXPECT_TRUE(table.starts_with("2 published cells: 1 agrees, 1 differs, 0 cannot tell\n")) << table;
  for (const char* part : {"small · example one: t", "22.00 ± 5.00", "holds           worse", "does not hold   better",
                           "left out: a row", "agrees if d and n are at most the margin"})
    EXPECT_THAT(table, HasSubstr(part));
}

TEST(Experiment, IsTheSameBytesForAnyNumberOfThreadsAndOtherForAnotherSeed) {
  const Experiment experiment = parse(recipe());
  const auto run = [&](int threads, std::uint64_t seed) {
    return to_json(reproduce(experiment, experiment.items[0], {}, on(threads, seed))).dump();
  };
  const std::string one = run(1, 0);
  EXPECT_EQ(run(2, 0), one);
  EXPECT_EQ(run(7, 0), one);
  EXPECT_NE(run(2, 1), one);
}

TEST(Experiment, JsonHasTheDesignsFields) {
  const Experiment experiment = parse(recipe());
  const Json json = to_json(reproduce(experiment, experiment.items[0], {.repetitions = 1, .data = {}}, on(2)));
  EXPECT_EQ(json["paper"], "key");
  EXPECT_EQ(json["item"], "one");
  for (const char* name :
       {"row", "column", "published", "published_spread", "ours", "spread", "repetitions", "verdict"})
    EXPECT_TRUE(json["rows"][0].contains(name)) << name;
  EXPECT_EQ(json["rows"][0]["repetitions"], 1);
  EXPECT_TRUE(json["rows"][0]["spread"].is_null());
  EXPECT_EQ(json["rows"][0]["verdict"], "cannot tell");
  EXPECT_TRUE(json["rows"][3]["verdict"].is_null());
  EXPECT_EQ(json["rows"][0]["margin"], 12);
  EXPECT_EQ(json["summary"],
            (Json{{"numbers", "published"}, {"cells", 2}, {"agree", 0}, {"differ", 0}, {"cannot_tell", 2}}));
  EXPECT_EQ(json["claims"][0]["at_least"], 1);
}

TEST(Experiment, VerdictsFollowTheRule) {
  ReproducedRow row;
  row.ours = 3;
  row.se = 0.3;
  EXPECT_EQ(verdict(row), Verdict::none);
  row.published = 4;
  EXPECT_EQ(verdict(row), Verdict::cannot_tell);  // no margin
  row.margin = 0.7;
  EXPECT_EQ(verdict(row), Verdict::differs);
  row.published_se = 0.41;  // 2 sqrt(0.3^2 + 0.41^2) = 1.016: the noise explains it
  EXPECT_EQ(verdict(row), Verdict::cannot_tell);
  row.published_se = 0.39;  // 0.984
  EXPECT_EQ(verdict(row), Verdict::differs);
  row.margin = 1;
  EXPECT_EQ(verdict(row), Verdict::agrees);
  row.published_se = 0.41;  // too noisy to say so
  EXPECT_EQ(verdict(row), Verdict::cannot_tell);
  row.se.reset();
  EXPECT_EQ(verdict(row), Verdict::cannot_tell);
}

TEST(Experiment, AnEarlierStudyIsNotCalledPublished) {
  Json numbers = published();
  numbers["earlier"] = true;
  Json json = recipe();
  json["items"][0]["processor"] = "ties";
  const Experiment experiment = parse(json, numbers);
  const Reproduction result = reproduce(experiment, experiment.items[0], {}, on(2));
  const std::string table = reproduction_table(result);
  EXPECT_TRUE(table.starts_with("2 cells of an earlier study: "));
  EXPECT_THAT(table, Not(HasSubstr("published")));
  EXPECT_THAT(table, HasSubstr("\ndepends on the processor: ties\n"));
  const Json out = to_json(result);
  EXPECT_FALSE(out["rows"][0].contains("published"));
  EXPECT_EQ(out["rows"][0]["earlier"], 22);
  EXPECT_EQ(out["processor"], "ties");
}

TEST(Experiment, ClaimsMayAllowForTheStandardError) {
  Json json = recipe();
  json["items"][0]["claims"] = Json::parse(R"([
    {"claim": "a", "row": "plain", "column": "wide", "at_most": 0, "errors": 1000},
    {"claim": "b", "row": "plain", "column": "wide", "at_most": 0, "errors": 0.001},
    {"claim": "c", "row": "plain", "column": "wide", "at_least": 99, "errors": 1000}])");
  const Experiment experiment = parse(json);
  const Reproduction result = reproduce(experiment, experiment.items[0], {}, on(2));
  EXPECT_EQ(result.claims[0].holds, true);
  EXPECT_EQ(result.claims[1].holds, false);
  EXPECT_EQ(result.claims[2].holds, true);
}

TEST(Experiment, ClaimsMayAskForNearness) {
  Json json = recipe();
  json["items"][0]["claims"] = Json::parse(R"([
    {"claim": "a", "row": "plain", "column": "wide", "near": 22, "near_se": 30},
    {"claim": "b", "row": "plain", "column": "wide", "near": 99, "near_se": 0.001}])");
  Experiment experiment = parse(json);
  const Reproduction result = reproduce(experiment, experiment.items[0], {}, on(2));
  EXPECT_EQ(result.claims[0].holds, true);
  EXPECT_EQ(result.claims[1].holds, false);
  EXPECT_EQ(to_json(result)["claims"][0]["near_se"], 30);
  // Near, but only because our own standard error is so large.
  experiment.items[0].claims[1].near = Nearness{result.claims[1].ours, 0.001};
  const Reproduction noisy = reproduce(experiment, experiment.items[0], {}, on(2));
  EXPECT_EQ(noisy.claims[1].holds, std::nullopt);
  EXPECT_TRUE(to_json(noisy)["claims"][1]["holds"].is_null());
  EXPECT_THAT(reproduction_table(noisy), HasSubstr("cannot tell     b (ours"));
  json["items"][0]["claims"][0]["minus"] = "constant";
  EXPECT_THAT(refusal(json), HasSubstr("'near' works without 'minus'"));
}

TEST(Experiment, NumbersOfAnotherProblemGetNoVerdict) {
  Json json = recipe();
  json["items"][0]["other_data"] = true;
  const Experiment experiment = parse(json);
  const Reproduction result = reproduce(experiment, experiment.items[0], {}, on(2));
  EXPECT_TRUE(result.rows[0].published);
  EXPECT_EQ(result.rows[0].verdict, Verdict::none);
  EXPECT_EQ(count_verdicts(result).cells, 0);
}

TEST(Experiment, TheSmallVersionHasItsOwnFields) {
  Json json = recipe();
  json["items"][0]["quick"] = Json::parse(R"({"repetitions": 2, "columns": [
    {"column": "narrow", "generator": "misspecified", "options": {"test": "100"}}]})");
  const Experiment quick = parse_experiment("small", json.dump(), published().dump(), true);
  EXPECT_EQ(quick.items[0].repetitions, 2);
  EXPECT_TRUE(quick.items[0].claims.empty());  // they are about the other column
  const Reproduction result = reproduce(quick, quick.items[0], {}, on(2));
  EXPECT_TRUE(result.quick);
  EXPECT_EQ(result.rows.size(), 2U);
  EXPECT_THAT(reproduction_table(result), HasSubstr("(small version)"));
  EXPECT_EQ(to_json(result)["quick"], true);
  // The item itself is what it was.
  const Experiment whole = parse(json);
  EXPECT_EQ(whole.items[0].repetitions, 3);
  EXPECT_EQ(whole.items[0].recipe, parse(recipe()).items[0].recipe);
  EXPECT_FALSE(to_json(reproduce(whole, whole.items[0], {}, on(2))).contains("quick"));
}

TEST(Experiment, AnItemMayBeTheSameAsAnother) {
  Json json = recipe();
  json["items"].push_back({{"figure", "one"}, {"title", "drawn"}, {"same_as", "example one"}});
  Json numbers = published();
  for (Json& number : numbers["numbers"]) number["item"] = "example one";
  const Experiment experiment = parse(json, numbers);
  const ExperimentItem& figure = experiment.item("one", "figure");
  EXPECT_EQ(figure.title, "drawn");
  EXPECT_EQ(figure.recipe, experiment.item("one", "example").recipe);
  EXPECT_TRUE(figure.claims.empty());
  const Reproduction result = reproduce(experiment, figure, {}, on(2));
  EXPECT_FALSE(result.rows[0].published);  // that is the example's
  EXPECT_EQ(result.rows[0].ours, reproduce(experiment, experiment.item("one", "example"), {}, on(2)).rows[0].ours);
  json["items"][1]["same_as"] = "table one";
  EXPECT_THAT(refusal(json, numbers), HasSubstr("the same as \"table one\", which is not before it"));
}

TEST(Experiment, SomeItemsMayStandBesideAnEarlierStudy) {
  Json json = recipe();
  json["items"].push_back(json["items"][0]);
  json["items"][1].erase("example");
  json["items"][1]["table"] = "two";
  Json numbers = published();
  numbers["earlier"] = {"table two"};
  numbers["earlier_source"] = "our notes";
  const Experiment experiment = parse(json, numbers);
  EXPECT_FALSE(experiment.is_earlier(experiment.item("one")));
  EXPECT_TRUE(experiment.is_earlier(experiment.item("two")));
  EXPECT_EQ(reproduce(experiment, experiment.item("one"), {}, on(2)).source, "here");
  const Reproduction result = reproduce(experiment, experiment.item("two"), {}, on(2));
  EXPECT_TRUE(result.earlier);
  EXPECT_EQ(result.source, "our notes");
  numbers["earlier"] = {"table three"};
  EXPECT_THAT(refusal(json, numbers), HasSubstr("no item 'table three'"));
}

TEST(Experiment, RefusesFieldsByName) {
  Json json = recipe();
  json["items"][0]["repetition"] = 3;
  EXPECT_EQ(refusal(json), "small/experiment.json: example 'one': unknown field 'repetition'");
  json = recipe();
  json["items"][0]["kind"] = "shfit";
  EXPECT_THAT(refusal(json), HasSubstr("unknown kind 'shfit'"));
  json = recipe();
  json["items"][0].erase("columns");
  EXPECT_THAT(refusal(json), HasSubstr("field 'columns' is missing"));
  json = recipe();
  json["items"][0]["rows"][0]["pipline"] = "x";
  EXPECT_THAT(refusal(json), HasSubstr("a row: unknown field 'pipline'"));
  json = recipe();
  json["items"][0]["rows"][1]["in"]["wiide"] = "constant";
  EXPECT_THAT(refusal(json), HasSubstr("'wiide', which is not a column"));
  json = recipe();
  json["items"][0]["rows"][0]["pipeline"] = "logitic";
  EXPECT_THAT(refusal(json), HasSubstr("did you mean 'logistic'"));
  json = recipe();
  json["items"][0]["columns"][0]["generator"] = "noshfit";
  EXPECT_THAT(refusal(json), HasSubstr("did you mean 'noshift'"));
  json = recipe();
  json["items"][0]["repetitions"] = 0;
  EXPECT_THAT(refusal(json), HasSubstr("'repetitions' must be a whole number"));
  json = recipe();
  json["items"][0]["claims"][0]["at_most"] = 2;
  EXPECT_THAT(refusal(json), HasSubstr("one of 'at_most', 'at_least' and 'near'"));
  json = recipe();
  json["items"][0]["margin"] = {{"narrow", 1}};
  EXPECT_THAT(refusal(json), HasSubstr("have a number beside ours but no 'margin'"));
  json["items"][0]["margin"] = -1;
  EXPECT_THAT(refusal(json), HasSubstr("'margin' must be a number > 0"));
  json = recipe();
  json["items"][0]["claims"][0]["errors"] = -1;
  EXPECT_THAT(refusal(json), HasSubstr("'errors' must be >= 0"));
  json = recipe();
  json["items"][0]["table"] = "1";
  EXPECT_THAT(refusal(json), HasSubstr("both example and table"));
  Json numbers = published();
  numbers["numbers"][0]["item"] = "two";
  EXPECT_THAT(refusal(recipe(), numbers), HasSubstr("no item 'two'"));
  EXPECT_THAT(error_of([] { parse_experiment("x", "{", "{}"); }).code(), "bad_experiment");
}

TEST(Experiment, RefusesNumbersAndClaimsOfCellsThatItDoesNotRun) {
  Json numbers = published();
  numbers["numbers"][0]["column"] = "wiide";
  EXPECT_THAT(refusal(recipe(), numbers), HasSubstr("row 'plain' and column 'wiide', which it does not run"));
  Json json = recipe();
  json["items"][0]["claims"][0]["row"] = "plane";
  EXPECT_THAT(refusal(json), HasSubstr("row 'plane' and column 'wide'"));
}

TEST(Experiment, ItemsAreFoundByTheirFlag) {
  const Experiment experiment = parse(recipe());
  EXPECT_EQ(experiment.item("one", "example").name, "one");
  const Error error = error_of([&] { (void)experiment.item("one", "table"); });
  EXPECT_EQ(error.code(), "unknown_item");
  EXPECT_THAT(error.what(), HasSubstr("--example one"));
  EXPECT_EQ(
      error_of([&] { reproduce(experiment, experiment.items[0], {.repetitions = 0, .data = "x"}, on(1)); }).code(),
      "idle_flag");
}

/// Rows of one guarded pipeline, in one column.
Json guard_recipe() {
  return Json::parse(R"({
    "paper": "key", "title": "Small", "items": [{
      "example": "one", "title": "t", "kind": "shift", "metric": "error", "repetitions": 4,
      "columns": [{"column": "wide", "generator": "misspecified", "options": {"source": "80", "target": "80", "test": "400"}}],
      "rows": [{"row": "plain", "pipeline": "logistic l2=0.01"},
               {"row": "adapted", "pipeline": "weight.logistic | logistic l2=0.01"},
               {"row": "guarded", "pipeline": "weight.logistic | logistic l2=0.01", "guard": true},
               {"row": "declined", "pipeline": "weight.logistic | logistic l2=0.01", "guard": true, "declined": true},
               {"row": "less", "pipeline": "weight.logistic | logistic l2=0.01", "guard": true, "minus": "adapted"},
               {"row": "less half", "pipeline": "weight.logistic | logistic l2=0.01", "guard": true, "minus": "adapted", "times": 0.5},
               {"row": "other", "pipeline": "constant", "minus": "constant too", "times": 1},
               {"row": "constant too", "pipeline": "constant"}]}]})");
}
const Json no_numbers = {{"source", "nowhere"}};

TEST(ExperimentShift, RowsOfTheGuardAndDifferencesOfRows) {
  const Experiment experiment = parse(guard_recipe(), no_numbers);
  const ExperimentItem& item = experiment.items[0];
  const Reproduction result = reproduce(experiment, item, {}, on(2));
  const auto ours = [&](const std::string& row) {
    return std::ranges::find(result.rows, row, &ReproducedRow::row)->ours;
  };
  ASSERT_EQ(result.rows.size(), 8U);
  EXPECT_NEAR(ours("less"), ours("guarded") - ours("adapted"), 1e-12);
  EXPECT_NEAR(ours("less half"), ours("guarded") - 0.5 * ours("adapted"), 1e-12);
  EXPECT_EQ(ours("other"), 0);
  EXPECT_NE(ours("constant too"), 0);
  // In one repetition the guard took one of the two: the other row's value is its own or 0.
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const Reproduction one = reproduce(experiment, item, {.repetitions = 1, .data = {}}, on(2, seed));
    EXPECT_TRUE(one.rows[3].ours == 0 || one.rows[3].ours == 100);
    EXPECT_EQ(one.rows[2].ours, one.rows[3].ours == 100 ? 0 : one.rows[1].ours);
  }
}

TEST(ExperimentShift, RefusesWrongFieldsOfTheGuard) {
  const auto refused = [](std::size_t row, const Json& fields) {
    Json json = guard_recipe();
    json["items"][0]["rows"][row].update(fields);
    return refusal(json, no_numbers);
  };
  EXPECT_THAT(refused(3, {{"guard", false}}), HasSubstr("'declined' of row 'declined' works only with 'guard'"));
  EXPECT_THAT(refused(3, {{"minus", "plain"}}), HasSubstr("'declined' of row 'declined' works only with 'guard'"));
  EXPECT_THAT(refused(2, {{"guard", "yes"}}), HasSubstr("'guard' must be true or false"));
  EXPECT_THAT(refused(4, {{"minus", "adopted"}}), HasSubstr("compared with 'adopted', which is not a row"));
  EXPECT_THAT(refused(5, {{"times", "half"}}), HasSubstr("'times' must be a number"));
  EXPECT_THAT(refused(0, {{"minus", "adapted"}}), HasSubstr("the first row is an error"));
}

Json choice_recipe() {
  return Json::parse(R"({
    "paper": "key", "title": "Small", "items": [{
      "table": "one", "title": "t", "kind": "choice", "metric": "regret", "repetitions": 1,
      "data": [{"data": "moons", "metric": "accuracy", "generator": "moons", "options": {"rows": "40", "test": "40"},
                "candidates": ["constant", "logistic l2={0.01,0.1}"]}]}]})");
}

TEST(ExperimentChoice, MeasuresWhatChoosingCosts) {
  const Experiment experiment = parse(choice_recipe(), no_numbers);
  const Reproduction result = reproduce(experiment, experiment.items[0], {}, on(2));
  EXPECT_TRUE(result.matrix);
  const auto cell = [&](const std::string& row, const std::string& column) -> const ReproducedRow& {
    return *std::ranges::find_if(result.rows, [&](const auto& r) { return r.row == row && r.column == column; });
  };
  EXPECT_EQ(cell("auto", "moons regret").repetitions, 3);  // source, target and test
  // What is lost by not adapting is what is lost by choosing and what choosing gains.
  for (const char* scorer : {"auto", "transfer", "reverse"})
    EXPECT_NEAR(cell("no adaptation", "moons regret").ours,
                cell(scorer, "moons regret").ours + cell(scorer, "moons gain").ours, 1e-12);
  EXPECT_GT(cell("no adaptation", "moons regret").ours, 0.1);
  const std::string table = reproduction_table(result);
  for (const char* part : {"means\n", "moons regret", "moons rank", "\nno adaptation"})
    EXPECT_THAT(table, HasSubstr(part));
  // Nothing is published, so nothing is said of it.
  for (const char* part : {"published", "agrees"}) EXPECT_THAT(table, ::testing::Not(HasSubstr(part)));
  EXPECT_EQ(to_json(reproduce(experiment, experiment.items[0], {}, on(1))), to_json(result));
}

TEST(ExperimentChoice, RefusesWrongFields) {
  const auto refused = [](const char* field, const Json& value) {
    Json json = choice_recipe();
    json["items"][0]["data"][0][field] = value;
    return refusal(json, no_numbers);
  };
  EXPECT_THAT(refused("metric", "acuracy"), HasSubstr("'metric' of data 'moons' is not a metric: 'acuracy'"));
  EXPECT_THAT(refused("generator", "moon"), HasSubstr("did you mean 'moons'"));
  EXPECT_THAT(refused("options", {{"row", "3"}}), HasSubstr("row"));
  EXPECT_THAT(refused("file", "x.csv"), HasSubstr("unknown field 'file'"));
  EXPECT_THAT(refused("candidates", {"scale"}), HasSubstr("does not end in a learner"));
  EXPECT_THAT(refused("candidates", Json::array()), HasSubstr("'candidates' must be a non-empty list"));
  Json twice = choice_recipe();
  twice["items"][0]["data"].push_back(twice["items"][0]["data"][0]);
  EXPECT_THAT(refusal(twice, no_numbers), HasSubstr("two data sets are called 'moons'"));
  Json file = choice_recipe();
  file["items"][0]["data"][0].erase("generator");
  file["items"][0]["data"][0].erase("options");
  file["items"][0]["data"][0].update({{"file", "x.csv"}, {"label", "y"}, {"domain", "site"}});
  const Experiment reads = parse(file, no_numbers);
  EXPECT_EQ(error_of([&] { reproduce(reads, reads.items[0], {}, on(1)); }).code(), "no_data");
}

Json records_recipe() {
  return Json::parse(R"({
    "paper": "key", "title": "Small", "items": [{
      "table": "one", "title": "t", "kind": "records", "metric": "score", "repetitions": 1,
      "rows": [{"row": "nothing", "pipeline": "@"}, {"row": "guess", "pipeline": "constant"},
               {"row": "coral", "pipeline": "coral | @"}, {"row": "numbers", "pipeline": "anchor", "task": "regress"}],
      "data": [{"data": "clinics", "before": "impute | scale", "learner": "logistic l2=0.01", "rows": 40,
                "generator": "clinics"}]}]})");
}

TEST(ExperimentRecords, SaysWhatEachRowGainsAndLoses) {
  const Experiment experiment = parse(records_recipe(), no_numbers);
  const Reproduction result = reproduce(experiment, experiment.items[0], {}, on(2));
  const auto found = [&](const std::string& row, const std::string& column) {
    return std::ranges::find_if(result.rows, [&](const auto& r) { return r.row == row && r.column == column; });
  };
  const auto value = [&](const std::string& row, const std::string& column) { return found(row, column)->ours; };
  EXPECT_EQ(found("nothing", "clinics")->repetitions, 8);  // domains
  EXPECT_EQ(value("nothing", "equal"), 8);
  EXPECT_EQ(value("nothing", "clinics worst"), 0);
  for (const char* row : {"guess", "coral", "guard"}) {
    EXPECT_EQ(value(row, "better") + value(row, "equal") + value(row, "worse"), 8) << row;
    EXPECT_LE(value(row, "clinics worst"), value(row, "clinics") - value("nothing", "clinics") + 1e-9) << row;
  }
  EXPECT_LT(value("guess", "clinics"), value("nothing", "clinics"));
  EXPECT_LE(value("guard", "better") + value("guard", "worse"), value("guard", "adapted"));
  EXPECT_EQ(found("numbers", "clinics"), result.rows.end());  // a row of another task
  EXPECT_EQ(to_json(reproduce(experiment, experiment.items[0], {}, on(1))), to_json(result));
}

TEST(ExperimentRecords, RefusesWrongFields) {
  const auto refused = [](const char* list, const char* field, const Json& value) {
    Json json = records_recipe();
    json["items"][0][list][0][field] = value;
    return refusal(json, no_numbers);
  };
  EXPECT_THAT(refused("rows", "row", "guess"), HasSubstr("two rows are called 'guess'"));
  EXPECT_THAT(refused("rows", "row", "guard"), HasSubstr("two rows are called 'guard'"));
  EXPECT_THAT(refused("rows", "task", "regress"), HasSubstr("the first row must be of every task"));
  EXPECT_THAT(refused("rows", "task", "rank"), HasSubstr("field 'task' is 'rank'"));
  EXPECT_THAT(refused("rows", "pipeline", "scale"), HasSubstr("does not end in a learner"));
  EXPECT_THAT(refused("data", "learner", "logstic"), HasSubstr("did you mean 'logistic'"));
  EXPECT_THAT(refused("data", "rows", 0), HasSubstr("'rows'"));
}

TEST(Experiment, SaysWhenRepetitionsAreFew) {
  Json json = recipe();
  json["items"][0]["repetitions"] = 40;
  const Experiment experiment = parse(json);
  Recorder recorder;
  const Context context({.threads = 2, .observer = &recorder});
  reproduce(experiment, experiment.items[0], {.repetitions = 2, .data = {}}, context);
  EXPECT_THAT(recorder.notes, ::testing::ElementsAre(HasSubstr("2 repetitions instead of the experiment's 40")));
  // As many as the recipe has is what it asks for, however few.
  const Experiment small = parse(recipe());
  reproduce(small, small.items[0], {}, context);
  EXPECT_EQ(recorder.notes.size(), 1U);
}

TEST(Experiment, AllThatAreBuiltInAreRight) {
  ASSERT_FALSE(embedded_experiments().empty());
  for (const EmbeddedExperiment& embedded : embedded_experiments()) {
    SCOPED_TRACE(embedded.name);
    const Experiment found = experiment(embedded.name);
    EXPECT_FALSE(found.items.empty());
    EXPECT_FALSE(found.source.empty());
    const Experiment quick = experiment(embedded.name, true);
    ASSERT_EQ(quick.items.size(), found.items.size());
    for (std::size_t i = 0; i < quick.items.size(); ++i)
      EXPECT_LE(quick.items[i].repetitions, found.items[i].repetitions) << quick.items[i].name;
  }
  EXPECT_EQ(error_of([] { (void)experiment("sayed2023"); }).code(), "unknown_experiment");
}

}  // namespace experiment_test
}  // namespace ecotone::test
