#include "ecotone/base/files/tensor_file.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "base/temp_folder.h"

namespace ecotone {
namespace tensor_file_test {

/// A file from header text and data, with the length in front.
std::string file_of(const std::string& header, const std::string& data) {
  const std::uint64_t size = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &size, 8);
  return bytes + header + data;
}

std::string refused(const std::string& bytes) {
  return message_of(ErrorKind::file, "bad_model", [&] { TensorFile::parse(bytes, "model.eco"); });
}

std::string refused(const std::string& header, std::size_t data_size) {
  return refused(file_of(header, std::string(data_size, 'x')));
}

TensorWriter example() {
  TensorWriter writer;
  writer.set_meta("pipeline", "scale | logistic l2=0.1");
  writer.set_meta("features", R"(["größe", "a\"b"])");
  writer.add("weights", std::vector<double>{1.5, -2, std::numeric_limits<double>::infinity(), 0, 5e-324, -0.0}, {2, 3});
  writer.add("classes", std::vector<std::int64_t>{-1, std::numeric_limits<std::int64_t>::max()}, {2});
  writer.add("nothing", std::vector<double>{}, {0, 7});
  writer.add("one", std::vector<double>{3.25}, {});
  writer.add_stream("bytes", DType::u8, {5}, [](const TensorWriter::Sink& sink) {
    const std::byte pieces[] = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}, std::byte{5}};
    sink(std::span(pieces, 2));
    sink({});
    sink(std::span(pieces + 2, 3));
  });
  return writer;
}

void check_example(const TensorFile& file) {
  EXPECT_EQ(file.meta("pipeline"), "scale | logistic l2=0.1");
  EXPECT_EQ(file.meta("features"), R"(["größe", "a\"b"])");
  EXPECT_EQ(file.metadata().size(), 2U);
  EXPECT_EQ(file.names(), (std::vector<std::string>{"bytes", "classes", "nothing", "one", "weights"}));
  const std::vector<double> w = file.doubles("weights", {2, 3});
  EXPECT_EQ(w, (std::vector<double>{1.5, -2, std::numeric_limits<double>::infinity(), 0, 5e-324, 0}));
  EXPECT_TRUE(std::signbit(w[5]));
  EXPECT_EQ(file.doubles("weights", {-1, 3}), w);
  EXPECT_EQ(file.integers("classes"), (std::vector<std::int64_t>{-1, std::numeric_limits<std::int64_t>::max()}));
  EXPECT_TRUE(file.doubles("nothing", {0, -1}).empty());
  EXPECT_EQ(file.doubles("one", {}), std::vector<double>{3.25});
  EXPECT_EQ(file.tensor("one").elements(), 1);
  const TensorView bytes = file.tensor("bytes");
  EXPECT_EQ(bytes.type, DType::u8);
  EXPECT_EQ(bytes.elements(), 5);
  EXPECT_EQ(bytes.bytes[4], std::byte{5});
  EXPECT_TRUE(file.has("one"));
  EXPECT_FALSE(file.has("two"));
}

TEST(TensorFile, RoundTrip) {
  const TempFolder folder;
  example().write(folder / "model.eco");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"model.eco"});
  EXPECT_EQ(get(folder / "model.eco"), example().bytes());
  check_example(TensorFile::parse(example().bytes(), "model.eco"));
  check_example(TensorFile::read(folder / "model.eco"));
  TensorFile copy = TensorFile::map(folder / "model.eco");
  {
    const TensorFile mapped = TensorFile::map(folder / "model.eco");
    copy = mapped;
  }
  check_example(copy);
  EXPECT_EQ(copy.origin(), (folder / "model.eco").string());
}

TEST(TensorFile, EqualContentGivesEqualBytes) {
  TensorWriter a, b;
  a.set_meta("x", "1");
  a.set_meta("y", "2");
  a.add("p", std::vector<double>{1}, {1});
  a.add("q", std::vector<double>{2}, {1});
  b.add("q", std::vector<double>{2}, {1});
  b.add("p", std::vector<double>{1}, {1});
  b.set_meta("y", "2");
  b.set_meta("x", "1");
  EXPECT_EQ(a.bytes(), b.bytes());
}

TEST(TensorFile, ArraysAreAligned) {
  const TempFolder folder;
  TensorWriter writer;
  for (const int n : {1, 3, 5}) {
    const std::string size = std::to_string(n);
    writer.add_stream("a" + size, DType::u8, {n},
                      [n](const auto& sink) { sink(std::as_bytes(std::span("abcde", n))); });
    writer.add_stream("b" + size, DType::i32, {n}, [n](const auto& sink) {
      const std::vector<std::int32_t> values(static_cast<std::size_t>(n), 7);
      sink(std::as_bytes(std::span(values)));
    });
    writer.add("c" + size, std::vector<double>(static_cast<std::size_t>(n), 1.0), {n});
  }
  writer.write(folder / "a.eco");
  const TensorFile file = TensorFile::map(folder / "a.eco");
  for (const std::string& name : file.names()) {
    const TensorView view = file.tensor(name);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(view.bytes.data()) % element_size(view.type), 0U) << name;
  }
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(file.tensor("c1").bytes.data()) % 64, 0U);
}

TEST(TensorFile, AnEmptyFileIsAFile) {
  const TensorFile file = TensorFile::parse(TensorWriter().bytes(), "empty");
  EXPECT_TRUE(file.names().empty());
  EXPECT_TRUE(file.metadata().empty());
}

TEST(TensorFile, WrongRequestsNameTheFile) {
  const TensorFile file = TensorFile::parse(example().bytes(), "model.eco");
  const auto message = [](auto&& call) { return message_of(ErrorKind::file, "bad_model", call); };
  EXPECT_EQ(message([&] { file.meta("seed"); }), "model.eco: the metadata have no 'seed'");
  EXPECT_EQ(message([&] { file.tensor("x"); }), "model.eco: there is no tensor 'x'");
  EXPECT_EQ(message([&] { file.integers("weights", {2, 3}); }), "model.eco: tensor 'weights' is F64, must be I64");
  EXPECT_EQ(message([&] { file.doubles("weights"); }),
            "model.eco: tensor 'weights' has the shape [2, 3], must be [any]");
  EXPECT_EQ(message([&] {
              file.doubles("weights", {3, -1});
            }),
            "model.eco: tensor 'weights' has the shape [2, 3], must be [3, any]");
}

TEST(TensorFile, EveryTruncationIsRefused) {
  const TempFolder folder;
  const std::string whole = example().bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    refused(whole.substr(0, size));
    put(folder / "cut.eco", whole.substr(0, size));
    const std::string message = message_of(ErrorKind::file, "bad_model", [&] { TensorFile::map(folder / "cut.eco"); });
    EXPECT_TRUE(message.starts_with((folder / "cut.eco").string() + ": ")) << message;
  }
  refused(whole + "x");
}

TEST(TensorFile, FlippedBytesAreRefusedOrHarmless) {
  const std::string whole = example().bytes();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const int flip : {0x01, 0x04, 0x20, 0x80, 0xff}) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      try {
        const TensorFile file = TensorFile::parse(damaged, "model.eco");
        std::size_t sum = 0;
        for (const std::string& name : file.names()) {
          const TensorView view = file.tensor(name);
          EXPECT_EQ(static_cast<std::size_t>(view.elements()) * element_size(view.type), view.bytes.size());
          for (const std::byte b : view.bytes) sum += static_cast<std::size_t>(b);
        }
        EXPECT_GT(sum, 0U);
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), "bad_model") << error.what();
      }
    }
  }
}

TEST(TensorFile, LengthsThatDoNotFitAreNamed) {
  EXPECT_EQ(refused(R"({"x":{"dtype":"F64","shape":[3,4],"data_offsets":[0,80]}})", 80),
            "model.eco: tensor 'x' has 80 bytes, but shape [3, 4] of F64 needs 96");
  EXPECT_EQ(refused(R"({"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 3),
            "model.eco: tensor 'x' lies at bytes 0 to 4, but there are 3 bytes of data");
  EXPECT_EQ(refused(R"({"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 5),
            "model.eco: the tensors have 4 bytes, but the file has 5");
  EXPECT_EQ(refused(R"({"x":{"dtype":"U8","shape":[4],"data_offsets":[1,5]}})", 5),
            "model.eco: tensor 'x' begins at byte 1, must begin at 0");
  EXPECT_EQ(refused(R"({"x":{"dtype":"U8","shape":[0],"data_offsets":[5,0]}})", 5),
            "model.eco: tensor 'x' lies at bytes 5 to 0, but there are 5 bytes of data");
  // Overlap and gap.
  const std::string x = R"({"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)";
  EXPECT_EQ(refused(x + R"("y":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})", 6),
            "model.eco: tensor 'y' begins at byte 2, must begin at 4");
  EXPECT_EQ(refused(x + R"("y":{"dtype":"U8","shape":[4],"data_offsets":[6,10]}})", 10),
            "model.eco: tensor 'y' begins at byte 6, must begin at 4");
  EXPECT_EQ(refused("{}", 1), "model.eco: the tensors have 0 bytes, but the file has 1");
}

TEST(TensorFile, ShapesThatOverflowAreRefused) {
  EXPECT_EQ(refused(R"({"x":{"dtype":"F64","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0),
            "model.eco: tensor 'x' has the shape [4294967296, 4294967296], which is too large");
  EXPECT_EQ(refused(R"({"x":{"dtype":"F64","shape":[2305843009213693952],"data_offsets":[0,0]}})", 0),
            "model.eco: tensor 'x' has the shape [2305843009213693952], which is too large");
  EXPECT_EQ(refused(R"({"x":{"dtype":"U8","shape":[18446744073709551615],"data_offsets":[0,0]}})", 0),
            "model.eco: tensor 'x' has the number 18446744073709551615, which is too large");
  refused(R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[18446744073709551615,0]}})", 1);
}

TEST(TensorFile, HeadersThatAreNoneAreRefused) {
  EXPECT_EQ(refused(""), "model.eco: has 0 bytes, too few for an ecotone file (safetensors)");
  EXPECT_TRUE(
      refused("a,b,c\n1,2,3\n4,5,6\n").starts_with("model.eco: is not an ecotone file (safetensors), or is truncated"));
  EXPECT_TRUE(refused(std::string(8, '\xff')).starts_with("model.eco: is not an ecotone file"));
  for (const char* header : {"", "[]", "1", "\"x\"", " {}", "null", "\xef\xbb\xbf{}"}) refused(header, 0);
  EXPECT_EQ(refused("{\"x\":}", 0), "model.eco: the header is not valid JSON at byte 6");
  for (const char* header : {"{", "{}}", "{} x", "{\"a\"}", "{\"a\":{}", "{\"\xff\":{}}", "{'a':{}}", "{/**/}"})
    refused(header, 0);
  refused(std::string("{}\0 ", 4), 0);
}

TEST(TensorFile, EntriesOfOtherFormAreRefused) {
  EXPECT_EQ(refused(R"({"x":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}})", 2),
            "model.eco: tensor 'x' has the unknown type 'BF16'");
  EXPECT_EQ(refused(R"({"x":1})", 0), "model.eco: header entry 'x' is 1, must be an object");
  EXPECT_EQ(refused(R"({"__metadata__":{"a":1}})", 0), "model.eco: metadata key 'a' is 1, must be text");
  EXPECT_EQ(refused(R"({"__metadata__":[]})", 0),
            "model.eco: header entry '__metadata__' is a list, must be an object");
  EXPECT_EQ(refused(R"({"x":{"shape":[1],"data_offsets":[0,2]}})", 2), "model.eco: tensor 'x' has no dtype");
  EXPECT_EQ(refused(R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[0]}})", 1),
            "model.eco: tensor 'x' has 1 data_offsets, needs 2");
  EXPECT_EQ(refused(R"({"x":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}})", 1),
            "model.eco: shape of tensor 'x' cannot be -1");
  EXPECT_EQ(refused(R"({"x":{"dtype":"U8","shape":[1],"more":[0,1]}})", 1),
            "model.eco: tensor 'x' has the unknown field 'more'");
  for (const char* entry :
       {R"({"dtype":7})", R"({"shape":3})", R"({"shape":[[1]]})", R"({"shape":[1.5]})", R"({"shape":["1"]})",
        R"({"shape":[null]})", R"({"shape":{}})", R"({"data_offsets":[0,1,2]})", R"({"dtype":["U8"]})", "{}"})
    refused(std::string(R"({"x":)") + entry + "}", 1);
}

TEST(TensorFile, RepeatedKeysAreRefused) {
  const std::string x = R"("x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  EXPECT_EQ(refused("{" + x + "," + x + "}", 0), "model.eco: tensor 'x' occurs twice");
  EXPECT_EQ(refused(R"({"__metadata__":{"a":"1","a":"2"}})", 0), "model.eco: metadata key 'a' occurs twice");
  EXPECT_EQ(refused(R"({"__metadata__":{},"__metadata__":{}})", 0), "model.eco: key '__metadata__' occurs twice");
  EXPECT_EQ(refused(R"({"x":{"dtype":"U8","dtype":"U8"}})", 0), "model.eco: field 'dtype' occurs twice");
}

TEST(TensorFile, DeepNestingIsRefusedWithoutRecursion) {
  for (const char* open : {"[", "{\"a\":", "{\"a\":["}) {
    std::string deep = "{\"x\":";
    for (int i = 0; i < 1000000; ++i) deep += open;
    refused(deep, 0);
  }
}

TEST(TensorFile, LongTextFromAFileIsCutInMessages) {
  const std::string message = refused("{\"" + std::string(100000, 'n') + "\":1}", 0);
  EXPECT_LT(message.size(), 200U);
  EXPECT_EQ(refused(R"({"a\nb":1})", 0), "model.eco: header entry 'a?b' is 1, must be an object");
}

TEST(TensorWriter, MistakesOfOursAreInternalErrorsAndLeaveNoFile) {
  const TempFolder folder;
  TensorWriter writer;
  message_of(ErrorKind::internal, "internal", [&] { writer.add("x", std::vector<double>{1, 2}, {3}); });
  message_of(ErrorKind::internal, "internal", [&] { writer.add("__metadata__", std::vector<double>{1}, {1}); });
  writer.add_stream("short", DType::u8, {3}, [](const auto& sink) { sink(std::as_bytes(std::span("ab", 2))); });
  message_of(ErrorKind::internal, "internal", [&] { writer.add("short", std::vector<double>{1}, {1}); });
  message_of(ErrorKind::internal, "internal", [&] { writer.write(folder / "a.eco"); });
  EXPECT_TRUE(folder.names().empty());
  TensorWriter latin;
  latin.set_meta("name",
                 "gr\xf6\xdf"
                 "e");
  message_of(ErrorKind::data, "not_utf8", [&] { latin.write(folder / "a.eco"); });
  EXPECT_TRUE(folder.names().empty());
}

}  // namespace tensor_file_test
}  // namespace ecotone
