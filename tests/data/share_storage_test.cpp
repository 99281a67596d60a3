#include "ecotone/data/storage/share_storage.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <memory>

#include "base/rank_threads.h"
#include "base/temp_folder.h"
#include "ecotone/data/read.h"

namespace ecotone {
namespace share_storage_test {

/// Rows that count how often they are read.
class CountedRows final : public FeatureStorage {
 public:
  Index rows() const override { return 1500; }
  Index cols() const override { return 2; }
  bool in_file() const override { return true; }
  RowBlock block(Index b, Scratch& scratch) const override {
    ++reads;
    const Index first = b * block_rows(), count = std::min(block_rows(), rows() - first);
    MatrixView out = scratch.reserve(count, cols());
    for (Index i = 0; i < count; ++i) out.row(i).setConstant(static_cast<double>(first + i));
    return {first, ConstMatrixMap(out.data(), count, cols(), Eigen::OuterStride<>(out.outerStride()))};
  }
  mutable std::atomic<int> reads = 0;
};

TEST(ShareStorage, KeepsItsOwnRowsAndOthersThatAreAskedForAgain) {
  RankThreads(3).run([](Communicator& ranks) {
    const auto file = std::make_shared<CountedRows>();
    const ShareStorage share(file, Context({.threads = 1, .ranks = &ranks}));
    EXPECT_EQ(file->reads, 1);
    Scratch scratch;
    for (int pass = 1; pass <= 4; ++pass) {
      for (Index b = 0; b < 3; ++b) {
        const RowBlock read = share.block(b, scratch);
        ASSERT_EQ(read.first, 512 * b);
        ASSERT_EQ(read.x.rows(), b < 2 ? 512 : 1500 - 2 * 512);
        for (Index i = 0; i < read.x.rows(); ++i) ASSERT_EQ(read.x(i, 1), static_cast<double>(read.first + i));
      }
      EXPECT_EQ(file->reads, 1 + 2 * std::min(pass, 2));
    }
  });
}

/// Whether the features of a CSV file stay in it on two ranks.
bool stays_in_file(const ReadOptions& options, const TempFolder& folder) {
  const auto path = folder / "rows.csv";
  std::ofstream(path) << "a,b\n1,2\n3,4\n5,6\n";
  bool in_file = false;
  RankThreads(2).run([&](Communicator& ranks) {
    const Dataset data = read_dataset({path}, options, Context({.threads = 1, .ranks = &ranks}));
    EXPECT_EQ(data.x.to_matrix()(2, 1), 6);
    if (ranks.rank() == 0) in_file = data.x.storage().in_file();
  });
  return in_file;
}

TEST(ShareStorage, IsOfFitsAlone) {
  const TempFolder folder;
  EXPECT_FALSE(stays_in_file({}, folder));
  EXPECT_TRUE(stays_in_file({.own_rows = true}, folder));
  EXPECT_TRUE(stays_in_file({.stream = true}, folder));
}

}  // namespace share_storage_test
}  // namespace ecotone
