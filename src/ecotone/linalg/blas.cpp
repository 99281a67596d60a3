#include "ecotone/linalg/blas.h"

#include <cblas.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <mutex>

#include "ecotone/base/error.h"

namespace ecotone {
namespace {

/// OpenBLAS maps 128 MB at its first product and asks for ever when they are refused: under a limit of the address
/// space we ask once before it does.
void require_address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  constexpr std::size_t bytes = std::size_t{144} << 20;
  void* const probe = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (probe == MAP_FAILED) {
    data_error("not_enough_memory",
               "linear algebra: the limit of {} MB of address space leaves no {} MB to work in; raise it (ulimit -v)",
               limit.rlim_cur >> 20, bytes >> 20);
  }
  munmap(probe, bytes);
}

}  // namespace

void use_one_blas_thread() {
  static std::once_flag once;
  std::call_once(once, [] {
    require_address_space();
    openblas_set_num_threads(1);
  });
}

std::string blas_description() {
  std::string config = openblas_get_config();
  while (!config.empty() && config.back() == ' ') config.pop_back();
  return fmt::format("{}, kernel {}", config, openblas_get_corename());
}

}  // namespace ecotone
