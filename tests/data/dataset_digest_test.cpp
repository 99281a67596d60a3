#include "ecotone/data/dataset_digest.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/temp_folder.h"
#include "data/sparse_support.h"
#include "ecotone/data/generate/generate.h"
#include "ecotone/data/read.h"

namespace ecotone {
namespace dataset_digest_test {

Context on(int threads) { return Context({.threads = threads}); }

Dataset clinics() { return generate("clinics", {}, on(1)); }

TEST(DatasetDigest, DoesNotDependOnThreads) { EXPECT_EQ(digest_of(clinics(), on(1)), digest_of(clinics(), on(3))); }

TEST(DatasetDigest, SeesEveryPart) {
  const Digest before = digest_of(clinics(), on(1));
  const std::vector<std::function<void(Dataset&)>> changes = {
      [](Dataset& data) {
        Matrix x = data.x.to_matrix();
        x(x.rows() - 1, x.cols() - 1) += 1;
        data.x = Features::dense(std::move(x), data.x.names());
      },
      [](Dataset& data) {
        std::vector<std::string> names = data.x.names();
        names.back() += "'";
        data.x = Features::dense(data.x.to_matrix(), names);
      },
      [](Dataset& data) { data.y->index.back() = 1 - data.y->index.back(); },
      [](Dataset& data) { data.y->classes.back() += "'"; },
      [](Dataset& data) { data.y.reset(); },
      [](Dataset& data) { data.domain.index.back() = 0; },
      [](Dataset& data) { data.domain.names.back() += "'"; },
      [](Dataset& data) { data.role.back() = Role::target; },
      [](Dataset& data) { data.weight = Vector::Constant(data.rows(), 1); },
      [](Dataset& data) { data.schema.label += "'"; },
      [](Dataset& data) { data.origin.assign(at(data.rows()), 7); },
      [](Dataset& data) { data.group.assign(at(data.rows()), 0); },
      [](Dataset& data) { data.time = Vector::Constant(data.rows(), 1); },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Dataset other = clinics();
    changes[i](other);
    EXPECT_NE(digest_of(other, on(1)), before) << "change " << i;
  }
}

TEST(DatasetDigest, OfBlocksSeesTheirRowsAlone) {
  const Matrix before = clinics().x.to_matrix().unaryExpr([](double value) { return std::isnan(value) ? 0.0 : value; });
  Matrix after = before;
  after(600, 0) = 12345;  // in the second block of 512 rows
  for (const bool sparse : {false, true}) {
    const auto features = [&](const Matrix& x) {
      return sparse ? Features::sparse(test::to_csr(x)) : Features::dense(x);
    };
    const Features old = features(before), changed = features(after);
    ASSERT_GT(old.blocks(), 3);
    for (const int threads : {1, 3}) {
      EXPECT_EQ(digest_of_blocks(old, 0, 1, on(1)), digest_of_blocks(changed, 0, 1, on(threads)));
      EXPECT_NE(digest_of_blocks(old, 1, 2, on(1)), digest_of_blocks(changed, 1, 2, on(threads)));
      EXPECT_EQ(digest_of_blocks(old, 2, old.blocks(), on(1)), digest_of_blocks(changed, 2, old.blocks(), on(threads)));
      EXPECT_NE(digest_of_blocks(old, 0, old.blocks(), on(1)), digest_of_blocks(changed, 0, old.blocks(), on(threads)));
      EXPECT_NE(digest_of_blocks(old, 0, 1, on(1)), digest_of_blocks(old, 2, 3, on(threads)));
      EXPECT_EQ(digest_of_blocks(old, 2, 2, on(1)), digest_of_blocks(old, old.blocks(), old.blocks(), on(threads)));
    }
  }
}

TEST(DatasetDigest, OfBlocksIsTheSameForAMappedFile) {
  const TempFolder folder;
  const Dataset data = clinics();
  write_eco(data, folder / "data.eco", on(1));
  const Features mapped = read_dataset({folder / "data.eco"}, {}, on(1)).x;
  for (Index b = 0; b < data.x.blocks(); ++b)
    EXPECT_EQ(digest_of_blocks(mapped, b, b + 1, on(1)), digest_of_blocks(data.x, b, b + 1, on(1)));
}

TEST(DatasetDigest, BesideFeaturesSeesAllButTheirValues) {
  const Digest before = digest_beside_features(clinics());
  Dataset values = clinics(), labels = clinics(), names = clinics();
  values.x = Features::dense(Matrix::Zero(values.x.rows(), values.x.cols()), values.x.names());
  EXPECT_EQ(digest_beside_features(values), before);
  labels.y->index.back() = 1 - labels.y->index.back();
  EXPECT_NE(digest_beside_features(labels), before);
  names.x = Features::dense(names.x.to_matrix());
  EXPECT_NE(digest_beside_features(names), before);
}

TEST(DatasetDigest, IsTheSameForAMappedFile) {
  const TempFolder folder;
  Dataset data = clinics();
  write_eco(data, folder / "data.eco", on(1));
  const Digest before = digest_of(data, on(1));
  data.x = read_dataset({folder / "data.eco"}, {}, on(1)).x;
  EXPECT_EQ(digest_of(data, on(1)), before);
}

TEST(DatasetDigest, SparseFeaturesAreToldApart) {
  Dataset data = clinics();
  Csr csr{2, 3, {0, 1, 2}, {0, 2}, {1.0, 2.0}};
  data.x = Features::sparse(csr);
  const Digest before = digest_of(data, on(1));
  EXPECT_EQ(digest_of(data, on(2)), before);
  csr.value[1] = 3;
  data.x = Features::sparse(csr);
  EXPECT_NE(digest_of(data, on(1)), before);
}

}  // namespace dataset_digest_test
}  // namespace ecotone
