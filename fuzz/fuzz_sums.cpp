// Files of sums of arbitrary bytes: what loads saves the same bytes again and finishes to a model that predicts;
// everything else is an Error.
#include <filesystem>
#include <string>
#include <vector>

#include "ecotone/base/files/file.h"
#include "ecotone/methods/sums/parts.h"
#include "reader.h"

namespace {

using namespace ecotone;

constexpr Index most_cols = 64;
constexpr Index most_groups = 16;

/// Eight rows of two columns in two domains.
Dataset tiny_data(Task task) {
  Matrix x(8, 2);
  x << 1, 2, 3, 0.5, 2, 1, 0, 4, 1, 1, 2, 5, 7, 3, 4, 4;
  Dataset data;
  data.schema.columns = {{.name = "a", .levels = {}}, {.name = "b", .levels = {}}};
  data.x = Features::dense(x, {"a", "b"});
  Labels y{task, {}, {}, {}};
  if (task == Task::classify) {
    y.classes = {"no", "yes"};
    y.index = {0, 1, 1, 0, 1, 0, 0, 1};
  } else {
    y.value = x.col(0) - 2 * x.col(1);
  }
  data.y = std::move(y);
  data.domain = {{"u", "v"}, {0, 0, 0, 0, 1, 1, 1, 1}};
  data.role = {Role::source, Role::source};
  return data;
}

/// Writes valid files to start from into the corpus folder, the first one on the command line.
void write_seeds(const std::filesystem::path& folder) {
  const auto write = [&](const char* name, const char* pipeline, Task task) {
    const SumsPart part =
        make_part(Pipeline::parse(pipeline), tiny_data(task), nullptr, {.min_rows = 1}, fuzz::one_thread());
    write_text(folder / name, parts_tensors({part}).bytes());
  };
  write("seed-classes", "scale | ridge lam=1", Task::classify);
  write("seed-numbers", "least_squares l2=1", Task::regress);
  write("seed-drawn", "kpca route=low_rank map=fourier sigma=1 rank=3 | ridge lam=1", Task::classify);
}

void finish(const std::vector<SumsPart>& parts) {
  const Moments& moments = parts.front().sums.moments;
  if (moments.cols() > most_cols || moments.group_count() > most_groups || parts.front().sums.row_cols > most_cols)
    return;
  const Model model = finish_parts(parts, nullptr, fuzz::one_thread());
  (void)model.bytes();
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  for (int i = 1; i < *argc; ++i) {
    if (!std::filesystem::is_directory((*argv)[i])) continue;
    write_seeds((*argv)[i]);
    break;
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::code_of([&] {
    const std::vector<SumsPart> parts = in_order(parts_as_named(TensorFile::parse(fuzz::text_of(data, size), "f.eco")));
    const std::string bytes = parts_tensors(parts).bytes();
    if (parts_tensors(in_order(parts_from(TensorFile::parse(bytes, "again")))).bytes() != bytes)
      fuzz::fail("loaded sums save other bytes");
    fuzz::code_of([&] { finish(parts); });
  });
  return 0;
}
