// Model files of trees that are wrong.
#include <gtest/gtest.h>

#include "ecotone/base/files/tensor_file.h"
#include "ecotone/methods/learn/forest/forest.h"
#include "ecotone/methods/learn/trees/trees.h"
#include "methods/learn/trees/product_rows.h"

namespace ecotone::test {
namespace tree_files_test {

/// Every check of the reader: one entry changed at a time.
TEST(TreeFiles, HostileArraysAreRefused) {
  const Model model = fitted("trees rounds=3 leaves=4", product_view(200, 2));
  const StageState good = model.state(0);
  const auto with = [&](const char* name, std::size_t place, double value) {
    StageState bad = good;
    StageState::Array array = good.arrays().at(name);
    array.values.at(place) = value;
    bad.set(name, array);
    return code_of([&] { Trees::load(bad, {}, {4, Task::classify, {"c0", "c1"}}); });
  };
  EXPECT_EQ(code_of([&] { Trees::load(good, {}, {4, Task::classify, {"c0", "c1"}}); }), "none");
  const std::vector<std::tuple<const char*, std::size_t, double>> bad = {
      {"feature", 0, 4},     {"feature", 0, -1},     {"feature", 0, 0.5},   {"flags", 0, 16}, {"flags", 0, 2},
      {"left", 0, 0},        {"left", 0, 99},        {"left", 0, -99},      {"right", 2, -1}, {"tree_first", 0, 1},
      {"tree_first", 1, 9},  {"leaf_first", 1, 3},   {"level_first", 0, 1}, {"cover", 0, 0},  {"value", 0, nan},
      {"threshold", 0, nan}, {"start", 0, HUGE_VAL}, {"categorical", 0, 2}, {"gain", 0, nan}, {"importance", 0, nan}};
  for (const auto& [name, place, value] : bad) EXPECT_EQ(with(name, place, value), "bad_model") << name << " " << value;
  StageState loss = good;
  loss.info["loss"] = "softmax";
  EXPECT_EQ(code_of([&] { Trees::load(loss, {}, {4, Task::classify, {"c0", "c1"}}); }), "bad_model");
  EXPECT_EQ(code_of([&] { Trees::load(good, {}, {4, Task::regress, {}}); }), "bad_model");
  EXPECT_EQ(code_of([&] { Trees::load(good, {}, {2, Task::classify, {"c0", "c1"}}); }), "bad_model");
  loss.set("stop_loss", StageState::Array{{3, 0}, {}});
  for (const std::vector<std::string>& classes : std::vector<std::vector<std::string>>{{}, {"a"}, {"a", "b"}})
    EXPECT_EQ(code_of([&] { Trees::load(loss, {}, {4, Task::classify, classes}); }), "bad_model");
  StageState curves = good;
  curves.set("stop_loss", StageState::Array{{2, 1}, {1, 1}});
  EXPECT_EQ(code_of([&] { Trees::load(curves, {}, {4, Task::classify, {"c0", "c1"}}); }), "bad_model");
  for (const char* name : {"stop", "domains", "rounds", "monotone", "rate"}) {
    StageState without = good;
    without.info.erase(name);
    EXPECT_EQ(code_of([&] { Trees::load(without, {}, {4, Task::classify, {"c0", "c1"}}); }), "bad_model") << name;
  }
  const std::vector<std::pair<const char*, Json>> stops = {
      {"tried", Json::array({1e300})}, {"tried", Json::array({4294967300})}, {"folds", 1e300}, {"folds", -1}};
  for (const auto& [name, value] : stops) {
    StageState stop = good;
    stop.info["stop"][name] = value;
    EXPECT_EQ(code_of([&] { Trees::load(stop, {}, {4, Task::classify, {"c0", "c1"}}); }), "bad_model") << value;
  }
  const StageState forest = fitted("forest trees=2", product_view(100, 2)).state(0);
  EXPECT_EQ(code_of([&] { Forest::load(forest, {}, {4, Task::classify, {"c0", "c1"}}); }), "none");
  EXPECT_EQ(code_of([&] { Forest::load(forest, {}, {4, Task::classify, {}}); }), "bad_model");
  EXPECT_EQ(code_of([&] { Forest::load(forest, {}, {4, Task::classify, {"a", "b", "c"}}); }), "bad_model");
}

/// Rows whose last column has categories that matter.
TrainView category_view(Index rows, Index classes) {
  TrainView view = product_view(rows, 2, classes);
  Matrix x = view.x.to_matrix();
  for (Index i = 0; i < rows; ++i) {
    x(i, 3) = static_cast<double>(i % 9);
    if (i % 7 != 0) view.y.index[at(i)] = static_cast<std::int32_t>(i % 9 % classes);
  }
  view.x = Features::dense(x);
  return view;
}

/// Arrays of other lengths than the trees have.
TEST(TreeFiles, ArraysOfWrongLengthsAreRefused) {
  const TrainView view = category_view(120, 2);
  const StageInput input{4, Task::classify, {"c0", "c1"}};
  for (const std::string pipeline : {"trees rounds=3 leaves=5", "forest trees=3"}) {
    const StageState good = fitted_with_categories(pipeline, view, 9).state(0);
    const auto code = [&](const char* name, const auto& change) {
      StageState bad = good;
      StageState::Array array = good.arrays().at(name);
      change(array.values);
      array.shape = {std::ssize(array.values)};
      bad.set(name, array);
      return code_of([&] {
        if (pipeline.starts_with("trees"))
          Trees::load(bad, {}, input);
        else
          Forest::load(bad, {}, input);
      });
    };
    using Values = std::vector<double>;
    const auto longer = [](Values& values) { values.push_back(1); };
    const auto shorter = [](Values& values) { values.pop_back(); };
    ASSERT_EQ(code("gain", [](Values&) {}), "none");
    ASSERT_GE(good.arrays().at("level").values.size(), 2U);
    EXPECT_EQ(code("level_set", [](Values& values) { values.resize(values.size() + 32, 0.0); }), "bad_model");
    EXPECT_EQ(code("level_set", [](Values& values) { values.resize(values.size() - 32); }), "bad_model");
    EXPECT_EQ(code("level", [](Values& values) { values[1] = values[0]; }), "bad_model");
    for (const char* name : {"tree_first", "leaf_first", "feature", "threshold", "flags", "left", "right", "gain",
                             "value", "cover", "level", "level_first", "categorical", "importance"}) {
      EXPECT_EQ(code(name, longer), "bad_model") << pipeline << " " << name;
      EXPECT_EQ(code(name, shorter), "bad_model") << pipeline << " " << name;
    }
  }
}

/// Files whose numbers were changed at random load or are refused, and what loads answers or is refused.
TEST(TreeFiles, AThousandHostileFilesAreRefusedOrHarmless) {
  const TrainView view = category_view(200, 2);
  const Batch batch{view.x, std::nullopt, {}};
  const StageInput input{4, Task::classify, {"c0", "c1"}};
  const std::vector<double> bad = {-1,  0,   1,    2,     3,      0.5,      7,   255,
                                   256, 1e9, -1e9, 1e300, -1e300, HUGE_VAL, nan, 4294967295.0};
  for (const bool boosted : {true, false}) {
    const char* pipeline = boosted ? "trees rounds=4 leaves=6" : "forest trees=3 depth=4";
    const StageState good = fitted_with_categories(pipeline, view, 9).state(0);
    std::vector<std::string> names;
    for (const auto& [name, array] : good.arrays())
      if (!array.values.empty()) names.push_back(name);
    ASSERT_FALSE(good.arrays().at("level_set").values.empty());
    Random random(8, "hostile trees");
    Index refused = 0, answered = 0;
    for (int k = 0; k < 1000; ++k) {
      StageState state = good;
      for (std::uint64_t changes = 1 + random.below(3); changes > 0; --changes) {
        const std::string& name = names[random.below(names.size())];
        StageState::Array array = state.arrays().at(name);
        array.values[random.below(array.values.size())] = bad[random.below(bad.size())];
        state.set(name, array);
      }
      const std::string code = code_of([&] {
        const std::shared_ptr<const Fitted> loaded =
            boosted ? Trees::load(state, {}, input) : Forest::load(state, {}, input);
        EXPECT_EQ(loaded->predict(batch, context()).index.size(), 200U);
        if (boosted) {
          EXPECT_EQ(loaded->contributions(batch, context()).rows(), 200);
        }
      });
      EXPECT_TRUE(code == "none" || code == "bad_model" || code == "non_finite") << code;
      (code == "none" ? answered : refused) += 1;
    }
    EXPECT_GT(refused, 300) << pipeline;
    EXPECT_GT(answered, 50) << pipeline;
  }
}

/// All that a model of trees is asked.
void ask(const Model& model, const Features& x) {
  model.predict({x, std::nullopt, {}}, context());
  model.inspect();
  if (model.pipeline().text().starts_with("trees")) model.contributions({x, std::nullopt, {}}, context());
}

/// Bytes of whole files: one bit, or a run of bytes, changed anywhere, metadata and sizes included.
TEST(TreeFiles, ChangedBytesAreRefusedOrHarmless) {
  Random random(9, "tree files");
  for (const char* pipeline :
       {"trees rounds=3 leaves=5", "trees rounds=2 leaves=4 shape=symmetric", "forest trees=3"}) {
    for (const Index classes : {2, 3}) {
      const TrainView view = category_view(120, classes);
      const std::string good = fitted_with_categories(pipeline, view, 9).bytes();
      int refused = 0, answered = 0;
      for (int k = 0; k < 170; ++k) {
        std::string bytes = good;
        const std::uint64_t place = random.below(bytes.size());
        if (k % 2 == 0) {
          bytes[place] = static_cast<char>(bytes[place] ^ (1 << random.below(8)));
        } else {
          for (std::uint64_t i = place; i < std::min<std::uint64_t>(bytes.size(), place + 8); ++i)
            bytes[i] = static_cast<char>(random.below(256));
        }
        try {
          ask(Model::from_tensors(TensorFile::parse(bytes, "test.eco")), view.x);
          ++answered;
        } catch (const Error& error) {
          ASSERT_TRUE(error.kind() == ErrorKind::file || error.kind() == ErrorKind::data) << error.what();
          ++refused;
        }
      }
      EXPECT_GT(refused, 20) << pipeline;
      EXPECT_GT(answered, 10) << pipeline;
    }
  }
}

/// Integers are kept in as many bytes as they need.
TEST(TreeFiles, HoldIntegersAsIntegers) {
  const Model model = fitted_with_categories("trees rounds=3 leaves=5", category_view(120, 2), 9);
  const TensorFile file = TensorFile::parse(model.bytes(), "test.eco");
  EXPECT_EQ(file.tensor("0.feature").type, DType::i32);
  EXPECT_EQ(file.tensor("0.flags").type, DType::u8);
  EXPECT_EQ(file.tensor("0.threshold").type, DType::f64);
  ASSERT_EQ(file.tensor("0.level_set").type, DType::u8);
  EXPECT_EQ(file.tensor("0.level_set").elements() % 32, 0);
  EXPECT_GT(file.tensor("0.level_set").elements(), 0);
}

/// Format 2 had sets of categories as halves of words of 64 bits, and all arrays as F64.
TEST(TreeFiles, TheSecondFormatIsUpgraded) {
  const Model model = fitted_with_categories("trees rounds=3 leaves=5", category_view(120, 2), 9);
  const TensorFile file = TensorFile::parse(model.bytes(), "test.eco");
  const auto old = [&](double change) {
    TensorWriter writer;
    for (const auto& [key, value] : file.metadata()) writer.set_meta(key, key == "format_version" ? "2" : value);
    for (const std::string& name : file.names()) {
      std::vector<Index> shape = file.tensor(name).shape;
      std::vector<double> values = file.numbers(name, shape);
      if (name == "0.level_set") {
        std::vector<double> halves;
        for (std::size_t k = 0; k + 4 <= values.size(); k += 4)
          halves.push_back(values[k] + 256 * (values[k + 1] + 256 * (values[k + 2] + 256 * values[k + 3])) + change);
        shape = {std::ssize(halves)};
        values = std::move(halves);
      }
      writer.add(name, std::move(values), shape);
    }
    return writer.bytes();
  };
  EXPECT_TRUE(Model::from_tensors(TensorFile::parse(old(0), "old.eco")).bytes() == model.bytes());
  EXPECT_EQ(code_of([&] { Model::from_tensors(TensorFile::parse(old(0.5), "old.eco")); }), "bad_model");
}

}  // namespace tree_files_test
}  // namespace ecotone::test
