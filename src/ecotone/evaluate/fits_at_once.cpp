#include "ecotone/evaluate/fits_at_once.h"

#include <algorithm>

#include "ecotone/base/memory.h"

namespace ecotone {

int fits_at_once(const Features& x) {
  constexpr std::size_t small_cells = std::size_t{1} << 22;
  const std::size_t cells = static_cast<std::size_t>(x.rows()) * static_cast<std::size_t>(x.cols());
  if (cells <= small_cells) return 0;
  // The training rows, a copy after a stage, the rows to predict, and as much again for the learner's work.
  const std::size_t bytes_of_fit = 6 * cells * sizeof(double);
  return static_cast<int>(std::clamp<std::size_t>(available_memory() / 2 / bytes_of_fit, 1, 1024));
}

}  // namespace ecotone
