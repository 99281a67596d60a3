#include "cli/random_text.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <cerrno>

#include "ecotone/base/error.h"

namespace ecotone::cli {

std::string random_text() {
  std::array<unsigned char, 16> bytes{};
  // Up to 256 bytes come whole, but the wait for the first entropy after a boot may be interrupted.
  while (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    if (errno != EINTR) internal_error("the system gives no random numbers");
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace ecotone::cli
