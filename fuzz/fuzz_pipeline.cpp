// Pipeline text of any bytes: a pipeline whose canonical text reads back as itself, or an option error.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ecotone/base/error.h"
#include "ecotone/methods/pipeline.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const ecotone::Pipeline pipeline = ecotone::Pipeline::parse(text);
    if (ecotone::Pipeline::parse(pipeline.text()).text() != pipeline.text()) std::abort();
  } catch (const ecotone::Error& error) {
    if (error.kind() != ecotone::ErrorKind::option) std::abort();
  }
  return 0;
}
