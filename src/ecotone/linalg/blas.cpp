#include "ecotone/linalg/blas.h"

#include <cblas.h>
#include <fmt/format.h>

#include <mutex>

namespace ecotone {

void use_one_blas_thread() {
  static std::once_flag once;
  std::call_once(once, [] { openblas_set_num_threads(1); });
}

std::string blas_description() {
  std::string config = openblas_get_config();
  while (!config.empty() && config.back() == ' ') config.pop_back();
  return fmt::format("{}, kernel {}", config, openblas_get_corename());
}

}  // namespace ecotone
