// Data files (.eco) of arbitrary bytes: what loads has every label and domain in range and can be read to the end;
// everything else is an Error.
#include <filesystem>

#include "ecotone/data/formats/csv/csv.h"
#include "ecotone/data/formats/eco.h"
#include "ecotone/data/read.h"
#include "reader.h"

namespace {

using namespace ecotone;

/// Writes valid files to start from into the corpus folder, the last one on the command line.
void write_seeds(const std::filesystem::path& folder) {
  if (!std::filesystem::is_directory(folder)) return;
  const ByteSource table = ByteSource::memory("d,a,t,y\ns,1,u,p\nr,2,v,q\ns,,u,p\n", "seed.csv");
  ReadOptions options;
  options.label = "y";
  options.domain = "d";
  Dataset data = read_csv({table}, options, {}, fuzz::one_thread());
  write_eco(data, folder / "seed-dense", fuzz::one_thread());
  Csr x{3, 3, {0, 1, 1, 3}, {2, 0, 1}, {1, 2, 3}};
  data.x = Features::sparse(std::move(x), data.x.names());
  write_eco(data, folder / "seed-sparse", fuzz::one_thread());
}

void check(const Dataset& data) {
  for (const std::int32_t d : data.domain.index)
    if (d < 0 || d >= data.domain.count()) fuzz::fail("domain out of range");
  if (data.y && data.y->task == Task::classify) {
    for (const std::int32_t c : data.y->index)
      if (c < -1 || c >= static_cast<std::int32_t>(data.y->classes.size())) fuzz::fail("class out of range");
  }
  double sum = 0;
  for (Index b = 0; b < data.x.blocks(); ++b) {
    Scratch scratch;
    sum += data.x.block(b, scratch).x.sum();
  }
  if (sum == 0.123456789) fuzz::fail("unlikely");  // keeps the sum
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  if (*argc > 1) write_seeds((*argv)[*argc - 1]);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::code_of([&] {
    const TensorFile file = TensorFile::parse(fuzz::text_of(data, size), "f.eco");
    check(read_eco(file, {}, fuzz::one_thread()));
  });
  return 0;
}
