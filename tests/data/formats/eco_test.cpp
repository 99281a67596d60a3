#include "ecotone/data/formats/eco.h"

#include <cmath>

#include "data/formats/read_support.h"
#include "ecotone/base/files/file.h"
#include "ecotone/base/json.h"
#include "ecotone/base/random.h"

namespace ecotone {
namespace eco_test {

using namespace test;

Dataset sample(int rows) {
  Random random(3, "eco");
  std::string text = "site,a,color,w,b,y\n";
  static const char* const colors[] = {"red", "green", "\"dark, \"\"blue\"\"\"", ""};
  for (int i = 0; i < rows; ++i)
    text +=
        fmt::format("s{},{},{},{},{},{}\n", random.below(3), random.normal(), colors[random.below(4)], random.uniform(),
                    random.below(9) == 0 ? std::string() : fmt::format("{}", random.normal() * 1e9),
                    random.below(5) == 0 ? "" : (random.below(2) ? "yes" : "no"));
  return csv(text, {.label = "y", .domain = "site", .weight = "w", .target = {"s1"}});
}

TEST(Eco, DenseDataComeBack) {
  const Folder folder;
  const Dataset data = sample(1500);
  for (const int threads : {1, 2, 7}) {
    write_eco(data, folder.path("d.eco"), context_of(threads));
    const Dataset back = read_dataset({folder.path("d.eco")}, {}, context_of(threads));
    EXPECT_FALSE(back.x.storage().resident()) << "features stay in the file";
    expect_same(back, data);
  }
}

TEST(Eco, EqualDataGiveEqualBytes) {
  const Folder folder;
  write_eco(sample(1500), folder.path("a.eco"), context_of(1));
  write_eco(sample(1500), folder.path("b.eco"), context_of(7));
  EXPECT_EQ(read_text(folder.path("a.eco")), read_text(folder.path("b.eco")));
}

TEST(Eco, StreamedDataAreWrittenBlockByBlock) {
  const Folder folder;
  const Dataset data = sample(3000);
  write_csv(data, folder.path("d.csv"), context_of(2));
  const ReadOptions roles{.label = "y", .domain = "site", .weight = "w", .target = {"s1"}, .stream = true};
  write_eco(read_dataset({folder.path("d.csv")}, roles, context_of(2)), folder.path("d.eco"), context_of(2));
  expect_same(read_dataset({folder.path("d.eco")}, {}, context_of(2)), data);
}

TEST(Eco, SparseDataAndNumbersAsLabelsComeBack) {
  const Folder folder;
  const auto path = folder.write("d.svm", "0.5 1:1 3:2\n1.5 2:-1\n2.25\n");
  const Dataset data = read_dataset({path}, {}, context_of(1));
  ASSERT_EQ(data.y->task, Task::regress);
  write_eco(data, folder.path("d.eco"), context_of(1));
  const Dataset back = read_dataset({folder.path("d.eco")}, {}, context_of(1));
  EXPECT_TRUE(back.x.is_sparse());
  expect_same(back, data);
  const Dataset classes = read_dataset({folder.path("d.eco")}, {.task = Task::classify}, context_of(1));
  EXPECT_EQ(classes.y->classes, (std::vector<std::string>{"0.5", "1.5", "2.25"}));
}

TEST(Eco, OptionsMustFitTheFile) {
  const Folder folder;
  const Context context = context_of(1);
  const Dataset data = sample(200);
  const auto path = folder.path("d.eco");
  write_eco(data, path, context);
  expect_same(read_dataset({path}, {.label = "y", .domain = "site", .weight = "w"}, context), data);
  message_of("unknown_column", ErrorKind::data, [&] { read_dataset({path}, {.label = "a"}, context); });
  message_of("unknown_column", ErrorKind::data, [&] { read_dataset({path}, {.ignore = {"zzz"}}, context); });
  message_of("text_label", ErrorKind::data, [&] { read_dataset({path}, {.task = Task::regress}, context); });
  message_of("one_file", ErrorKind::option, [&] { read_dataset({path, path}, {}, context); });
  EXPECT_EQ(read_dataset({path}, {.ignore = {"color"}}, context).x.names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(read_dataset({path}, {.features = {"color"}}, context).x.cols(), 3);
  const Dataset other = read_dataset({path}, {.target = {"s2"}}, context);
  for (std::size_t d = 0; d < 3; ++d) EXPECT_EQ(other.role[d] == Role::target, other.domain.names[d] == "s2");
}

TEST(Eco, FilteredRowsKnowTheirNumberInTheFile) {
  const Folder folder;
  const Dataset data = csv("a,y\n1,u\n2,v\n3,u\n4,v\n", {.label = "y"});
  write_eco(data, folder.path("d.eco"), context_of(1));
  ReadOptions options;
  options.where = {"a>=2", "y==v"};
  EXPECT_EQ(read_dataset({folder.path("d.eco")}, options, context_of(1)).origin, (Origin{1, 3}));
}

TEST(Eco, WhereFiltersRows) {
  const Folder folder;
  const Context context = context_of(2);
  const Dataset data = sample(1500);
  const auto path = folder.path("d.eco");
  write_eco(data, path, context);
  const Matrix x = data.x.to_matrix();
  Index expected = 0;
  for (Index i = 0; i < data.rows(); ++i)
    expected += x(i, 0) > 0.5 &&
                data.domain.names[static_cast<std::size_t>(data.domain.index[static_cast<std::size_t>(i)])] == "s1" &&
                !data.y->missing(i);
  const Dataset part = read_dataset({path}, {.where = {"a>0.5", "site==s1", "y!="}}, context);
  EXPECT_EQ(part.rows(), expected);
  EXPECT_GT(part.x.to_matrix().col(0).minCoeff(), 0.5);
  EXPECT_EQ(part.domain.names, (std::vector<std::string>{"s1"}));
  message_of("empty_data", ErrorKind::data, [&] { read_dataset({path}, {.where = {"a>1e9"}}, context); });
}

/// A valid file of two rows, to be spoilt, without one of its arrays.
TensorWriter valid(bool sparse, const std::string& without = {}) {
  TensorWriter writer;
  writer.set_meta("format", "ecotone-data");
  writer.set_meta("format_version", "1");
  Schema schema;
  schema.columns = {{"a", ColumnKind::numeric, {}}, {"b", ColumnKind::numeric, {}}};
  schema.label = "label";
  writer.set_meta("schema", schema.to_json().dump());
  writer.set_meta("domains", R"(["d", "e"])");
  writer.set_meta("roles", R"(["source", "target"])");
  writer.set_meta("classes", R"(["0", "1"])");
  writer.set_meta("task", "classify");
  const auto add = [&](const std::string& name, auto values, std::vector<Index> shape) {
    if (name != without) writer.add(name, std::move(values), std::move(shape));
  };
  if (sparse) {
    add("x.row_start", std::vector<std::int64_t>{0, 1, 3}, {3});
    add("x.value", std::vector<double>{1, 2, 3}, {3});
    if (without != "x.column")
      writer.add_stream("x.column", DType::i32, {3}, [](const TensorWriter::Sink& sink) {
        const std::vector<std::int32_t> columns = {1, 0, 1};
        sink(std::as_bytes(std::span(columns)));
      });
  } else {
    add("x", std::vector<double>{1, 2, 3, 4}, {2, 2});
  }
  add("domain", std::vector<std::int64_t>{0, 1}, {2});
  add("label", std::vector<std::int64_t>{1, -1}, {2});
  return writer;
}

Dataset parse(const TensorWriter& writer) {
  return read_eco(TensorFile::parse(writer.bytes(), "bad.eco"), {}, context_of(1));
}

void expect_refused(const TensorWriter& writer) {
  try {
    parse(writer);
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::file) << error.what();
    EXPECT_NE(std::string(error.what()).find("bad.eco"), std::string::npos) << error.what();
  }
}

/// With another array in place of the valid one.
template <class T>
void expect_refused(bool sparse, const std::string& name, std::vector<T> values, std::vector<Index> shape) {
  TensorWriter writer = valid(sparse, name);
  writer.add(name, std::move(values), std::move(shape));
  SCOPED_TRACE(name);
  expect_refused(writer);
}

void expect_meta_refused(const std::string& key, const std::string& value) {
  TensorWriter writer = valid(false);
  writer.set_meta(key, value);
  SCOPED_TRACE(key + " " + value);
  expect_refused(writer);
}

TEST(Eco, HostileFilesAreRefused) {
  EXPECT_EQ(parse(valid(false)).rows(), 2);
  EXPECT_EQ(parse(valid(true)).rows(), 2);
  using Integers = std::vector<std::int64_t>;
  expect_refused(false, "domain", Integers{0, 2}, {2});
  expect_refused(false, "domain", Integers{0, -1}, {2});
  expect_refused(false, "domain", Integers{0, 1, 0}, {3});
  expect_refused(false, "label", Integers{0, 2}, {2});
  expect_refused(false, "label", Integers{0, -2}, {2});
  expect_refused(false, "label", Integers{0, std::int64_t{1} << 32}, {2});
  expect_refused(false, "x", std::vector<double>{1, 2}, {2, 1});
  expect_refused(false, "x", std::vector<double>{1, 2}, {2});
  expect_refused(false, "weight", std::vector<double>{1}, {1});
  expect_meta_refused("domains", "[1, 2]");
  expect_meta_refused("domains", "nonsense");
  expect_meta_refused("roles", R"(["source"])");
  expect_meta_refused("roles", R"(["source", "king"])");
  expect_meta_refused("classes", R"(["0", "0"])");
  expect_meta_refused("task", "guess");
  expect_meta_refused("schema", "{}");
  expect_meta_refused("format", "ecotone-model");
  expect_meta_refused("format_version", "4");
  expect_refused(true, "x.row_start", Integers{0, 3, 1}, {3});
  expect_refused(true, "x.row_start", Integers{0, 5, 3}, {3});
  expect_refused(true, "x.row_start", Integers{1, 1, 3}, {3});
  expect_refused(true, "x.row_start", Integers{0, 2, 3}, {3});
  expect_refused(true, "x.row_start", Integers{0, -1, 3}, {3});
  expect_refused(true, "x.value", std::vector<double>{1, 2}, {2});
  expect_refused(true, "x.column", Integers{0, 0, 1}, {3});
}

TEST(Eco, HostilePairsAreRefused) {
  using Integers = std::vector<std::int64_t>;
  const auto with_pairs = [](Integers first, Integers second, Integers partner, bool sparse) {
    TensorWriter writer = valid(sparse);
    writer.set_meta("format_version", "2");
    const auto add = [&](const char* name, Integers& values) {
      const auto size = static_cast<Index>(values.size());
      writer.add(name, std::move(values), {size});
    };
    add("pair.first", first);
    add("pair.second", second);
    add("partner", partner);
    return writer;
  };
  EXPECT_EQ(parse(with_pairs({0, 1}, {1, 0}, {1, -1}, false)).x.to_matrix()(0, 0), 3);
  expect_refused(with_pairs({0, 2}, {1, 0}, {1, -1}, false));
  expect_refused(with_pairs({0, 1}, {1, -1}, {1, -1}, false));
  expect_refused(with_pairs({0, 1}, {1}, {1, -1}, false));
  expect_refused(with_pairs({0}, {1}, {1}, false));
  expect_refused(with_pairs({0, 1}, {1, 0}, {2, -1}, false));
  expect_refused(with_pairs({0, 1}, {1, 0}, {1}, false));
  expect_refused(with_pairs({0, 1}, {1, 0}, {1, -1}, true));
}

TEST(Eco, NewerFormatIsNamed) {
  TensorWriter writer = valid(false);
  writer.set_meta("format_version", "4");
  message_of("newer_format", ErrorKind::file, [&] { parse(writer); });
}

}  // namespace eco_test
}  // namespace ecotone
