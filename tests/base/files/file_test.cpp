#include "ecotone/base/files/file.h"

#include <sys/stat.h>

#include <limits>

#include "base/temp_folder.h"
#include "ecotone/base/memory.h"

namespace ecotone {
namespace file_test {

TEST(InputFile, ReadsAnywhereAndSaysWhereItEnds) {
  const TempFolder folder;
  put(folder / "a", "0123456789");
  const InputFile file(folder / "a");
  EXPECT_EQ(file.size(), 10U);
  EXPECT_EQ(file.path(), folder / "a");
  std::string into(4, '?');
  EXPECT_EQ(file.read(3, into), 4U);
  EXPECT_EQ(into, "3456");
  EXPECT_EQ(file.read(8, into), 2U);
  EXPECT_EQ(into.substr(0, 2), "89");
  EXPECT_EQ(file.read(10, into), 0U);
  EXPECT_EQ(file.read(1000, into), 0U);
}

TEST(InputFile, AFileThatShrinksIsRead) {
  const TempFolder folder;
  put(folder / "a", std::string(100000, 'x'));
  const InputFile file(folder / "a");
  std::filesystem::resize_file(folder / "a", 70000);
  std::string into(file.size(), '?');
  EXPECT_EQ(file.read(0, into), 70000U);
}

TEST(InputFile, RefusalsNameTheFileAndTheReason) {
  const TempFolder folder;
  const auto message = [&](const std::string& name) {
    return message_of(ErrorKind::file, "cannot_open", [&] { InputFile{folder / name}; });
  };
  const std::string begin = "cannot open " + folder.path().string() + "/";
  EXPECT_EQ(message("none.csv"), begin + "none.csv: No such file or directory");
  put(folder / "file", "");
  EXPECT_EQ(message("file/x"), begin + "file/x: Not a directory");
  std::filesystem::create_directory(folder / "sub");
  EXPECT_EQ(message("sub"), begin + "sub: it is a folder, not a file");
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_NE(message("pipe").find("pipe: it is a pipe or a device"), std::string::npos);  // and does not hang
  message_of(ErrorKind::file, "cannot_open", [&] { MappedFile{folder / "pipe"}; });
  message_of(ErrorKind::file, "cannot_open", [&] { read_text(folder / "none.csv"); });
}

TEST(MappedFile, ShowsTheBytes) {
  const TempFolder folder;
  put(folder / "a", "abc");
  put(folder / "empty", "");
  const MappedFile file(folder / "a");
  ASSERT_EQ(file.bytes().size(), 3U);
  EXPECT_EQ(file.bytes()[2], std::byte{'c'});
  EXPECT_TRUE(MappedFile(folder / "empty").bytes().empty());
}

TEST(Text, RoundTrip) {
  const TempFolder folder;
  for (const std::size_t size : {0, 1, 4095, 4096, 4097, 1000000}) {
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * i >> 3);
    write_text(folder / "a", text);
    EXPECT_TRUE(read_text(folder / "a") == text) << size;
  }
  // A file of unknown size.
  EXPECT_NE(read_text("/proc/self/status").find("Pid:"), std::string::npos);
}

TEST(Memory, IsChecked) {
  EXPECT_GT(available_memory(), std::size_t{1} << 20);
  require_memory(0, "dica", "the kernel matrix", "use rank=");
  const std::size_t all = std::numeric_limits<std::size_t>::max();
  const std::string message = message_of(ErrorKind::data, "not_enough_memory",
                                         [&] { require_memory(all, "dica", "the kernel matrix", "use fewer rows"); });
  EXPECT_TRUE(message.starts_with("dica: the kernel matrix needs 18446744073.7 GB, ")) << message;
  EXPECT_TRUE(message.ends_with("B is available; use fewer rows")) << message;
}

}  // namespace file_test
}  // namespace ecotone
