// Golden case 06: transfer components by the exact and the low-rank route.
#include "ecotone/solve/components/tca.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>

#include "ecotone/base/random.h"
#include "ecotone/kernels/low_rank.h"
#include "golden_align.h"

namespace ecotone::test {
namespace tca_test {

const Context run({.threads = 2, .seed = 1});

Index count_of(const std::vector<std::int32_t>& group) { return 1 + *std::ranges::max_element(group); }

TEST(Tca, GoldenExact) {
  const Json inputs = golden_file("align", "06_tca").at("inputs");
  const Matrix x = matrix_of(inputs.at("X")), fresh = matrix_of(inputs.at("new"));
  for (const Json& each : align_tasks("06_tca", "tca")) {
    AlignTask task(each);
    const Json& params = task.params();
    const Kernel kernel{.kind = KernelKind::rbf, .sigma = std::sqrt(0.5 / params.at("gamma").get<double>())};
    const std::vector<std::int32_t> group = indices_of(inputs.at(params.at("groups").get<std::string>()));
    const TransferOptions options{.mu = params.at("mu"), .components = params.at("m")};
    const TransferComponents found = transfer_components(x, kernel, group, count_of(group), options, "test", run);
    task.expect("eigenvalues", found.gamma);
    task.expect("train", found.projections);
    Matrix z(fresh.rows(), found.gamma.size());
    found.map.project(fresh, z);
    task.expect("new", z);

    // Landmarks at all rows: the low-rank route is the same up to rounding of a nearly singular kernel.
    const LowRankMap map =
        fit_low_rank(Features::dense(x), kernel, {.kind = LowRankKind::greedy, .rank = x.rows()}, run).map;
    const Features rows = Features::dense(x);
    TransferDirections low =
        transfer_directions(gather_low_rank_sums({rows, map, group, count_of(group)}, run), options, run);
    fix_transfer_signs(rows, map, low.directions, run);
    EXPECT_LT((low.gamma - found.gamma).cwiseAbs().maxCoeff(), 1e-6);
    const LowRankProjection projection(map, low.directions, Vector::Zero(map.rank()), false);
    Matrix train(x.rows(), low.gamma.size());
    projection.project(x, train);
    EXPECT_LT((train - found.projections).cwiseAbs().maxCoeff(), 1e-5);
  }
}

TEST(Tca, GoldenLowRank) {
  const Json inputs = golden_file("align", "06_tca").at("inputs");
  Matrix g = matrix_of(inputs.at("G"));
  for (const Json& each : align_tasks("06_tca", "tca_lowrank")) {
    AlignTask task(each);
    const std::vector<std::int32_t> group = indices_of(inputs.at(task.params().at("groups").get<std::string>()));
    LowRankSums sums(Vector(g.row(0)), count_of(group), Vector());
    Matrix rho = g, none(g.rows(), 0);
    sums.add(rho, group, none);
    const TransferDirections found =
        transfer_directions(sums, {.mu = task.params().at("mu"), .components = task.params().at("m")}, run);
    Matrix a = found.directions, z = g * a;
    for (Index j = 0; j < z.cols(); ++j) {
      Index row = 0;
      z.col(j).cwiseAbs().maxCoeff(&row);
      if (z(row, j) > 0) continue;
      z.col(j) *= -1;
      a.col(j) *= -1;
    }
    task.expect("eigenvalues", found.gamma);
    task.expect("train", z);
    task.expect("a", a);
  }
}

/// More groups than features of the map: the means span them all, and (I + mu F F')^-1/2 is of their r x r products.
/// Against the definition, S_H a = g (S^-1 + mu f f') a.
TEST(Tca, MoreGroupsThanRankFollowTheDefinition) {
  constexpr Index rank = 3, groups = 12, rows = 36;
  Random random(2, "tca groups");
  Matrix r(rows, rank);
  std::vector<std::int32_t> group;
  for (Index i = 0; i < rows; ++i) {
    group.push_back(static_cast<std::int32_t>(i % groups));
    for (Index j = 0; j < rank; ++j) r(i, j) = random.normal() + 0.3 * static_cast<double>((i % groups) * j);
  }
  LowRankSums sums(Vector(r.row(0)), groups, Vector());
  Matrix rho = r, none(rows, 0);
  sums.add(rho, group, none);
  const double mu = 5;
  const TransferDirections found = transfer_directions(sums, {.mu = mu, .components = rank}, run);
  ASSERT_EQ(found.gamma.size(), rank);
  Matrix e = Matrix::Zero(rows, groups);
  for (Index i = 0; i < rows; ++i) e(i, group[at(i)]) = 1.0 * groups / rows;
  const Matrix f = std::sqrt(2.0 / (groups - 1)) * r.transpose() * (e.colwise() - e.rowwise().mean());
  const Matrix centred = r.rowwise() - r.colwise().mean();
  const Matrix left = centred.transpose() * centred;
  const Matrix right = Matrix((r.transpose() * r).inverse()) + mu * f * f.transpose();
  for (Index j = 0; j < rank; ++j) {
    const Vector a = found.directions.col(j);
    EXPECT_LT((left * a - found.gamma[j] * right * a).norm(), 1e-10 * (left * a).norm()) << j;
    EXPECT_NEAR(a.dot(right * a), 1, 1e-10) << j;
  }
}

/// Column j has variance g / n, and a large mu brings the means of the groups together.
TEST(Tca, BringsMeansTogether) {
  const Json inputs = golden_file("align", "06_tca").at("inputs");
  const Matrix x = matrix_of(inputs.at("X"));
  const std::vector<std::int32_t> group = indices_of(inputs.at("two"));
  double before = 0;
  for (const double mu : {0.0, 1e6}) {
    const TransferComponents found = transfer_components(x, {.kind = KernelKind::rbf, .sigma = 1}, group, 2,
                                                         {.mu = mu, .components = 2}, "test", run);
    const Matrix& z = found.projections;
    Vector first = Vector::Zero(2), second = Vector::Zero(2);
    for (Index i = 0; i < z.rows(); ++i)
      (group[at(i)] == 0 ? first : second) += z.row(i).transpose() / (group[at(i)] == 0 ? 15.0 : 6.0);
    const double apart = (first - second).norm();
    if (mu == 0)
      before = apart;
    else
      EXPECT_LT(apart, 1e-2 * before);
    const Vector variance = (z.rowwise() - z.colwise().mean()).colwise().squaredNorm().transpose() / 21;
    EXPECT_LT((variance - found.gamma / 21).norm(), 1e-10);
  }
}

}  // namespace tca_test
}  // namespace ecotone::test
