// Every registered method: what all of them promise. A new method is covered by its line in methods.def.
#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <optional>

#include "ecotone/data/generate/generate.h"
#include "ecotone/methods/registry.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/text/text.h"
#include "methods/each_method.h"
#include "methods/support.h"

namespace ecotone::test {
namespace contract_test {

enum class Input {
  constant_feature,
  duplicate_rows,
  one_domain,
  one_row_domain,
  one_row_to_predict,
  new_domain,
  several_targets,
  more_columns_than_rows,
  two_rows,
  one_class,
  no_labels,
  no_target,
  missing_value,
  infinite_value,
  empty,
};

const std::map<Input, const char*> input_names = {{Input::constant_feature, "constant feature"},
                                                  {Input::duplicate_rows, "duplicate rows"},
                                                  {Input::one_domain, "one domain"},
                                                  {Input::one_row_domain, "a one-row domain"},
                                                  {Input::one_row_to_predict, "one row to predict"},
                                                  {Input::new_domain, "rows of a new domain"},
                                                  {Input::several_targets, "several targets"},
                                                  {Input::more_columns_than_rows, "more columns than rows"},
                                                  {Input::two_rows, "two rows to fit"},
                                                  {Input::one_class, "one class"},
                                                  {Input::no_labels, "no labels"},
                                                  {Input::no_target, "no target"},
                                                  {Input::missing_value, "NaN"},
                                                  {Input::infinite_value, "infinity"},
                                                  {Input::empty, "no rows"}};

constexpr const char* handled = "none";

/// What a family does with a hard input: `handled`, or the code of its refusal.
std::string promise(const Method& method, Input input) {
  const bool adapts = method.adapts();
  switch (input) {
    case Input::one_class:
      return method.can_predict() && !method.regression_only() ? "one_class" : handled;
    case Input::no_labels:
      return method.predicts() || method.needs_labels() ? "no_labels" : handled;
    case Input::no_target:
      return adapts ? "no_target" : handled;
    case Input::missing_value:
      return method.family == Family::prepare || !method.reads_features || method.takes_missing ? handled
                                                                                                : "non_finite";
    case Input::infinite_value:
      return method.reads_features && !method.takes_missing ? "non_finite" : handled;
    case Input::empty:
      return "empty_data";
    default:
      return handled;
  }
}

/// Where a method differs from its family, and why.
struct Exception {
  const char* method;
  Input input;
  const char* pipeline;  ///< fitted instead of the method with its defaults
  const char* expected;
  const char* reason;
};

const std::vector<Exception> exceptions = {
    {"constant", Input::one_class, "constant", handled, "the majority of one class is that class"},
    {"calibrate", Input::two_rows, "logistic l2=0.1 | calibrate", "no_cross_fit",
     "without either row one class is left"},
    {"adapt.prior", Input::two_rows, "logistic l2=0.1 | adapt.prior", "no_cross_fit",
     "without either row one class is left"},
    {"conformal", Input::one_domain, "logistic l2=0.1 | conformal", "needs_two_domains", "sets are for a new domain"},
    {"conformal", Input::two_rows, "logistic l2=0.1 | conformal", "needs_two_domains",
     "sets are for a new domain, and both rows are in one"},
    {"tgreedy", Input::one_domain, "tgreedy", "needs_two_domains", "T compares domains"},
    {"icp", Input::one_domain, "icp", "needs_two_domains", "it compares domains"},
    {"icp", Input::two_rows, "icp", "needs_two_domains", "it compares domains, and both rows are in one"},
    {"tgreedy", Input::two_rows, "tgreedy", "needs_two_domains", "T compares domains, and both rows are in one"},
};

/// Data and batch of a hard input. Families that need a target have one but for the input that takes it away.
struct HardCase {
  TrainView view;
  Batch batch;
};

void set_value(TrainView& view, Index row, Index column, double value) {
  Matrix x = view.x.to_matrix();
  x(row, column) = value;
  view.x = Features::dense(std::move(x));
}

HardCase hard_case(const Method& method, Input input, bool with_target) {
  const Index target_rows = with_target && input != Input::no_target ? 20 : 0;
  const Index rows = input == Input::two_rows ? 2 : 60;
  const Index cols = input == Input::more_columns_than_rows ? 100 : 3;
  TrainView view = overlapping(rows, cols, 2, input == Input::one_domain || rows == 2 ? 1 : 3, target_rows);
  HardCase result{view, {overlapping(25, cols, 2, 1).x, std::nullopt}};
  TrainView& v = result.view;
  switch (input) {
    case Input::constant_feature: {
      Matrix x = v.x.to_matrix();
      x.col(1).setConstant(0.1);
      v.x = Features::dense(std::move(x));
      break;
    }
    case Input::duplicate_rows: {
      Matrix x = v.x.to_matrix();
      for (Index i = 0; i < rows; ++i) x.row(i) = x.row(i % 30).eval();
      v.x = Features::dense(std::move(x));
      break;
    }
    case Input::one_row_domain:
      v.domain.names.push_back("single");
      v.role.push_back(Role::source);
      v.domain.index[7] = static_cast<std::int32_t>(v.domain.names.size()) - 1;
      break;
    case Input::one_row_to_predict:
      result.batch.x = result.batch.x.head(1);
      break;
    case Input::new_domain:
      result.batch.domain = Domains{{"new"}, std::vector<std::int32_t>(25, 0)};
      break;
    case Input::several_targets:
      if (target_rows == 0) break;
      v.domain.names.push_back("target 2");
      v.role.push_back(Role::target);
      for (Index i = rows; i < rows + target_rows; i += 2)
        v.domain.index[at(i)] = static_cast<std::int32_t>(v.domain.names.size()) - 1;
      break;
    case Input::one_class:
      v.y = class_labels({"only"}, std::vector<std::int32_t>(static_cast<std::size_t>(rows), 0));
      break;
    case Input::no_labels:
      v.y = no_labels();
      break;
    case Input::missing_value:
      set_value(v, 11, 1, nan);
      break;
    case Input::infinite_value:
      set_value(v, 11, 1, std::numeric_limits<double>::infinity());
      break;
    case Input::empty:
      v = view_of(Features::dense(Matrix(0, 3)), class_labels({"c0", "c1"}, {}));
      break;
    default:
      break;
  }
  v = suited(method, v);
  return result;
}

class Contract : public testing::TestWithParam<std::string> {
 protected:
  const Method& tested() const { return method(GetParam()); }
};

/// Texts that an option must refuse, from its declaration.
std::vector<std::string> bad_values(const OptionInfo& option) {
  const Limits& limits = option.limits;
  std::vector<std::string> bad;
  const auto outside = [&] {
    if (std::isfinite(limits.low)) bad.push_back(option_text(Json(limits.open_low ? limits.low : limits.low - 1)));
    if (std::isfinite(limits.high)) bad.push_back(option_text(Json(limits.open_high ? limits.high : limits.high + 1)));
  };
  switch (option.type) {
    case OptionType::boolean:
      return {"", "maybe", "2"};
    case OptionType::choice:
      return {"", "no_such_choice"};
    case OptionType::integer:
      outside();
      for (std::string& text : bad) text = text.substr(0, text.find('.'));
      bad.insert(bad.end(), {"", "many", "1.5", "99999999999999999999"});
      return bad;
    case OptionType::real:
    case OptionType::auto_real:
    case OptionType::word_or_real:
      outside();
      bad.insert(bad.end(), {"", "many", "nan", "inf", "1x"});
      return bad;
    case OptionType::numbers:
      outside();
      bad.insert(bad.end(), {"1,many", "1,,2", "nan"});
      return bad;
    case OptionType::texts:
    case OptionType::text:
    case OptionType::file:
      return {};
  }
  return {};
}

TEST_P(Contract, DefaultsAreValidAsTextAndAsJson) {
  const Pipeline pipeline = Pipeline::parse(with_defaults(tested()));
  EXPECT_EQ(pipeline.text(), with_defaults(tested()));
  OptionTexts texts;
  Json json = Json::object();
  for (const OptionInfo& option : tested().options) {
    EXPECT_FALSE(option.help.empty()) << option.name;
    if (option.type != OptionType::text && option.type != OptionType::texts && option.type != OptionType::file) {
      texts.emplace_back(option.name, option.default_value.is_string() ? option.default_value.get<std::string>()
                                                                       : option_text(option.default_value));
    }
    json[option.name] = option.default_value;
  }
  const Json expected = pipeline.stages().back().options.to_json();
  EXPECT_EQ(complete_options(GetParam(), tested().options, texts).to_json(), expected);
  EXPECT_EQ(complete_options(GetParam(), tested().options, json).to_json(), expected);
}

TEST_P(Contract, DescribesItself) {
  const Json json = to_json(tested());
  EXPECT_EQ(json["name"], GetParam());
  EXPECT_FALSE(json["summary"].get<std::string>().empty());
  EXPECT_TRUE(json["citation"].is_string());
  EXPECT_EQ(json["reference"] == "", json["citation"] == "") << "the glossary lacks " << json["citation"];
  EXPECT_TRUE(tested().when.ends_with('.')) << tested().when;
  EXPECT_EQ(json["options"].size(), tested().options.size());
  EXPECT_EQ(Json::parse(json.dump()), json) << "a limit that JSON cannot say";
}

/// On the data of the command that shows it: a table with classes and missing values, or counts.
TEST_P(Contract, ItsExampleCanBeFitted) {
  const Pipeline pipeline = Pipeline::parse(tested().example);
  EXPECT_TRUE(pipeline.predicts());
  EXPECT_TRUE(std::ranges::any_of(pipeline.stages(), [&](const Stage& s) { return s.method->name == GetParam(); }));
  EXPECT_THAT(example_command(tested()), testing::HasSubstr("\"" + tested().example + "\""));
  Dataset data = generate("clinics", {{"size", "0.2"}}, context());
  if (tested().adapts()) data.role.back() = Role::target;
  const TrainView view = suited(tested(), train_view(data, context()));
  EXPECT_NO_THROW(Model::fit(pipeline, view, data.schema, context()));
}

TEST_P(Contract, RefusesBadValuesByName) {
  for (const OptionInfo& option : tested().options) {
    for (const std::string& bad : bad_values(option)) {
      const auto parse = [&] { Pipeline::parse(fmt::format("{} {}='{}'", GetParam(), option.name, bad)); };
      EXPECT_EQ(code_of(parse), "bad_option") << option.name << "=" << bad;
      EXPECT_TRUE(message_of(parse).starts_with(fmt::format("{}: {} ", GetParam(), option.name))) << message_of(parse);
    }
  }
  EXPECT_EQ(code_of([&] { Pipeline::parse(GetParam() + " no_such_option=1"); }), "unknown_option");
}

/// The method alone, and where it can stand in the middle also in front of the baseline.
std::vector<std::string> pipelines_of(const Method& method) {
  if (method.predicts()) return {alone(method)};
  return {alone(method), alone(method) + " | constant"};
}

/// Blocks of 512 rows: source rows and the target's at the end.
TrainView blocks_of_rows(Index blocks) { return overlapping(blocks * 512 - 100, 6, 2, 4, 612); }

/// The same stored sparsely, about two thirds zeros, with row weights.
TrainView sparse_blocks_of_rows(Index blocks) {
  TrainView sparse = blocks_of_rows(blocks);
  Matrix x = sparse.x.to_matrix();
  for (Index j = 0; j < x.cols(); ++j) x.col(j).array() -= 10.0 * static_cast<double>(j) + 0.4;
  sparse.x = Features::sparse(to_csr(x.cwiseMax(0.0)));
  sparse.weight = Vector::LinSpaced(sparse.labelled(), 0.1, 3.0);
  return sparse;
}

/// More blocks than threads, and enough of them for sums in several levels; fewer where rows are compared with rows,
/// which takes minutes under a sanitizer.
Index blocks_for(const Method& method) {
  for (const char* name : {"svm", "dasvm", "weight.knn", "weight.kde", "weight.tars", "weight.kmm", "weight.kliep",
                           "weight.ulsif", "weight.rulsif"})
    if (method.name == name) return 4;
  for (const char* name : {"transport", "adapt.jdot"})  // every pair of rows
    if (method.name == name) return 2;
  return 21;
}

/// What a run gives, to compare bytes.
struct Outcome {
  std::string model;
  Prediction prediction;
  Matrix z;
};

Outcome outcome(const std::string& pipeline, const TrainView& view, int threads) {
  const Context run = context(threads);
  const Batch batch{view.x, view.domain};
  const Model model = fitted(pipeline, view, run);
  return {model.bytes(), model.pipeline().predicts() ? model.predict(batch, run) : Prediction{},
          model.transform(batch, run).to_matrix()};
}

/// A fixed penalty in place of a path of 15 in every fold, which takes a quarter of a minute under a sanitizer; paths
/// have tests of their own.
std::string with_fixed_penalty(const Method& method, std::string text) {
  const bool chooses = method.fit_with_refits && text == method.name &&
                       std::ranges::find(method.options, "l2", &OptionInfo::name) != method.options.end();
  return chooses ? text + " l2=0.01" : text;
}

TEST_P(Contract, EqualBytesForAnyNumberOfThreads) {
  const Index blocks = blocks_for(tested());
  for (const TrainView& view : {blocks_of_rows(blocks), sparse_blocks_of_rows(blocks)}) {
    ASSERT_GE(view.x.blocks(), blocks);
    const TrainView labelled = suited(tested(), view);
    for (const std::string& each : pipelines_of(tested())) {
      const std::string text = with_fixed_penalty(tested(), each);
      const Outcome expected = outcome(text, labelled, 1);
      for (const int threads : {2, 7}) {
        const Outcome found = outcome(text, labelled, threads);
        EXPECT_TRUE(found.model == expected.model) << text << " with " << threads << " threads";
        EXPECT_TRUE(same_bytes(found.prediction, expected.prediction)) << text << " with " << threads << " threads";
        EXPECT_TRUE(same_bytes(found.z, expected.z)) << text << " with " << threads << " threads";
      }
    }
  }
}

TEST_P(Contract, SavedAndLoadedIsTheSame) {
  const TrainView view = suited(tested(), overlapping(300, 4, 2, 3, 50));
  const Batch batch{view.x, view.domain};
  for (const std::string& text : pipelines_of(tested())) {
    const Model model = fitted(text, view);
    const Model loaded = reloaded(model);
    EXPECT_TRUE(loaded.bytes() == model.bytes()) << text;
    EXPECT_EQ(loaded.inspect().dump(), model.inspect().dump()) << text;
    EXPECT_TRUE(
        same_bytes(loaded.transform(batch, context()).to_matrix(), model.transform(batch, context()).to_matrix()))
        << text;
    if (model.pipeline().predicts()) {
      EXPECT_TRUE(same_bytes(loaded.predict(batch, context()), model.predict(batch, context()))) << text;
    }
  }
}

TEST_P(Contract, SeveralClassesAreSavedLoadedAndOnAnyNumberOfThreadsTheSame) {
  if (!tested().can_predict() || tested().regression_only()) return;
  const TrainView view = overlapping(300, 4, 3, 3, 50);
  const Batch batch{view.x, view.domain};
  for (const std::string& text : pipelines_of(tested())) {
    const Model model = fitted(text, view);
    const Model loaded = reloaded(model);
    EXPECT_TRUE(loaded.bytes() == model.bytes()) << text;
    EXPECT_TRUE(fitted(text, view, context(7)).bytes() == model.bytes()) << text;
    EXPECT_TRUE(
        same_bytes(loaded.transform(batch, context()).to_matrix(), model.transform(batch, context()).to_matrix()))
        << text;
    const Prediction prediction = model.predict(batch, context());
    EXPECT_TRUE(same_bytes(loaded.predict(batch, context()), prediction)) << text;
    ASSERT_EQ(prediction.probability.cols(), 3) << text;
    EXPECT_LT((prediction.probability.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-12) << text;
  }
}

TEST_P(Contract, LeavesTheCallersDataAlone) {
  const TrainView view = suited(tested(), overlapping(300, 4, 2, 3, 50));
  const Matrix x = view.x.to_matrix();
  const std::vector<std::int32_t> y = view.y.index;
  const Vector value = view.y.value;
  for (const std::string& text : pipelines_of(tested())) {
    const Model model = fitted(text, view);
    model.transform({view.x, view.domain}, context());
    if (model.pipeline().predicts()) model.predict({view.x, view.domain}, context());
    EXPECT_TRUE(same_bytes(view.x.to_matrix(), x)) << text;
    EXPECT_EQ(view.y.index, y) << text;
    EXPECT_TRUE(view.y.value == value) << text;
    EXPECT_EQ(view.weight.size(), 0) << text;
  }
}

/// Fits, transforms, predicts, and does it again after saving and loading.
void run_case(const std::string& pipeline, const HardCase& hard) {
  const Model model = fitted(pipeline, hard.view);
  const Matrix z = model.transform(hard.batch, context()).to_matrix();
  EXPECT_EQ(z.rows(), hard.batch.x.rows()) << pipeline;
  EXPECT_TRUE(z.allFinite()) << pipeline;
  const Model loaded = reloaded(model);
  EXPECT_TRUE(same_bytes(loaded.transform(hard.batch, context()).to_matrix(), z)) << pipeline;
  if (!model.pipeline().predicts()) return;
  const Prediction prediction = model.predict(hard.batch, context());
  if (prediction.task == Task::regress) {
    EXPECT_EQ(prediction.value.size(), hard.batch.x.rows()) << pipeline;
    EXPECT_TRUE(prediction.value.allFinite()) << pipeline;
    EXPECT_TRUE(same_bytes(loaded.predict(hard.batch, context()), prediction)) << pipeline;
    return;
  }
  EXPECT_EQ(prediction.probability.rows(), hard.batch.x.rows()) << pipeline;
  EXPECT_TRUE(prediction.probability.allFinite()) << pipeline;
  EXPECT_LT((prediction.probability.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-12) << pipeline;
  EXPECT_TRUE(same_bytes(loaded.predict(hard.batch, context()), prediction)) << pipeline;
}

TEST_P(Contract, HandlesOrRefusesHardInputs) {
  for (const auto& [input, name] : input_names) {
    std::string pipeline = alone(tested());
    std::string expected = promise(tested(), input);
    for (const Exception& exception : exceptions) {
      if (exception.method != GetParam() || exception.input != input) continue;
      pipeline = exception.pipeline;
      expected = exception.expected;
    }
    const HardCase hard = hard_case(tested(), input, tested().adapts());
    try {
      run_case(pipeline, hard);
      EXPECT_EQ(expected, handled) << GetParam() << " accepted " << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), expected) << GetParam() << " on " << name << ": " << error.what();
      EXPECT_NE(error.kind(), ErrorKind::internal) << error.what();
    }
  }
}

/// Forms of methods that their defaults do not reach on few rows, and what they refuse.
struct Form {
  const char* pipeline;
  std::map<Input, const char*> refused = {};
};

const std::vector<Form> forms = {
    {"scale by=domain | constant"},
    {"rank by=domain | constant"},
    {"align | constant"},
    {"align map=monge pool_sources=true | constant"},
    {"subspace | constant"},
    {"tca groups=two route=low_rank rank=20 components=5 | constant"},
    {"transport solver=exact | constant"},
    {"transport solver=class | constant"},
    {"weight.kmm rank=20 flatten=none | logistic l2=0.1"},
    {"weight.kliep sigma=20 centres=20 flatten=none | logistic l2=0.1"},
    {"weight.ulsif sigma=20 lam=0.1 centres=20 flatten=none | logistic l2=0.1"},
    {"weight.rulsif sigma=20 lam=0.1 centres=20 flatten=none | logistic l2=0.1"},
    {"weight.kde flatten=none | logistic l2=0.1", {{Input::more_columns_than_rows, "too_many_columns"}}},
    {"weight.tars flatten=none | logistic l2=0.1"},
    {"logistic l2=0.1 risk=vrex"},
    {"logistic l2=0.1 risk=irm"},
    {"logistic l2=0.1 risk=cvar"},
    {"groupdro base='trees rounds=5 leaves=4' rounds=3"},
};

class ContractOfForms : public testing::TestWithParam<Form> {};

/// Target rows are there for all of them, whether or not they are needed.
TEST_P(ContractOfForms, HandlesHardInputs) {
  const auto& [pipeline, refused] = GetParam();
  for (const Input input :
       {Input::constant_feature, Input::duplicate_rows, Input::one_row_domain, Input::one_row_to_predict,
        Input::new_domain, Input::several_targets, Input::more_columns_than_rows}) {
    const auto found = refused.find(input);
    const HardCase hard = hard_case(method("constant"), input, true);
    EXPECT_EQ(code_of([&] { run_case(pipeline, hard); }), found == refused.end() ? handled : found->second)
        << pipeline << " on " << input_names.at(input);
  }
}

INSTANTIATE_TEST_SUITE_P(FewRows, ContractOfForms, testing::ValuesIn(forms));

TEST_P(Contract, OfNumbersRefusesClasses) {
  if (!tested().regression_only()) return;
  const auto fit = [&] { fitted("scale | " + with_defaults(tested()), overlapping(60, 3, 2, 2)); };
  EXPECT_EQ(code_of(fit), "needs_numbers");
  EXPECT_TRUE(message_of(fit).starts_with(GetParam() + ": ")) << message_of(fit);
  EXPECT_NE(message_of(fit).find("--task regress"), std::string::npos) << message_of(fit);
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const Method& each : methods()) names.push_back(each.name);
  return names;
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(EveryMethod, Contract, testing::ValuesIn(all_names()), test_name);

}  // namespace contract_test
}  // namespace ecotone::test
