#include <algorithm>
#include <cmath>

#include "ecotone/diagnose/parts.h"
#include "ecotone/linalg/eigen.h"

namespace ecotone {

void add_map(Diagnosis& diagnosis, const Context& context) {
  const auto domains = std::ssize(diagnosis.domains);
  if (domains < 3 || 2 * std::ssize(diagnosis.pairs) != domains * (domains - 1)) return;
  const auto number = [&](const std::string& name) {
    return std::ranges::find(diagnosis.domains, name) - diagnosis.domains.begin();
  };
  Matrix squared = Matrix::Zero(domains, domains);
  for (const Comparison& pair : diagnosis.pairs) {
    if (!pair.mmd2) return;
    const Index a = number(pair.a), b = number(pair.b);
    // Unbiased, hence below 0 for domains that are alike.
    squared(a, b) = squared(b, a) = std::max(0.0, *pair.mmd2);
  }
  // B = -J D J / 2 with J = I - 11' / n; coordinates are eigenvectors times the roots of the eigenvalues.
  const Vector rows = squared.rowwise().mean();
  Matrix centred = squared;
  centred.colwise() -= rows;
  centred.rowwise() -= rows.transpose();
  centred.array() += squared.mean();
  centred *= -0.5;
  const SymmetricEigen eigen = symmetric_eigen(std::move(centred), context);
  double in_all = 0;
  for (const double value : eigen.values) in_all += std::max(0.0, value);
  if (!(in_all > 0)) return;
  Matrix place(domains, 2);
  double shown = 0;
  for (Index k = 0; k < 2; ++k) {
    const double value = std::max(0.0, eigen.values[k]);
    place.col(k) = eigen.vectors.col(k) * std::sqrt(value);
    shown += value;
  }
  diagnosis.map_share = shown / in_all;
  for (Index d = 0; d < domains; ++d) diagnosis.map.push_back({diagnosis.domains[at(d)], place(d, 0), place(d, 1)});
}

}  // namespace ecotone
