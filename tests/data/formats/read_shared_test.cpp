#include <cmath>

#include "data/formats/read_support.h"
#include "shared_data.h"

namespace ecotone {
namespace read_shared_test {

using namespace test;

std::vector<Index> class_counts(const Dataset& data) {
  std::vector<Index> counts(data.y->classes.size(), 0);
  for (const std::int32_t c : data.y->index)
    if (c >= 0) ++counts[static_cast<std::size_t>(c)];
  return counts;
}

TEST(ReadShared, HeartDisease) {
  const std::filesystem::path path = shared_data() / "heart_disease/heart_disease.csv";
  ECOTONE_SKIP_WITHOUT(path);
  const Dataset data = read_dataset({path}, {.label = "label", .domain = "domain", .ignore = {"num"}}, context_of(2));
  EXPECT_EQ(data.rows(), 920);
  EXPECT_EQ(data.x.cols(), 13);
  EXPECT_EQ(data.domain.count(), 4);
  EXPECT_EQ(data.domain.names[0], "cleveland");
  EXPECT_EQ(data.y->classes, (std::vector<std::string>{"0", "1"}));
  EXPECT_GT(data.x.to_matrix().array().isNaN().count(), 1000);
}

TEST(ReadShared, Parkinsons) {
  const std::filesystem::path path = shared_data() / "parkinsons/parkinsons_updrs.csv";
  ECOTONE_SKIP_WITHOUT(path);
  const Dataset data =
      read_dataset({path}, {.label = "motor_UPDRS", .domain = "domain", .ignore = {"total_UPDRS"}}, context_of(2));
  EXPECT_EQ(data.rows(), 5875);
  EXPECT_EQ(data.domain.count(), 42);
  EXPECT_EQ(data.y->task, Task::regress);
  EXPECT_EQ(data.x.to_matrix()(0, 4), 3.38e-005);
  EXPECT_EQ(data.y->value[0], 28.199);
}

TEST(ReadShared, FlowCytometryIsCompressed) {
  const std::filesystem::path path = shared_data() / "gvhd/gvhd_flowcap12.csv.gz";
  ECOTONE_SKIP_WITHOUT(path);
  const Dataset data = read_dataset(
      {path}, {.label = "label", .domain = "domain", .ignore = {"manual", "triple"}, .where = {"label!=-1"}},
      context_of(2));
  EXPECT_EQ(data.domain.count(), 12);
  EXPECT_EQ(data.y->classes, (std::vector<std::string>{"0", "1", "2"}));
  EXPECT_EQ(data.x.cols(), 6);
  EXPECT_LT(data.rows(), 207'171);
  EXPECT_EQ(read_dataset({path}, {.domain = "domain"}, context_of(2)).rows(), 207'171);
}

TEST(ReadShared, Iris) {
  const std::filesystem::path path = shared_data() / "iris/iris.csv";
  ECOTONE_SKIP_WITHOUT(path);
  const Dataset data = read_dataset({path}, {.label = "label", .domain = "domain"}, context_of(1));
  EXPECT_EQ(data.y->classes, (std::vector<std::string>{"setosa", "versicolor", "virginica"}));
  EXPECT_EQ(class_counts(data), (std::vector<Index>{50, 50, 50}));
}

TEST(ReadShared, Mnist) {
  const std::filesystem::path path = shared_data() / "mnist/t10k-images-idx3-ubyte.gz";
  ECOTONE_SKIP_WITHOUT(path);
  const std::string labels = (shared_data() / "mnist/t10k-labels-idx1-ubyte.gz").string();
  const Dataset data = read_dataset({path}, {.labels_file = labels}, context_of(2));
  EXPECT_EQ(data.rows(), 10'000);
  EXPECT_EQ(data.x.cols(), 784);
  EXPECT_EQ(class_counts(data), (std::vector<Index>{980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009}));
  EXPECT_EQ(data.x.to_matrix().maxCoeff(), 255);
}

TEST(ReadShared, Cifar) {
  const std::filesystem::path path = shared_data() / "cifar10/train5k.bin.gz";
  ECOTONE_SKIP_WITHOUT(path);
  const Dataset data = read_dataset({path}, {}, context_of(2));
  EXPECT_EQ(data.rows(), 5000);
  EXPECT_EQ(class_counts(data), std::vector<Index>(10, 500));
}

}  // namespace read_shared_test
}  // namespace ecotone
