#include <cmath>

#include "data/formats/read_support.h"
#include "ecotone/base/random.h"
#include "ecotone/data/formats/svmlight.h"

namespace ecotone {
namespace read_arrays_test {

using namespace test;

SvmlightRows svmlight(std::string text, int base = -1, std::size_t piece = 1 << 20, int threads = 1) {
  return read_svmlight({ByteSource::memory(std::move(text), "d.svm")}, base, piece, context_of(threads));
}

TEST(Svmlight, RowsLabelsAndComments) {
  const SvmlightRows rows = svmlight("# head\n+1 qid:3 1:0.5 3:2 # tail\n\n-1 2:1e2\r\n? 1:nan\n");
  EXPECT_EQ(rows.x.rows, 3);
  EXPECT_EQ(rows.x.cols, 3);
  EXPECT_EQ(rows.x.row_start, (std::vector<Index>{0, 2, 3, 4}));
  EXPECT_EQ(rows.x.column, (std::vector<std::int32_t>{0, 2, 1, 0}));
  EXPECT_EQ(rows.x.value[2], 100);
  EXPECT_TRUE(std::isnan(rows.x.value[3]));
  EXPECT_EQ(rows.label[0], 1);
  EXPECT_EQ(rows.label[1], -1);
  EXPECT_TRUE(std::isnan(rows.label[2]));
}

TEST(Svmlight, BaseIsDetectedOrGiven) {
  EXPECT_EQ(svmlight("1 0:1 4:1\n").x.column, (std::vector<std::int32_t>{0, 4}));
  EXPECT_EQ(svmlight("1 1:1 4:1\n").x.column, (std::vector<std::int32_t>{0, 3}));
  EXPECT_EQ(svmlight("1 1:1 4:1\n", 0).x.cols, 5);
  EXPECT_EQ(message_of("bad_index", ErrorKind::data, [] { svmlight("1 1:1\n1 0:1\n", 1); }),
            "d.svm line 2: index 0, but indices start at 1");
}

TEST(Svmlight, UnsortedRowsAreSorted) {
  const SvmlightRows rows = svmlight("1 5:50 2:20 9:90\n");
  EXPECT_EQ(rows.x.column, (std::vector<std::int32_t>{1, 4, 8}));
  EXPECT_EQ(rows.x.value, (std::vector<double>{20, 50, 90}));
}

TEST(Svmlight, ErrorsNameTheLine) {
  EXPECT_EQ(message_of("duplicate_index", ErrorKind::data, [] { svmlight("1 1:1\n1 3:1 3:2\n"); }),
            "d.svm line 2: index 3 occurs twice");
  EXPECT_EQ(message_of("bad_value", ErrorKind::data, [] { svmlight("1 1:1\nyes 1:1\n"); }),
            "d.svm line 2: the label is 'yes', expected a number");
  message_of("bad_value", ErrorKind::data, [] { svmlight("1 1:x\n"); });
  message_of("bad_value", ErrorKind::data, [] { svmlight("1 1\n"); });
  message_of("bad_index", ErrorKind::data, [] { svmlight("1 -1:2\n"); });
  message_of("bad_index", ErrorKind::data, [] { svmlight("1 3000000000:2\n"); });
  message_of("bad_index", ErrorKind::data, [] { svmlight("1 99999999999999999999:2\n"); });
  message_of("bad_option", ErrorKind::option, [] { svmlight("1 1:1\n", 2); });
}

TEST(Svmlight, PiecesAndThreadsDoNotMatter) {
  Random random(1, "svmlight");
  std::string text;
  for (int i = 0; i < 300; ++i) {
    text += std::to_string(random.below(2));
    for (int j = 1; j < 30; ++j)
      if (random.below(4) == 0) text += fmt::format(" {}:{}", j, random.normal());
    text += '\n';
  }
  const SvmlightRows expected = svmlight(text);
  for (const std::size_t piece : {1, 50, 1000}) {
    for (const int threads : {1, 2, 7}) {
      const SvmlightRows rows = svmlight(text, -1, piece, threads);
      EXPECT_EQ(rows.x.row_start, expected.x.row_start);
      EXPECT_EQ(rows.x.column, expected.x.column);
      EXPECT_EQ(rows.x.value, expected.x.value);
      EXPECT_EQ(rows.label, expected.label);
    }
  }
}

TEST(Svmlight, AsADataSet) {
  const Folder folder;
  const auto one = folder.write("one.svmlight", "+1 1:1 2:2\n-1 2:3\n");
  const auto two = folder.write("two.svmlight", "1 4:4\n");
  const Dataset data = read_dataset({one, two}, {.domain_from_file = true}, context_of(1));
  EXPECT_TRUE(data.x.is_sparse());
  EXPECT_EQ(data.x.names(), (std::vector<std::string>{"x1", "x2", "x3", "x4"}));
  EXPECT_EQ(data.domain.names, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(data.y->classes, (std::vector<std::string>{"-1", "1"}));
  EXPECT_EQ(data.y->index, (std::vector<std::int32_t>{1, 0, 1}));
  EXPECT_EQ(data.schema.label, "label");
  EXPECT_EQ(read_dataset({one}, {.where = {"label==-1"}}, context_of(1)).rows(), 1);
  message_of("empty_data", ErrorKind::data,
             [&] { read_dataset({folder.write("none.svm", "# nothing\n")}, {}, context_of(1)); });
}

/// An NPY file of this version with the elements as given.
template <class T>
std::string npy(const std::string& descr, const std::string& shape, const std::vector<T>& values, bool fortran = false,
                char version = 1) {
  std::string header =
      "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + ", }\n";
  std::string bytes = "\x93NUMPY";
  bytes += version;
  bytes += '\0';
  const auto length = header.size();
  for (int k = 0; k < (version == 1 ? 2 : 4); ++k) bytes += static_cast<char>(length >> (8 * k));
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  return bytes;
}

TEST(Npy, TypesOrdersAndVersions) {
  const Folder folder;
  Matrix expected(2, 3);
  expected << 1, 2, 3, 4, 5, 6;
  const auto read = [&](const std::string& bytes) {
    return read_dataset({folder.write("a.npy", bytes)}, {}, context_of(2)).x.to_matrix();
  };
  EXPECT_EQ(read(npy<double>("<f8", "(2, 3)", {1, 2, 3, 4, 5, 6})), expected);
  EXPECT_EQ(read(npy<double>("<f8", "(2, 3)", {1, 4, 2, 5, 3, 6}, true)), expected);
  EXPECT_EQ(read(npy<float>("<f4", "(2, 3)", {1, 2, 3, 4, 5, 6}, false, 2)), expected);
  EXPECT_EQ(read(npy<std::int64_t>("<i8", "(2,3)", {1, 2, 3, 4, 5, 6}, false, 3)), expected);
  EXPECT_EQ(read(npy<std::int32_t>("<i4", "(2, 3)", {1, 2, 3, 4, 5, 6})), expected);
  EXPECT_EQ(read(npy<std::uint8_t>("|u1", "(2, 3)", {1, 2, 3, 4, 5, 6})), expected);
  EXPECT_EQ(read(npy<std::uint8_t>("|b1", "(3,)", {0, 1, 1})), (Matrix(3, 1) << 0, 1, 1).finished());
}

TEST(Npy, ColumnsMayBeLabelDomainOrLeftOut) {
  const Folder folder;
  const auto path = folder.write("a.npy", npy<double>("<f8", "(3, 4)", {1, 2, 0, 7, 3, 4, 1, 8, 5, 6, 1, 7}));
  const Dataset data = read_dataset({path}, {.label = "x3", .domain = "x4", .ignore = {"x2"}}, context_of(1));
  EXPECT_EQ(data.x.names(), (std::vector<std::string>{"x1"}));
  EXPECT_EQ(data.y->index, (std::vector<std::int32_t>{0, 1, 1}));
  EXPECT_EQ(data.domain.names, (std::vector<std::string>{"7", "8"}));
  EXPECT_EQ(read_dataset({path}, {.where = {"x2>=4"}}, context_of(1)).rows(), 2);
  const auto labels = folder.write("y.npy", npy<std::int64_t>("<i8", "(3,)", {5, 6, 5}));
  EXPECT_EQ(read_dataset({path}, {.labels_file = labels.string()}, context_of(1)).y->classes,
            (std::vector<std::string>{"5", "6"}));
  const auto few = folder.write("few.npy", npy<std::int64_t>("<i8", "(2,)", {5, 6}));
  message_of("label_count", ErrorKind::data,
             [&] { read_dataset({path}, {.labels_file = few.string()}, context_of(1)); });
}

TEST(Npy, BadFilesAreRefused) {
  const Folder folder;
  const std::string good = npy<double>("<f8", "(2, 3)", {1, 2, 3, 4, 5, 6});
  for (const std::string& bytes :
       {std::string("\x93NUMPY"), good.substr(0, 20), good.substr(0, good.size() - 1), good + '\0',
        npy<double>(">f8", "(1,)", {1}), npy<double>("<c16", "(1,)", {1}), npy<double>("<f8", "(1, 1, 1)", {1}),
        npy<double>("<f8", "()", {1}), npy<double>("<f8", "(-1,)", {1}), npy<double>("<f8", "(1", {1}),
        npy<double>("<f8", "(9223372036854775807,)", {1}), npy<double>("<f8", "(1,), 'x': 1", {1}),
        "\x93NUMPY\x09" + good.substr(7)}) {
    try {
      read_dataset({folder.write("bad.npy", bytes)}, {}, context_of(1));
      ADD_FAILURE() << "accepted " << bytes.substr(0, 90);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::data) << error.what();
    }
  }
  message_of("too_large", ErrorKind::data, [&] {
    read_dataset({folder.write("b.npy", npy<double>("<f8", "(4294967296, 4294967297)", {1}))}, {}, context_of(1));
  });
}

std::string idx(unsigned char type, const std::vector<std::uint32_t>& sizes, const std::string& values) {
  std::string bytes = {0, 0, static_cast<char>(type), static_cast<char>(sizes.size())};
  for (const std::uint32_t size : sizes)
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(size >> shift);
  return bytes + values;
}

TEST(Idx, ImagesAndLabels) {
  const Folder folder;
  const auto images =
      folder.write("images-idx3-ubyte", idx(8, {2, 2, 2}, std::string("\0\x01\x02\xFF\x04\x05\x06\x07", 8)));
  const auto labels = folder.write("labels-idx1-ubyte", idx(8, {2}, "\x03\x07"));
  const Dataset data = read_dataset({images}, {.labels_file = labels.string()}, context_of(1));
  Matrix expected(2, 4);
  expected << 0, 1, 2, 255, 4, 5, 6, 7;
  EXPECT_EQ(data.x.to_matrix(), expected);
  EXPECT_EQ(data.x.names(), (std::vector<std::string>{"p0", "p1", "p2", "p3"}));
  EXPECT_EQ(data.y->classes, (std::vector<std::string>{"3", "7"}));
  EXPECT_FALSE(read_dataset({images}, {}, context_of(1)).y.has_value());
  const auto shorts = folder.write("s.idx", idx(0x0B, {1, 2}, std::string("\x01\x02\xFF\xFE", 4)));
  EXPECT_EQ(read_dataset({shorts}, {}, context_of(1)).x.to_matrix(), (Matrix(1, 2) << 258, -2).finished());
}

TEST(Idx, BadFilesAreRefused) {
  const Folder folder;
  for (const std::string& bytes :
       {std::string(), std::string("\0\0\x08", 3), idx(8, {3}, "ab"), idx(8, {2}, "abc"), idx(7, {1}, "a"),
        idx(8, {}, "abcd"), idx(8, {0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}, "a"), std::string("abcdefghij")})
    EXPECT_THROW(read_dataset({folder.write("bad.idx", bytes)}, {}, context_of(1)), Error);
}

TEST(Cifar, RecordsOfLabelAndPixels) {
  const Folder folder;
  std::string bytes;
  for (int i = 0; i < 3; ++i) {
    bytes += static_cast<char>(i == 2 ? 9 : i);
    for (int j = 0; j < 3072; ++j) bytes += static_cast<char>((i + j) % 256);
  }
  const Dataset data = read_dataset({folder.write("c.bin", bytes)}, {}, context_of(2));
  EXPECT_EQ(data.rows(), 3);
  EXPECT_EQ(data.x.cols(), 3072);
  EXPECT_EQ(data.x.to_matrix()(2, 254), 0);
  EXPECT_EQ(data.y->classes, (std::vector<std::string>{"0", "1", "9"}));
  message_of("bad_cifar", ErrorKind::data,
             [&] { read_dataset({folder.write("d.bin", bytes.substr(1))}, {}, context_of(1)); });
  bytes[0] = 10;
  message_of("bad_cifar", ErrorKind::data, [&] { read_dataset({folder.write("e.bin", bytes)}, {}, context_of(1)); });
  message_of("empty_data", ErrorKind::data, [&] { read_dataset({folder.write("f.bin", "")}, {}, context_of(1)); });
}

}  // namespace read_arrays_test
}  // namespace ecotone
