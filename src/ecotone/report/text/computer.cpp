#include "ecotone/linalg/computer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ecotone/data/formats/format.h"
#include "ecotone/data/generate/generate.h"
#include "ecotone/methods/registry.h"
#include "ecotone/report/text/text.h"
#include "ecotone/version.h"

namespace ecotone {
namespace {

std::string kernels_line(const Computer& computer) {
  const BlasState& blas = computer.blas;
  if (computer.kernels_by == "openblas") return fmt::format("{}, chosen by OpenBLAS", blas.kernels);
  if (computer.kernels_by != "ecotone") return fmt::format("{}, set by {}", blas.kernels, computer.kernels_by);
  return fmt::format("{}, chosen by ecotone: OpenBLAS does not know this processor and had chosen {}", blas.kernels,
                     blas.replaced);
}

std::string speed_line(const Computer& computer) {
  const ProductSpeed& speed = computer.speed;
  return fmt::format("{:.0f} GFLOP/s in a matrix product on one thread, {:.0f}% of the peak of {} ({:.0f})",
                     speed.product, 100 * speed.product / speed.peak, computer.instructions, speed.peak);
}

std::string build_line() {
  const std::string sanitizers = *build_sanitizers ? fmt::format(", sanitizers {}", build_sanitizers) : "";
  return fmt::format("{}, {}{}", build_type, build_compiler, sanitizers);
}

}  // namespace

std::string computer_text(const Computer& computer) {
  std::string text;
  text += fmt::format("build      {}\n", build_line());
  text += fmt::format("blas       {}\n", computer.blas.library);
  text += fmt::format("kernels    {}\n", kernels_line(computer));
  text += fmt::format("speed      {}\n", speed_line(computer));
  text += fmt::format("threads    {} (this run: {})\n", computer.threads, computer.threads_used);
  text += fmt::format("memory     {:.1f} GB available\n", static_cast<double>(computer.memory) / 1e9);
  text += fmt::format("formats    {}; gzip\n", fmt::join(format_names(), " "));
  text += fmt::format("methods    {}\n", methods().size());
  text += fmt::format("generators {}\n", generators().size());
  if (std::string_view(build_type) == "Debug") text += "\nThis is a debug build: it is much slower than a release.\n";
  return text;
}

}  // namespace ecotone
