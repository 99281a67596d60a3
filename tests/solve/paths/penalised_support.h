#pragma once

#include <fmt/format.h>

#include <Eigen/Dense>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "ecotone/base/random.h"
#include "ecotone/solve/moments/moments.h"

/// Data of several domains, and the equations of penalised regression formed from their rows.
namespace ecotone::test {

inline Context context(int threads = 2) { return Context(Context::Settings{.threads = threads, .seed = 1}); }

/// Domains with offsets, columns of different sizes, effects of which half vary over domains, and row weights; y is -1
/// or +1 or a number.
struct Sample {
  Features x;
  std::vector<std::int32_t> group;
  std::vector<std::string> names;
  Vector y;
  Vector weight;

  Sample(Index rows, Index cols, Index domains, bool classes) {
    Random random(5, "penalised");
    Matrix values(rows, cols);
    Matrix effect(domains, cols);
    Matrix shift(domains, cols);
    for (Index j = 0; j < cols; ++j) {
      const double common = random.normal();
      for (Index d = 0; d < domains; ++d) {
        effect(d, j) = j % 2 == 0 ? common : common + 2 * random.normal();
        shift(d, j) = random.normal();
      }
    }
    y.resize(rows);
    weight.resize(rows);
    for (Index d = 0; d < domains; ++d) names.push_back(fmt::format("d{}", d));
    for (Index i = 0; i < rows; ++i) {
      group.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(domains))));
      const Index d = group.back();
      const double factor = random.normal();
      for (Index j = 0; j < cols; ++j) values(i, j) = random.normal() + 0.6 * factor + 0.4 * shift(d, j);
      const double score = values.row(i).dot(effect.row(d)) + random.normal();
      y[i] = classes ? (score > 0 ? 1.0 : -1.0) : score;
      weight[i] = random.uniform(0.5, 2.0);
    }
    for (Index j = 0; j < cols; ++j)
      values.col(j) = values.col(j) * std::pow(3.0, double(j % 5)) + Vector::Constant(rows, double(j));
    x = Features::dense(values);
  }
  MomentRows rows() const { return {x, group, names, y, weight}; }
  Index domains() const { return static_cast<Index>(names.size()); }
};

/// G, b and s^2 of all domains but one, from the rows: what the moments must give.
struct Dense {
  Matrix g;
  Vector b, s2, centre, unit;
  double y_mean = 0, y2 = 0;

  Dense(const Sample& s, Index left_out) {
    const Matrix x = s.x.to_matrix();
    const Index p = x.cols();
    std::vector<Index> use;
    for (Index d = 0; d < s.domains(); ++d)
      if (d != left_out) use.push_back(d);
    const auto n = static_cast<double>(use.size());
    // Each row's share in the mean of the domains.
    Vector share = Vector::Zero(x.rows());
    for (const Index d : use) {
      double total = 0;
      for (Index i = 0; i < x.rows(); ++i)
        if (s.group[static_cast<std::size_t>(i)] == d) total += s.weight[i];
      for (Index i = 0; i < x.rows(); ++i)
        if (s.group[static_cast<std::size_t>(i)] == d) share[i] = s.weight[i] / total / n;
    }
    centre = x.transpose() * share;
    y_mean = s.y.dot(share);
    Matrix z = x.rowwise() - centre.transpose();
    unit = (z.cwiseAbs2().transpose() * share).cwiseSqrt();
    for (Index j = 0; j < p; ++j) z.col(j) /= unit[j];
    const Vector yc = s.y.array() - y_mean;
    g = z.transpose() * share.asDiagonal() * z;
    b = z.transpose() * share.cwiseProduct(yc);
    y2 = share.dot(yc.cwiseAbs2());
    Matrix of_domain(static_cast<Index>(use.size()), p);
    for (std::size_t k = 0; k < use.size(); ++k) {
      Vector mask = Vector::Zero(x.rows());
      for (Index i = 0; i < x.rows(); ++i)
        if (s.group[static_cast<std::size_t>(i)] == use[k]) mask[i] = n * share[i] * yc[i];
      of_domain.row(static_cast<Index>(k)) = (z.transpose() * mask).transpose();
    }
    const Matrix off = of_domain.rowwise() - of_domain.colwise().mean();
    s2 = off.colwise().squaredNorm().transpose() / (n - 1);
  }
  Vector penalty(double mix) const { return (1 - mix) + (mix / s2.mean() * s2.array()); }
  /// argmin of J on the given features, and J there.
  std::pair<Vector, double> best(const std::vector<Index>& on, double lam, double mix) const {
    const Vector v = penalty(mix);
    Matrix a = g(on, on);
    for (std::size_t k = 0; k < on.size(); ++k) a(static_cast<Index>(k), static_cast<Index>(k)) += lam * v[on[k]];
    const Vector target = b(on);
    const Vector w = Eigen::LDLT<Eigen::MatrixXd>(a).solve(target);
    return {w, y2 - w.dot(target)};
  }
};

}  // namespace ecotone::test
