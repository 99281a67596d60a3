// Moments files of arbitrary bytes: what loads saves the same bytes again, merges with itself and gives paths;
// everything else is an Error.
#include <filesystem>
#include <string>
#include <vector>

#include "ecotone/base/files/file.h"
#include "ecotone/solve/moments/moments_file.h"
#include "ecotone/solve/paths/stopping.h"
#include "reader.h"

namespace {

using namespace ecotone;

constexpr Index most_cols = 64;
constexpr Index most_groups = 16;

/// Seven rows of two columns; the last domain has no labels.
Moments tiny_moments(GramKind kind) {
  Matrix x(7, 2);
  x << 1, 2, 3, 0.5, 2, 1, 0, 4, 1, 1, 2, 5, 7, 3;
  Vector y(5);
  y << 1, -1, 1, 1, -1;
  const Vector equal_weights;
  const std::vector<std::int32_t> group = {0, 0, 1, 1, 1, 2, 2};
  const Features features = Features::dense(x, {"a", "b"});
  Moments moments = gather_moments({features, group, {"u", "v", "w"}, y, equal_weights}, kind, fuzz::one_thread());
  moments.classes = {"no", "yes"};
  return moments;
}

/// Writes valid files to start from into the corpus folder, the first one on the command line.
void write_seeds(const std::filesystem::path& folder) {
  for (const GramKind kind : {GramKind::none, GramKind::double_precision, GramKind::single_precision})
    write_text(folder / ("seed-" + std::string(gram_name(kind))), moments_tensors(tiny_moments(kind)).bytes());
}

std::string again(const std::string& bytes) {
  return moments_tensors(moments_from(TensorFile::parse(bytes, "again"))).bytes();
}

/// Short paths by both rules, and those of leave-one-domain-out.
void walk(const Moments& moments) {
  if (moments.gram_kind() == GramKind::none || moments.cols() > most_cols || moments.group_count() > most_groups)
    return;
  for (const PathRule rule : {PathRule::tgreedy, PathRule::greedy})
    for (const PathMode mode : {PathMode::stagewise, PathMode::stepwise, PathMode::ortho_resid})
      fuzz::code_of([&] {
        PathOptions options;
        options.rule = rule;
        options.mode = mode;
        options.steps = 3;
        options.nonnegative = mode == PathMode::stepwise && rule == PathRule::greedy;
        options.centring = {.x = mode == PathMode::stepwise, .y = mode == PathMode::stepwise};
        const auto columns = columns_of_grams(moments);
        (void)select_features(moments, *columns, options, {.folds = true}, fuzz::one_thread());
      });
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
    Moments moments = moments_from(TensorFile::parse(fuzz::text_of(data, size), "f.eco"));
    const std::string bytes = moments_tensors(moments).bytes();
    if (again(bytes) != bytes) fuzz::fail("loaded moments save other bytes");
    walk(moments);
    moments.merge(moments_from(TensorFile::parse(bytes, "other.eco")));
  });
  return 0;
}
