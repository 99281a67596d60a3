#include "ecotone/base/files/gzip.h"

#include <zlib.h>

#include "base/temp_folder.h"

namespace ecotone {
namespace gzip_test {

std::string gzipped(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string lines(int n) {
  std::string text;
  for (int i = 0; i < n; ++i) text += "row " + std::to_string(i * 7919 % 100003) + "\n";
  return text;
}

std::string read_in_pieces(const std::filesystem::path& path, std::size_t piece) {
  GzipReader reader(path);
  std::string text, buffer(piece, '\0');
  for (;;) {
    const std::size_t got = reader.read(buffer);
    text.append(buffer, 0, got);
    if (got < piece) break;
  }
  EXPECT_EQ(reader.read(buffer), 0U);
  return text;
}

TEST(Gzip, ReadsInPiecesOfAnySize) {
  const TempFolder folder;
  const std::string text = lines(60000);  // more than one chunk of compressed bytes
  put(folder / "a.gz", gzipped(text));
  ASSERT_GT(std::filesystem::file_size(folder / "a.gz"), std::size_t{1} << 17);
  for (const std::size_t piece : {std::size_t{997}, std::size_t{1} << 16, text.size(), text.size() + 1})
    EXPECT_TRUE(read_in_pieces(folder / "a.gz", piece) == text) << piece;
  EXPECT_TRUE(read_text(folder / "a.gz") == text);
}

TEST(Gzip, ReadsBytesInMemory) {
  const std::string text = lines(60000);
  const std::string bytes = gzipped(text);
  EXPECT_TRUE(is_gzip(bytes));
  EXPECT_FALSE(is_gzip(text));
  GzipReader reader(bytes, "stdin");
  std::string found(text.size() + 1, '\0');
  EXPECT_EQ(reader.read(found), text.size());
  found.resize(text.size());
  EXPECT_TRUE(found == text);
  GzipReader half(bytes.substr(0, bytes.size() / 2), "stdin");
  try {
    found.resize(text.size() + 1);
    half.read(found);
    FAIL() << "read half a file";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "truncated_gzip");
    EXPECT_EQ(std::string(error.what()).find("stdin: "), 0U) << error.what();
  }
}

TEST(Gzip, KnowsItsOwnFiles) {
  const TempFolder folder;
  put(folder / "a.gz", gzipped("x"));
  put(folder / "b", "x,y\n");
  put(folder / "c", "");
  put(folder / "d", "\x1f");
  EXPECT_TRUE(is_gzip(InputFile(folder / "a.gz")));
  for (const char* name : {"b", "c", "d"}) EXPECT_FALSE(is_gzip(InputFile(folder / name))) << name;
}

TEST(Gzip, MembersFollowEachOther) {
  const TempFolder folder;
  put(folder / "a.gz", gzipped("one\n") + gzipped("") + gzipped("two\n") + std::string(512, '\0'));
  EXPECT_EQ(read_text(folder / "a.gz"), "one\ntwo\n");
  EXPECT_EQ(read_in_pieces(folder / "a.gz", 1), "one\ntwo\n");
  put(folder / "empty.gz", gzipped(""));
  EXPECT_EQ(read_text(folder / "empty.gz"), "");
}

TEST(Gzip, EveryTruncationIsNamed) {
  const TempFolder folder;
  const std::string whole = gzipped(lines(40)) + gzipped("end");
  const std::size_t first = gzipped(lines(40)).size();
  for (std::size_t size = 2; size < whole.size(); ++size) {
    if (size == first) continue;  // a whole file, of one member
    put(folder / "cut.gz", whole.substr(0, size));
    const std::string message = message_of(ErrorKind::file, "truncated_gzip", [&] { read_text(folder / "cut.gz"); });
    EXPECT_EQ(message, (folder / "cut.gz").string() + ": the gzip data end early; the file is truncated");
  }
  put(folder / "cut.gz", "");
  message_of(ErrorKind::file, "truncated_gzip", [&] { read_in_pieces(folder / "cut.gz", 10); });
}

TEST(Gzip, DamageIsNamed) {
  const TempFolder folder;
  const std::string text = lines(100);
  const std::string whole = gzipped(text);
  // Bytes 4 to 9 of a gzip header (time, flags, system) say nothing about the content.
  for (std::size_t i = 10; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    put(folder / "bad.gz", damaged);
    try {
      EXPECT_TRUE(read_text(folder / "bad.gz") == text) << "wrong text passed, byte " << i;
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == "bad_gzip" || error.code() == "truncated_gzip") << error.what();
      EXPECT_NE(std::string(error.what()).find("bad.gz"), std::string::npos);
    }
  }
  put(folder / "tail.gz", whole + "more");
  message_of(ErrorKind::file, "bad_gzip", [&] { read_text(folder / "tail.gz"); });
  put(folder / "plain", "not gzip");
  message_of(ErrorKind::file, "bad_gzip", [&] { read_in_pieces(folder / "plain", 10); });
}

}  // namespace gzip_test
}  // namespace ecotone
