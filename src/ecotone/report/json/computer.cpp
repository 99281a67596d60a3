#include "ecotone/linalg/computer.h"

#include "ecotone/data/formats/format.h"
#include "ecotone/data/generate/generate.h"
#include "ecotone/methods/registry.h"
#include "ecotone/report/json/json.h"

namespace ecotone {

Json to_json(const Computer& computer) {
  const BlasState& blas = computer.blas;
  return {{"blas", blas.library},
          {"kernels",
           {{"name", blas.kernels},
            {"chosen_by", computer.kernels_by},
            {"replaced", blas.replaced.empty() ? Json() : Json(blas.replaced)},
            {"fell_back", blas.fell_back},
            {"processor", computer.instructions}}},
          {"speed", {{"product_gflops", computer.speed.product}, {"peak_gflops", computer.speed.peak}}},
          {"threads", computer.threads},
          {"memory_bytes", computer.memory},
          {"features",
           {{"formats", format_names()},
            {"compression", {"gzip"}},
            {"methods", methods().size()},
            {"generators", generators().size()}}}};
}

}  // namespace ecotone
