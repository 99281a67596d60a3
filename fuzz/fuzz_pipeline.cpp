// Pipeline text of arbitrary bytes: pipelines whose canonical text reads back as itself, or an option error.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ecotone/base/error.h"
#include "ecotone/methods/grid.h"

namespace {

void check(const ecotone::Pipeline& pipeline) {
  if (ecotone::Pipeline::parse(pipeline.text()).text() != pipeline.text()) std::abort();
}

template <class Read>
void read(Read&& read) {
  try {
    read();
  } catch (const ecotone::Error& error) {
    if (error.kind() != ecotone::ErrorKind::option) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read([&] { check(ecotone::Pipeline::parse(text)); });
  read([&] {
    const ecotone::PipelineSpace space(text);
    ecotone::Random random(1, "fuzz");
    check(space.draw(random));
    if (space.size() > 100) return;  // a large grid takes long and adds nothing
    for (const ecotone::Pipeline& pipeline : ecotone::expand_grid(text)) check(pipeline);
  });
  return 0;
}
