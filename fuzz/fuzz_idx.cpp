// IDX files of arbitrary bytes: a data set of the size that the file claims, or an Error.
#include "ecotone/data/formats/arrays.h"
#include "reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ecotone;
  const std::vector<ByteSource> sources = {ByteSource::memory(fuzz::text_of(data, size), "f.idx")};
  fuzz::code_of([&] {
    const ReadOptions options;
    const Dataset read = arrays_dataset(read_arrays(FileFormat::idx, sources, options, fuzz::one_thread()), sources,
                                        options, fuzz::one_thread());
    if (read.rows() == 0 || static_cast<std::size_t>(read.x.to_matrix().size()) > size)
      fuzz::fail("more values than bytes");
  });
  return 0;
}
