// Arbitrary bytes as a model file: parsed with every array touched, or rejected with a file error. Anything else is a
// crash.
#include <cstddef>
#include <cstdint>
#include <string>

#include "ecotone/base/error.h"
#include "ecotone/base/files/tensor_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ecotone;
  try {
    const TensorFile file = TensorFile::parse(std::string(reinterpret_cast<const char*>(data), size), "fuzz.eco");
    std::size_t bytes = 0;
    unsigned sum = 0;
    for (const std::string& name : file.names()) {
      const TensorView view = file.tensor(name);
      if (static_cast<std::size_t>(view.elements()) * element_size(view.type) != view.bytes.size()) __builtin_trap();
      bytes += view.bytes.size();
      for (const std::byte b : view.bytes) sum += std::to_integer<unsigned>(b);
      if (view.type == DType::f64 && file.doubles(name, view.shape).size() * 8 != view.bytes.size()) __builtin_trap();
      if (view.type == DType::i64 && file.integers(name, view.shape).size() * 8 != view.bytes.size()) __builtin_trap();
    }
    for (const auto& [key, value] : file.metadata())
      sum += static_cast<unsigned>(key.size() + file.meta(key).size() + value.size());
    // The arrays fill the file after its header.
    if (bytes + 8 > size) __builtin_trap();
    volatile unsigned seen = sum;
    (void)seen;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::file) throw;
  }
  return 0;
}
