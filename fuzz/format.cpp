// Files of one data format, FUZZ_FORMAT, of any bytes: a data set with rows and not more values than bytes, or an
// Error. Compiled once for each format that has no fuzz_FORMAT.cpp of its own.
#include "ecotone/data/formats/format.h"

#include "reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ecotone;
  const Format& format = format_by_name(FUZZ_FORMAT);
  fuzz::code_of([&] {
    const InputFiles files{{}, {ByteSource::memory(fuzz::text_of(data, size), "f" + format.endings.front())}};
    const Dataset read = read_files(format, files, {}, fuzz::one_thread());
    if (read.rows() == 0) fuzz::fail("no rows");
    // Sparse rows name columns that no value takes a byte for.
    if (!read.x.is_sparse() && static_cast<std::size_t>(read.x.to_matrix().size()) > size)
      fuzz::fail("more values than bytes");
  });
  return 0;
}
