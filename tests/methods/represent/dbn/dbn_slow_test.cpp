#include <cstdlib>
#include <filesystem>

#include "ecotone/data/read.h"
#include "methods/support.h"

namespace ecotone::test {
namespace {

/// The shared data sets: $ECOTONE_DATA, or shared/data beside the source tree.
std::filesystem::path shared_data() {
  if (const char* path = std::getenv("ECOTONE_DATA")) return path;
  return std::filesystem::path(ECOTONE_SOURCE_DIR).parent_path() / "shared" / "data";
}

TEST(DbnSlow, ErrorFallsInEveryEpochOnImagesOfDigits) {
  const std::filesystem::path path = shared_data() / "mnist/train10k-images-idx3-ubyte.gz";
  if (!std::filesystem::exists(path))
    GTEST_SKIP() << path << " is not there; the shared data are looked for in ECOTONE_DATA";
  const Context run = context(0);
  const Dataset data = read_dataset({path}, {}, run);
  const Model model = Model::fit(Pipeline::parse("dbn"), train_view(data, run), data.schema, run);
  const Json stage = model.inspect()["stages"][0];
  EXPECT_EQ(stage["visible"], "binary");
  EXPECT_EQ(stage["scale"][0], 255.0);
  const Json& errors = stage["reconstruction"];
  ASSERT_EQ(errors.size(), 3);
  std::vector<double> mean(15, 0.0);
  for (const Json& layer : errors) {
    ASSERT_EQ(layer.size(), mean.size());
    for (std::size_t epoch = 0; epoch < mean.size(); ++epoch) mean[epoch] += layer[epoch].get<double>() / 3;
    // Measured: to 0.18, 0.17 and 0.13 of the first epoch's.
    EXPECT_LT(layer.back().get<double>(), 0.3 * layer.front().get<double>());
  }
  for (std::size_t epoch = 1; epoch < mean.size(); ++epoch) EXPECT_LT(mean[epoch], mean[epoch - 1]) << epoch;
  // The images' variance per pixel is 0.067; the first layer keeps all but a seventh of it.
  EXPECT_LT(errors[0].back().get<double>(), 0.012);
}

}  // namespace
}  // namespace ecotone::test
