#include <filesystem>
#include <fstream>

#include "ecotone/base/files/tensor_file.h"
#include "ecotone/methods/registry.h"
#include "methods/support.h"

namespace ecotone::test {
namespace model_file_test {

/// A small model with every kind of content: indicators, two arrays, scalars, names that need escapes.
Model small_model() {
  TrainView view = overlapping(40, 2, 2, 2);
  Matrix x = view.x.to_matrix();
  x(3, 1) = nan;
  view.x = Features::dense(x, {"größe \"x\"", "b|c"});
  view.y.classes = {"no", "yes, 'maybe'"};
  return fitted("impute indicator=true | scale | logistic l2=0.1", view);
}

Model parse(const std::string& bytes) { return Model::from_tensors(TensorFile::parse(bytes, "test.eco")); }

/// A copy of a file with metadata changed.
class Rewriter {
 public:
  explicit Rewriter(const Model& model)
      : file_(TensorFile::parse(model.bytes(), "test.eco")), meta_(file_.metadata()) {}

  Rewriter& meta(const std::string& key, const std::string& value) {
    meta_[key] = value;
    return *this;
  }
  Rewriter& without(const std::string& key) {
    meta_.erase(key);
    return *this;
  }
  Rewriter& replace(const std::string& key, const std::string& from, const std::string& to) {
    std::string& text = meta_.at(key);
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from << " in " << text;
    if (at != std::string::npos) text.replace(at, from.size(), to);
    return *this;
  }
  Rewriter& array(const std::string& name, std::vector<double> values, std::vector<Index> shape) {
    arrays_[name] = {std::move(values), std::move(shape)};
    return *this;
  }
  Rewriter& without_array(const std::string& name) {
    dropped_ = name;
    return *this;
  }
  std::string bytes() const {
    TensorWriter writer;
    for (const auto& [key, value] : meta_) writer.set_meta(key, value);
    for (const std::string& name : file_.names()) {
      if (arrays_.contains(name) || name == dropped_) continue;
      const std::vector<Index> shape = file_.tensor(name).shape;
      writer.add(name, file_.numbers(name, shape), shape, file_.tensor(name).type);
    }
    for (const auto& [name, array] : arrays_) writer.add(name, array.first, array.second);
    return writer.bytes();
  }
  std::string code() const {
    return code_of([&] { parse(bytes()); });
  }
  std::string message() const {
    return message_of([&] { parse(bytes()); });
  }

 private:
  TensorFile file_;
  std::map<std::string, std::string> meta_;
  std::map<std::string, std::pair<std::vector<double>, std::vector<Index>>> arrays_;
  std::string dropped_;
};

/// Format 1 called the route of components lowrank.
TEST(ModelFile, TheFirstFormatIsUpgraded) {
  const Model model = fitted("kpca components=2 route=low_rank rank=9 | constant", overlapping(60, 3, 2, 3));
  Rewriter old(model);
  old.meta("format_version", "1").meta("pipeline", "kpca components=2 route=lowrank rank=9 | constant");
  old.replace("stages", "\"low_rank\"", "\"lowrank\"").replace("stages", "\"low_rank\"", "\"lowrank\"");
  ASSERT_EQ(old.code(), "none") << old.message();
  EXPECT_TRUE(parse(old.bytes()).bytes() == model.bytes());
  EXPECT_EQ(old.meta("format_version", "2").code(), "bad_model");
  // Models without such a stage have changed in nothing but the number.
  EXPECT_TRUE(parse(Rewriter(small_model()).meta("format_version", "1").bytes()).bytes() == small_model().bytes());
  for (const char* stages : {"7", "\"x\"", "[7]", "[{\"info\":7}]", "{}"})
    EXPECT_EQ(Rewriter(model).meta("format_version", "1").meta("stages", stages).code(), "bad_model") << stages;
}

TEST(ModelFile, RewrittenUnchangedItIsTheSameBytes) {
  const Model model = small_model();
  EXPECT_TRUE(Rewriter(model).bytes() == model.bytes());
  EXPECT_TRUE(parse(model.bytes()).bytes() == model.bytes());
}

TEST(ModelFile, OfNumbersHasNoClasses) {
  TrainView view = overlapping(30, 3, 2, 2);
  view.y = Labels{Task::regress, {}, {}, Vector::LinSpaced(30, 1, 4)};
  int tried = 0;
  for (const Method& method : methods()) {
    if (!method.regression_only()) continue;
    ++tried;
    Rewriter file(fitted("scale | " + method.name, view));
    EXPECT_EQ(file.code(), "none") << method.name;
    file.meta("task", "classify").meta("classes", R"(["a","b"])");
    EXPECT_EQ(file.code(), "bad_model") << method.name;
    EXPECT_NE(file.message().find("is for regression"), std::string::npos) << file.message();
  }
  EXPECT_GE(tried, 3);
}

TEST(ModelFile, SavesAndLoads) {
  const auto path = std::filesystem::temp_directory_path() / fmt::format("ecotone_model_test_{}.eco", ::getpid());
  const Model model = small_model();
  model.save(path);
  const Model loaded = Model::load(path);
  std::filesystem::remove(path);
  EXPECT_TRUE(loaded.bytes() == model.bytes());
  EXPECT_EQ(loaded.schema(), model.schema());
  EXPECT_EQ(code_of([&] { Model::load(path); }), code_of([&] { TensorFile::read(path); }));
}

TEST(ModelFile, TruncatedAtEveryLengthItIsRefused) {
  const std::string bytes = small_model().bytes();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    try {
      parse(bytes.substr(0, length));
      FAIL() << "loaded from " << length << " of " << bytes.size() << " bytes";
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::file) << length << ": " << error.what();
    }
  }
  EXPECT_EQ(code_of([&] { parse(bytes + '\0'); }), code_of([&] { TensorFile::parse(bytes + '\0', "x"); }));
}

TEST(ModelFile, AChangedByteIsRefusedOrLoadsAsWhatItSays) {
  const std::string bytes = small_model().bytes();
  int loaded = 0;
  int refused = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const int flip : {0x01, 0x40}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      try {
        const Model model = parse(changed);
        // Whatever was accepted is a whole model: it saves, loads and predicts.
        ASSERT_TRUE(parse(model.bytes()).bytes() == model.bytes()) << at;
        model.inspect();
        ++loaded;
        model.predict({Features::dense(Matrix::Zero(1, 2), model.features()), std::nullopt}, context(1));
      } catch (const Error& error) {
        ASSERT_TRUE(error.kind() == ErrorKind::file || error.kind() == ErrorKind::data) << at << ": " << error.what();
        refused += error.kind() == ErrorKind::file;
      }
    }
  }
  EXPECT_GT(loaded, 0);
  EXPECT_GT(refused, 500);
}

TEST(ModelFile, RefusesOtherFilesAndNewerFormats) {
  const Model model = small_model();
  EXPECT_EQ(Rewriter(model).meta("format", "ecotone-data").code(), "bad_model");
  EXPECT_EQ(Rewriter(model).without("format").code(), "bad_model");
  EXPECT_EQ(Rewriter(model).meta("format_version", "4").code(), "newer_format");
  EXPECT_NE(Rewriter(model).meta("format_version", "4").message().find("format 4"), std::string::npos);
  for (const char* number : {"0", "-1", "", "one", "1.0", "99999999999999999999"}) {
    EXPECT_EQ(Rewriter(model).meta("format_version", number).code(), "bad_model") << number;
  }
}

TEST(ModelFile, MetadataIsChecked) {
  const Model model = small_model();
  for (const char* key : {"pipeline", "schema", "task", "classes", "domains", "seed", "stages"}) {
    EXPECT_EQ(Rewriter(model).without(key).code(), "bad_model") << key;
    EXPECT_EQ(Rewriter(model).meta(key, "").code(), "bad_model") << key;
    EXPECT_EQ(Rewriter(model).meta(key, "[[]]").code(), "bad_model") << key;
    EXPECT_EQ(Rewriter(model).meta(key, std::string(100000, '[')).code(), "bad_model") << key;
    EXPECT_EQ(Rewriter(model).meta(key, std::string(100000, '[') + std::string(100000, ']')).code(), "bad_model")
        << key;
  }
  EXPECT_EQ(Rewriter(model).meta("pipeline", "impute indicator=true | scale | logistic l2=0.2").code(), "bad_model");
  EXPECT_EQ(Rewriter(model).meta("pipeline", "scale | logistic").code(), "bad_model");
  // The text leaves out defaults, which may have been others when the file was written.
  EXPECT_EQ(Rewriter(model).replace("stages", "\"max_iterations\":1000", "\"max_iterations\":77").code(), "none");
  EXPECT_EQ(Rewriter(model).meta("classes", "[\"a\",\"a\"]").code(), "bad_model");
  EXPECT_EQ(Rewriter(model).meta("classes", "[\"a\",\"b\",\"c\"]").code(), "bad_model");
  EXPECT_EQ(Rewriter(model).meta("classes", "[\"a\"]").code(), "bad_model");
  EXPECT_EQ(Rewriter(model).meta("task", "regress").code(), "bad_model");
  EXPECT_EQ(Rewriter(model).meta("seed", "-1").code(), "bad_model");
  // Codes would be numbers to impute, and rows with a feature per level would have more columns than its stages know.
  Json schema = Json::parse(TensorFile::parse(model.bytes(), "test.eco").meta("schema"));
  schema["columns"][0]["kind"] = "categorical";
  schema["columns"][0]["levels"] = {"a", "b", "c"};
  schema["columns"][0]["coded"] = true;
  EXPECT_EQ(Rewriter(model).meta("schema", schema.dump()).code(), "bad_model");
  EXPECT_EQ(Rewriter(model).replace("stages", "\"l2\":0.1", "\"l2\":-0.1").code(), "bad_model");
  EXPECT_EQ(Rewriter(model).replace("stages", "\"l2\":0.1", "\"l9\":0.1").code(), "bad_model");
  EXPECT_EQ(Rewriter(model).replace("stages", "\"scale\"", "\"shrink\"").code(), "bad_model");
  EXPECT_EQ(Rewriter(model).replace("stages", "\"kkt\":", "\"more\":1,\"kkt\":").code(), "bad_model");
  EXPECT_EQ(Rewriter(model).replace("stages", "\"offset\":", "\"offset\":null,\"o\":").code(), "bad_model");
}

TEST(ModelFile, ArraysAreChecked) {
  const Model model = small_model();
  EXPECT_EQ(Rewriter(model).without_array("1.mean").code(), "bad_model");
  EXPECT_EQ(Rewriter(model).without_array("1.mean").message(), "test.eco: stage 'scale': array 'mean' is missing");
  EXPECT_EQ(Rewriter(model).array("1.mean", {1, 2}, {2}).code(), "bad_model") << "three columns come from impute";
  EXPECT_EQ(Rewriter(model).array("1.mean", {1, 2, 3}, {1, 3}).code(), "bad_model");
  EXPECT_EQ(Rewriter(model).array("1.mean", {1, 2, nan}, {3}).code(), "bad_model");
  EXPECT_EQ(Rewriter(model).array("1.scale", {1, 2, 0}, {3}).code(), "bad_model");
  EXPECT_EQ(Rewriter(model).array("1.scale", {1, 2, -1}, {3}).code(), "bad_model");
  EXPECT_EQ(Rewriter(model).array("1.more", {1}, {1}).code(), "bad_model") << "unknown arrays";
  EXPECT_EQ(Rewriter(model).array("9.mean", {1}, {1}).code(), "bad_model");
  EXPECT_EQ(Rewriter(model).array("mean", {1}, {1}).code(), "bad_model");
  EXPECT_EQ(Rewriter(model).array("0.indicator_columns", {1.5}, {1}).code(), "bad_model");
  EXPECT_EQ(Rewriter(model).array("0.indicator_columns", {2}, {1}).code(), "bad_model");
  EXPECT_EQ(Rewriter(model).array("0.indicator_columns", {1e300}, {1}).code(), "bad_model");
  EXPECT_EQ(Rewriter(model).array("0.indicator_columns", {0, 0}, {2}).code(), "bad_model");
  EXPECT_EQ(Rewriter(model).array("2.weights", {1, 2, 3}, {1, 1, 3}).code(), "bad_model");
}

TEST(ModelFile, LongNamesTimesManyLevelsDoNotFillTheMemory) {
  Json levels = Json::array();
  for (int i = 0; i < 100000; ++i) levels.push_back(fmt::format("{:06d}", i));
  const Json schema = {{"columns", {{{"name", std::string(100000, 'n')}, {"kind", "categorical"}, {"levels", levels}}}},
                       {"label", ""},
                       {"domain", ""},
                       {"weight", ""}};
  EXPECT_EQ(Rewriter(small_model()).meta("schema", schema.dump()).code(), "bad_model");
}

TEST(ModelFile, NamesThatAreNotTextCannotBeSaved) {
  TrainView view = overlapping(10, 1, 2, 1);
  view.y.classes = {"a", "\xff"};
  const Model model = fitted("constant", view);
  EXPECT_EQ(code_of([&] { model.bytes(); }), "bad_encoding");
}

}  // namespace model_file_test
}  // namespace ecotone::test
