#include "cli/label_images.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "ecotone/base/error.h"

namespace ecotone::cli {
namespace {

constexpr std::size_t largest_picture = 20'000'000;

bool is_inside(const std::filesystem::path& path, const std::filesystem::path& folder) {
  const auto [end, rest] = std::ranges::mismatch(folder, path);
  return end == folder.end() && rest != path.end();
}

/// An open file that closes itself.
struct OpenPicture {
  explicit OpenPicture(const std::filesystem::path& path)
      : descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) {}
  ~OpenPicture() {
    if (descriptor >= 0) ::close(descriptor);
  }
  OpenPicture(const OpenPicture&) = delete;
  OpenPicture& operator=(const OpenPicture&) = delete;

  /// Where the open file lies, whatever became of the path by which it was opened.
  std::filesystem::path place() const {
    std::error_code failed;
    return std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor), failed);
  }

  int descriptor;
};

/// The content of a regular file below the folder; empty if it is anything else or too large.
std::string picture_bytes(const std::filesystem::path& path, const std::filesystem::path& folder) {
  const OpenPicture file(path);
  struct stat about {};
  if (file.descriptor < 0 || ::fstat(file.descriptor, &about) != 0 || !S_ISREG(about.st_mode)) return {};
  if (about.st_size <= 0 || static_cast<std::size_t>(about.st_size) >= largest_picture) return {};
  if (!is_inside(file.place(), folder)) return {};
  std::string bytes(static_cast<std::size_t>(about.st_size), '\0');
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = ::read(file.descriptor, bytes.data() + have, bytes.size() - have);
    if (got <= 0) return {};
    have += static_cast<std::size_t>(got);
  }
  return bytes;
}

}  // namespace

std::string picture_type(std::string_view bytes) {
  using namespace std::string_view_literals;
  if (bytes.starts_with("\x89PNG\r\n\x1a\n"sv)) return "image/png";
  if (bytes.starts_with("\xff\xd8\xff"sv)) return "image/jpeg";
  if (bytes.starts_with("GIF87a"sv) || bytes.starts_with("GIF89a"sv)) return "image/gif";
  if (bytes.starts_with("RIFF"sv) && bytes.size() > 12 && bytes.substr(8, 4) == "WEBP"sv) return "image/webp";
  return {};
}

LabelImages::LabelImages(std::vector<std::string> names, std::vector<Index> first_rows,
                         const std::vector<std::filesystem::path>& folders)
    : names_(std::move(names)), first_rows_(std::move(first_rows)) {
  for (const std::filesystem::path& folder : folders)
    folders_.push_back(std::filesystem::canonical(folder.empty() ? "." : folder));
}

Picture LabelImages::of(Index row) const {
  const auto fail = [&] { data_error("no_image", "row {} has no picture that can be shown", row + 1); };
  if (row < 0 || at(row) >= names_.size() || names_[at(row)].empty()) fail();
  const auto after = std::ranges::upper_bound(first_rows_, row);
  const std::filesystem::path& folder = folders_[at(after - first_rows_.begin() - 1)];
  std::error_code failed;
  const std::filesystem::path path = std::filesystem::canonical(folder / names_[at(row)], failed);
  if (failed || !is_inside(path, folder)) fail();
  Picture picture{{}, picture_bytes(path, folder)};
  picture.type = picture_type(picture.bytes);
  if (picture.type.empty()) fail();
  return picture;
}

}  // namespace ecotone::cli
