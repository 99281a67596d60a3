#include <fmt/format.h>

#include "cli/verbs.h"
#include "ecotone/base/memory.h"
#include "ecotone/base/simd.h"
#include "ecotone/base/thread_pool.h"
#include "ecotone/data/formats/format.h"
#include "ecotone/data/generate/generate.h"
#include "ecotone/linalg/blas.h"
#include "ecotone/linalg/speed.h"
#include "ecotone/methods/registry.h"
#include "ecotone/version.h"

namespace ecotone::cli {
namespace {

std::string gigabytes(std::size_t bytes) { return fmt::format("{:.1f} GB", static_cast<double>(bytes) / 1e9); }

Json features() {
  return {{"formats", format_names()},
          {"compression", {"gzip"}},
          {"methods", methods().size()},
          {"generators", generators().size()}};
}

std::string_view chosen_by(const BlasState& blas) {
  switch (kernel_choice().by) {
    case KernelsBy::ecotone_kernels:
      return "ECOTONE_KERNELS";
    case KernelsBy::openblas_coretype:
      return "OPENBLAS_CORETYPE";
    case KernelsBy::processor:
      break;
  }
  return blas.replaced.empty() ? "openblas" : "ecotone";
}

std::string kernels_line(const BlasState& blas) {
  const std::string_view by = chosen_by(blas);
  if (by == "openblas") return fmt::format("{}, chosen by OpenBLAS", blas.kernels);
  if (by != "ecotone") return fmt::format("{}, set by {}", blas.kernels, by);
  return fmt::format("{}, chosen by ecotone: OpenBLAS does not know this processor and had chosen {}", blas.kernels,
                     blas.replaced);
}

std::string speed_line(const ProductSpeed& speed) {
  return fmt::format("{:.0f} GFLOP/s in a matrix product on one thread, {:.0f}% of the peak of {} ({:.0f})",
                     speed.product, 100 * speed.product / speed.peak, instructions_name(processor_instructions()),
                     speed.peak);
}

/// Advice where the BLAS uses old instructions and cannot be made to use others.
std::string fallback_warning(const BlasState& blas) {
  return fmt::format(
      "OpenBLAS uses its {} kernels although this processor has {}, so matrix products run at a fraction of its speed; "
      "set OPENBLAS_CORETYPE={} or install a newer OpenBLAS",
      blas.kernels, instructions_name(processor_instructions()), kernel_choice().kernels.blas_core);
}

void run_doctor(Session& session) {
  const int threads = available_threads();
  const std::size_t memory = available_memory();
  const Context& context = session.context();
  const BlasState blas = blas_state();
  const ProductSpeed speed = measure_product_speed();
  session.say(fmt::format("{}\n\n", version_text()) +
              fmt::format("build      {}, {}{}\n", build_type, build_compiler,
                          *build_sanitizers ? fmt::format(", sanitizers {}", build_sanitizers) : "") +
              fmt::format("blas       {}\n", blas.library) + fmt::format("kernels    {}\n", kernels_line(blas)) +
              fmt::format("speed      {}\n", speed_line(speed)) +
              fmt::format("threads    {} (this run: {})\n", threads, context.threads()) +
              fmt::format("memory     {} available\n", gigabytes(memory)) +
              fmt::format("formats    {}; gzip\n", fmt::join(format_names(), " ")) +
              fmt::format("methods    {}\n", methods().size()) + fmt::format("generators {}\n", generators().size()));
  if (blas.fell_back) context.warn("blas_fell_back", "{}", fallback_warning(blas));
  if (std::string_view(build_type) == "Debug")
    session.say("\nThis is a debug build: it is much slower than a release.\n");
  Json document = version_json();
  document.update({{"blas", blas.library},
                   {"kernels",
                    {{"name", blas.kernels},
                     {"chosen_by", chosen_by(blas)},
                     {"replaced", blas.replaced.empty() ? Json() : Json(blas.replaced)},
                     {"fell_back", blas.fell_back},
                     {"processor", instructions_name(processor_instructions())}}},
                   {"speed", {{"product_gflops", speed.product}, {"peak_gflops", speed.peak}}},
                   {"threads", threads},
                   {"memory_bytes", memory},
                   {"features", features()}});
  session.print(std::move(document));
}

}  // namespace

Verb doctor_verb() {
  return {"doctor",
          "Show what this build can do on this machine",
          "doctor",
          "  ecotone doctor\n"
          "  ecotone doctor --json\n",
          [](Flags&) {},
          run_doctor};
}

}  // namespace ecotone::cli
