#include <zlib.h>

#include <chrono>
#include <cmath>

#include "data/formats/read_support.h"
#include "ecotone/base/random.h"

namespace ecotone {
namespace read_files_test {

using namespace test;

std::string gzip(std::string_view text) {
  z_stream stream{};
  if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::runtime_error("deflate");
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// Numbers, a text column, missing values and three domains.
std::string table(int rows) {
  Random random(5, "table");
  std::string text = "site,a,color,b,y\n";
  static const char* const colors[] = {"red", "green", "\"dark, blue\"", ""};
  for (int i = 0; i < rows; ++i)
    text += fmt::format("s{},{},{},{},{}\n", random.below(3), random.normal(), colors[random.below(4)],
                        random.below(9) == 0 ? std::string("NA") : std::to_string(random.below(1000)), random.below(2));
  return text;
}

const ReadOptions roles{.label = "y", .domain = "site"};

TEST(ReadFiles, CompressedIsTheSame) {
  const Folder folder;
  const std::string text = table(3000);
  const Context context = context_of(2);
  const Dataset plain = read_dataset({folder.write("t.csv", text)}, roles, context);
  expect_same(read_dataset({folder.write("t.csv.gz", gzip(text))}, roles, context), plain);
  EXPECT_EQ(plain.rows(), 3000);
}

TEST(ReadFiles, TruncatedAndDamagedGzip) {
  const Folder folder;
  std::string bytes = gzip(table(3000));
  const auto cut = folder.write("cut.csv.gz", std::string_view(bytes).substr(0, bytes.size() / 2));
  message_of("truncated_gzip", ErrorKind::file, [&] { read_dataset({cut}, roles, context_of(1)); });
  bytes[bytes.size() / 2] = static_cast<char>(~bytes[bytes.size() / 2]);
  const auto bad = folder.write("bad.csv.gz", bytes);
  EXPECT_THROW(read_dataset({bad}, roles, context_of(1)), Error);
}

TEST(ReadFiles, SeveralFilesAreMatchedByName) {
  const Folder folder;
  const auto one = folder.write("north.csv", "a,b,y\n1,2,0\n3,4,1\n");
  const auto two = folder.write("south.csv", "y;b;a\n1;20;10\n");
  const Dataset data = read_dataset({one, two}, {.label = "y", .domain_from_file = true}, context_of(1));
  Matrix expected(3, 2);
  expected << 1, 2, 3, 4, 10, 20;
  EXPECT_EQ(data.x.to_matrix(), expected);
  EXPECT_EQ(data.domain.names, (std::vector<std::string>{"north", "south"}));
  EXPECT_EQ(data.domain.index, (std::vector<std::int32_t>{0, 0, 1}));
  EXPECT_EQ(data.y->index, (std::vector<std::int32_t>{0, 1, 1}));
  const auto short_one = folder.write("short.csv", "a,y\n1,0\n");
  const std::string message = message_of("missing_column", ErrorKind::data, [&] {
    read_dataset({one, short_one}, {.label = "y"}, context_of(1));
  });
  EXPECT_NE(message.find("short.csv: no column 'b'"), std::string::npos) << message;
  message_of("missing_column", ErrorKind::data, [&] { read_dataset({short_one, one}, {.label = "y"}, context_of(1)); });
  EXPECT_EQ(read_dataset({one, short_one}, {.label = "y", .ignore = {"b"}}, context_of(1)).rows(), 3);
  message_of("duplicate_domain", ErrorKind::option, [&] {
    read_dataset({one, one}, {.domain_from_file = true}, context_of(1));
  });
  message_of("mixed_formats", ErrorKind::option, [&] {
    read_dataset({one, folder.write("x.svm", "1 1:2\n")}, {}, context_of(1));
  });
}

TEST(ReadFiles, MissingFilesAndFolders) {
  const Folder folder;
  EXPECT_THROW(read_dataset({folder.path("none.csv")}, {}, context_of(1)), Error);
  EXPECT_THROW(read_dataset({folder.path("")}, {}, context_of(1)), Error);
  message_of("no_files", ErrorKind::option, [] { read_dataset({}, {}, context_of(1)); });
}

TEST(ReadFiles, StreamedIsTheSame) {
  const Folder folder;
  const std::string text = table(5000);
  const auto path = folder.write("t.csv", text);
  for (const ReadOptions& roles : {roles, ReadOptions{.label = "y", .domain = "site", .where = {"a>-0.5", "b!="}}}) {
    const Dataset dense = read_dataset({path}, roles, context_of(2));
    for (const std::size_t bytes : {100, 5000, 1 << 20}) {
      const Dataset streamed = read_csv({ByteSource::open(path, context_of(1))}, roles,
                                        {.segment_bytes = bytes, .stream = true}, context_of(2));
      EXPECT_FALSE(streamed.x.storage().resident());
      EXPECT_GT(streamed.x.blocks(), 4);
      expect_same(streamed, dense);
      const std::vector<Index> some = {7, 3, 1200, 1201, 5, 5};
      EXPECT_TRUE(same_bytes(streamed.x.take(some).to_matrix(), dense.x.take(some).to_matrix()));
    }
  }
  const Dataset many = read_dataset({path, path}, {.label = "y", .domain = "site", .stream = true}, context_of(2));
  EXPECT_EQ(many.rows(), 10'000);
  EXPECT_TRUE(
      same_bytes(many.x.to_matrix().bottomRows(5000), read_dataset({path}, roles, context_of(1)).x.to_matrix()));
}

TEST(ReadFiles, StreamedNoticesThatTheFileChanged) {
  const Folder folder;
  const std::string text = table(3000);
  const auto path = folder.write("t.csv", text);
  ReadOptions options = roles;
  options.stream = true;
  const Dataset data = read_dataset({path}, options, context_of(1));
  Scratch scratch;
  data.x.block(2, scratch);
  std::filesystem::resize_file(path, text.size() / 2);
  message_of("file_changed", ErrorKind::file, [&] { data.x.block(4, scratch); });
  // The size is right again but the time is not.
  folder.write("t.csv", text);
  std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) + std::chrono::seconds(3));
  message_of("file_changed", ErrorKind::file, [&] { data.x.block(4, scratch); });
}

TEST(ReadFiles, AFileThatShrinksBetweenOpeningAndReading) {
  const Folder folder;
  const std::string text = table(3000);
  const auto path = folder.write("t.csv", text);
  const ByteSource source = ByteSource::open(path, context_of(1));
  std::filesystem::resize_file(path, text.size() - 100);
  const std::string message =
      message_of("file_changed", ErrorKind::file, [&] { read_csv({source}, roles, {}, context_of(2)); });
  EXPECT_NE(message.find("t.csv"), std::string::npos);
}

TEST(ReadFiles, RowsThatVanishBetweenThePasses) {
  // The scan saw three records; the text that is then parsed has fewer.
  RowPlan plan;
  plan.fields = {{FieldUse::feature, false, 0}};
  plan.names = {"a"};
  const ByteSource source = ByteSource::memory("", "t.csv");
  std::string text = "1\n2\n";
  text.resize(text.size() + csv_padding);
  std::vector<double> x(3);
  RowTarget target;
  target.x = x.data();
  target.x_stride = 1;
  message_of("file_changed", ErrorKind::file, [&] { parse_rows(source, {text, 0}, 3, {}, plan, target); });
  std::string open = "\"1\n2\n";
  open.resize(open.size() + csv_padding);
  message_of("file_changed", ErrorKind::file, [&] { parse_rows(source, {open, 0}, 1, {}, plan, target); });
}

TEST(ReadFiles, FormatsByNameAndContent) {
  const Folder folder;
  EXPECT_EQ(read_dataset({folder.write("a.txt", "a,b\n1,2\n")}, {}, context_of(1)).x.cols(), 2);
  const Dataset sparse = read_dataset({folder.write("b.txt", "1 1:2 5:1\n-1 2:3\n")}, {}, context_of(1));
  EXPECT_TRUE(sparse.x.is_sparse());
  EXPECT_EQ(sparse.x.cols(), 5);
  EXPECT_EQ(read_dataset({folder.write("C.CSV", "a,b\n1,2\n")}, {}, context_of(1)).x.cols(), 2);
}

}  // namespace read_files_test
}  // namespace ecotone
