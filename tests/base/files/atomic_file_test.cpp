#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "base/temp_folder.h"
#include "ecotone/base/files/file.h"
#include "ecotone/base/thread_pool.h"
#include "ecotone/base/waiting.h"

namespace ecotone {
namespace atomic_file_test {

using Names = std::vector<std::string>;

/// Runs `body` in a child process; its result is the exit code. The child may change limits and die.
int in_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    int code = 99;
    try {
      code = body();
    } catch (...) {
    }
    _exit(code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

std::string temporary_name(const std::string& name, pid_t pid) {
  return "." + name + "." + std::to_string(pid) + ".tmp";
}

TEST(AtomicFile, AppearsAtCommit) {
  const TempFolder folder;
  put(folder / "model.eco", "old");
  {
    AtomicFile file(folder / "model.eco");
    file.write("new ");
    file.write(std::as_bytes(std::span("text", 4)));
    EXPECT_EQ(get(folder / "model.eco"), "old");
    EXPECT_EQ(folder.names(), (Names{temporary_name("model.eco", getpid()), "model.eco"}));
    file.commit();
    EXPECT_EQ(get(folder / "model.eco"), "new text");
  }
  EXPECT_EQ(folder.names(), Names{"model.eco"});
}

TEST(AtomicFile, WithoutCommitNothingChanges) {
  const TempFolder folder;
  put(folder / "a", "old");
  {
    AtomicFile file(folder / "a");
    file.write(std::string(1 << 20, 'x'));
  }
  { AtomicFile file(folder / "b"); }
  EXPECT_EQ(folder.names(), Names{"a"});
  EXPECT_EQ(get(folder / "a"), "old");
}

TEST(AtomicFile, PiecesOfAnySizeKeepTheirOrder) {
  const TempFolder folder;
  AtomicFile file(folder / "a");
  std::string all;
  for (const std::size_t size : {1, 100000, 262143, 1, 1, 262144, 262145, 0, 7, 1000000, 3}) {
    const std::string piece(size, static_cast<char>('a' + size % 26));
    file.write(piece);
    all += piece;
  }
  file.commit();
  EXPECT_TRUE(get(folder / "a") == all);
  message_of(ErrorKind::internal, "internal", [&] { file.write("more"); });
  message_of(ErrorKind::internal, "internal", [&] { file.commit(); });
}

TEST(AtomicFile, KeepsModeAndLink) {
  const TempFolder folder;
  std::filesystem::create_directory(folder / "sub");
  put(folder / "sub/real", "old");
  chmod((folder / "sub/real").c_str(), 0640);
  std::filesystem::create_symlink("sub/link2", folder / "link");
  std::filesystem::create_symlink("real", folder / "sub/link2");
  write_text(folder / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "sub/link2"));
  EXPECT_EQ(get(folder / "sub/real"), "new");
  struct stat status {};
  ASSERT_EQ(stat((folder / "sub/real").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640U);
  // A link whose target is not there yet makes it.
  std::filesystem::create_symlink("sub/fresh", folder / "dangling");
  write_text(folder / "dangling", "x");
  EXPECT_EQ(get(folder / "sub/fresh"), "x");
  // A new file has the mode that the umask leaves.
  const mode_t mask = umask(022);
  write_text(folder / "plain", "x");
  umask(mask);
  ASSERT_EQ(stat((folder / "plain").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0644U);
  std::filesystem::create_symlink("loop", folder / "loop");
  message_of(ErrorKind::file, "cannot_write", [&] { write_text(folder / "loop", "x"); });
}

TEST(AtomicFile, ARelativeNameNeedsNoFolder) {
  const TempFolder folder;
  EXPECT_EQ(in_child([&] {
              if (chdir(folder.path().c_str()) != 0) return 1;
              write_text("here", "x");
              return 0;
            }),
            0);
  EXPECT_EQ(folder.names(), Names{"here"});
}

TEST(AtomicFile, RefusalsNameTheFileAndTheReason) {
  const TempFolder folder;
  put(folder / "file", "");
  const auto message = [&](const std::filesystem::path& path) {
    return message_of(ErrorKind::file, "cannot_write", [&] { write_text(path, "x"); });
  };
  EXPECT_EQ(message(folder / "file/a"), "cannot write " + (folder / "file/a").string() + ": Not a directory");
  EXPECT_EQ(message(folder / "none/a"), "cannot write " + (folder / "none/a").string() + ": No such file or directory");
  EXPECT_EQ(message(folder.path()), "cannot write " + folder.path().string() + ": Is a directory");
  EXPECT_NE(message("/proc/ecotone.eco").find("cannot write /proc/ecotone.eco: "), std::string::npos);
  EXPECT_NE(message("").find("cannot write"), std::string::npos);
  EXPECT_EQ(folder.names(), Names{"file"});
}

/// Writes as a user who is not root: root may write anything. Returns the message, or nothing when the file was
/// written.
std::string write_as_user(const std::filesystem::path& folder, const std::string& name) {
  constexpr uid_t nobody = 65534;
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  EXPECT_EQ(in_child([&] {
              if (getuid() == 0 && setuid(nobody) != 0) return 1;
              try {
                write_text(folder / name, "new");
              } catch (const Error& error) {
                const std::string text = error.code() + ": " + error.what();
                return write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 2;
              }
              return 0;
            }),
            0);
  close(ends[1]);
  std::string text(1000, '\0');
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, read(ends[0], text.data(), text.size()))));
  close(ends[0]);
  return text;
}

TEST(AtomicFile, ReadOnlyFilesAndFoldersStay) {
  const TempFolder folder;
  put(folder / "a", "old");
  chmod((folder / "a").c_str(), 0444);
  chmod(folder.path().c_str(), 0777);
  EXPECT_EQ(write_as_user(folder.path(), "a"),
            "cannot_write: cannot write " + (folder / "a").string() + ": Permission denied");
  EXPECT_EQ(write_as_user(folder.path(), "b"), "");
  chmod((folder / "a").c_str(), 0666);
  chmod(folder.path().c_str(), 0555);
  EXPECT_EQ(write_as_user(folder.path(), "a"),
            "cannot_write: cannot write " + (folder / "a").string() + ": Permission denied");
  chmod(folder.path().c_str(), 0700);
  EXPECT_EQ(get(folder / "a"), "old");
  EXPECT_EQ(folder.names(), (Names{"a", "b"}));
}

TEST(AtomicFile, AFullDiskLeavesTheOldFile) {
  const TempFolder folder;
  put(folder / "a", "old");
  // Buffers of less and of more than the limit: the failure comes at commit or already while writing.
  for (const std::size_t size : {std::size_t{20000}, std::size_t{3} << 20}) {
    const int code = in_child([&] {
      signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{10000, 10000};
      setrlimit(RLIMIT_FSIZE, &limit);
      try {
        write_text(folder / "a", std::string(size, 'x'));
      } catch (const Error& error) {
        const std::string expected = "cannot write " + (folder / "a").string() + ": File too large";
        return error.code() == "no_space" && error.kind() == ErrorKind::file && error.what() == expected ? 0 : 1;
      }
      return 2;
    });
    EXPECT_EQ(code, 0);
    EXPECT_EQ(get(folder / "a"), "old");
    EXPECT_EQ(folder.names(), Names{"a"});
  }
}

TEST(AtomicFile, AKilledWriterLeavesTheOldFileAndIsCleanedUpAfter) {
  const TempFolder folder;
  put(folder / "a", "old");
  pid_t dead = 0;
  int pipe_fds[2];
  ASSERT_EQ(pipe(pipe_fds), 0);
  const int code = in_child([&] {
    const pid_t me = getpid();
    if (write(pipe_fds[1], &me, sizeof(me)) != sizeof(me)) return 1;
    AtomicFile file(folder / "a");
    file.write(std::string(1 << 20, 'x'));
    kill(me, SIGKILL);
    return 2;
  });
  EXPECT_EQ(code, 1000 + SIGKILL);
  ASSERT_EQ(read(pipe_fds[0], &dead, sizeof(dead)), static_cast<ssize_t>(sizeof(dead)));
  close(pipe_fds[0]);
  close(pipe_fds[1]);
  EXPECT_EQ(get(folder / "a"), "old");
  EXPECT_EQ(folder.names(), (Names{temporary_name("a", dead), "a"}));
  // Another target's leftovers and files that only look alike stay.
  const Names others{".a.note.tmp", temporary_name("a.b", dead), temporary_name("b", dead), ".a.1.5.tmp"};
  for (const std::string& name : others) put(folder / name, "keep");
  write_text(folder / "a", "new");
  EXPECT_EQ(get(folder / "a"), "new");
  Names expected = others;
  expected.push_back("a");
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(folder.names(), expected);
}

TEST(AtomicFile, ALivingWritersFileStays) {
  const TempFolder folder;
  AtomicFile ours(folder / "a");
  ours.write("parent");
  // Another process writes the same target meanwhile.
  EXPECT_EQ(in_child([&] {
              write_text(folder / "a", "child");
              return 0;
            }),
            0);
  EXPECT_EQ(get(folder / "a"), "child");
  ours.commit();
  EXPECT_EQ(get(folder / "a"), "parent");
  EXPECT_EQ(folder.names(), Names{"a"});
}

TEST(AtomicFile, ALeftoverWithOurOwnNumberIsReplaced) {
  const TempFolder folder;
  put(folder / temporary_name("a", getpid()), "of an earlier process that had our number");
  write_text(folder / "a", "new");
  EXPECT_EQ(get(folder / "a"), "new");
  EXPECT_EQ(folder.names(), Names{"a"});
}

TEST(AtomicFile, TwoWritersInOneProcessDoNotMix) {
  const TempFolder folder;
  AtomicFile first(folder / "a"), second(folder / "a");
  first.write("first");
  second.write("second");
  first.commit();
  EXPECT_EQ(get(folder / "a"), "first");
  second.commit();
  EXPECT_EQ(get(folder / "a"), "second");
  EXPECT_EQ(folder.names(), Names{"a"});
}

TEST(AtomicFile, ManyThreadsOneTarget) {
  const TempFolder folder;
  std::vector<std::thread> writers;
  std::atomic<int> failed{0};
  for (int t = 0; t < 4; ++t)
    writers.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) try {
          write_text(folder / "a", std::string(1000, static_cast<char>('a' + t)));
        } catch (const Error&) {
          ++failed;
        }
    });
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(failed, 0);
  const std::string text = get(folder / "a");
  EXPECT_EQ(text, std::string(1000, text.at(0)));
  EXPECT_EQ(folder.names(), Names{"a"});
}

TEST(AtomicFile, DevicesPipesAndStandardOutputAreWrittenThrough) {
  const TempFolder folder;
  write_text("/dev/null", "x");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  message_of(ErrorKind::file, "no_space", [] { write_text("/dev/full", "x"); });
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  const int reader = open((folder / "pipe").c_str(), O_RDONLY | O_NONBLOCK);
  write_text(folder / "pipe", "through");
  char into[8] = {};
  EXPECT_EQ(read(reader, into, sizeof(into)), 7);
  close(reader);
  EXPECT_STREQ(into, "through");
  EXPECT_TRUE(std::filesystem::is_fifo(folder / "pipe"));
  // Standard output that was redirected to a file in the middle of which it stands.
  EXPECT_EQ(in_child([&] {
              const int fd = open((folder / "out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
              if (dup2(fd, 1) < 0 || write(1, "before ", 7) != 7) return 1;
              write_text("/dev/stdout", "inside ");
              return write(1, "after", 5) == 5 ? 0 : 2;
            }),
            0);
  EXPECT_EQ(get(folder / "out"), "before inside after");
}

TEST(AtomicFile, WaitsForTheReaderOfAPipe) {
  const TempFolder folder;
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  const std::string text(300'000, 'x');  // more than a pipe holds
  std::string got;
  std::thread reader([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    got = get(folder / "pipe");
  });
  write_text(folder / "pipe", text);
  reader.join();
  EXPECT_TRUE(got == text);
}

TEST(AtomicFile, AWaitForTheReaderOfAPipeCanBeStopped) {
  const TempFolder folder;
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  const auto stopped = [&] {
    CancelFlag stop;
    stop_waiting_when(&stop);
    std::thread user([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      stop.request();
    });
    message_of(ErrorKind::cancelled, "cancelled", [&] { write_text(folder / "pipe", std::string(300'000, 'x')); });
    user.join();
    stop_waiting_when(nullptr);
  };
  stopped();  // nobody opens it
  const int reader = open((folder / "pipe").c_str(), O_RDONLY | O_NONBLOCK);
  stopped();  // somebody opened it and does not read
  close(reader);
}

}  // namespace atomic_file_test
}  // namespace ecotone
