#pragma once

#include <cmath>
#include <string>

#include "ecotone/base/random.h"
#include "ecotone/data/dataset.h"

/// Domains drawn from one law of domains, as what is said about a new one assumes.
namespace ecotone::test {

/// What differs between domains.
enum class Drawn { rows, relation, shares };

/// `domains` domains of `rows` rows each with three features and two classes. Each domain moves its rows, its relation
/// of labels to features, or its share of classes by a draw of its own; `spread` says how far.
inline Dataset drawn_domains(Index domains, Index rows, Drawn what, double spread, std::uint64_t seed) {
  Dataset data;
  Labels y{Task::classify, {"no", "yes"}, {}, {}};
  Matrix x(domains * rows, 3);
  Random random(seed, "drawn domains");
  Index row = 0;
  for (Index d = 0; d < domains; ++d) {
    data.domain.names.push_back("d" + std::to_string(d));
    data.role.push_back(Role::source);
    const Vector moved{{random.normal(), random.normal(), random.normal()}};
    const double share = 1 / (1 + std::exp(-2 * spread * random.normal()));
    for (Index i = 0; i < rows; ++i, ++row) {
      data.domain.index.push_back(static_cast<std::int32_t>(d));
      if (what == Drawn::shares) {
        const std::int32_t k = random.uniform() < share ? 1 : 0;
        y.index.push_back(k);
        for (Index j = 0; j < 3; ++j) x(row, j) = random.normal() + (j < 2 ? 0.9 * k : 0);
        continue;
      }
      for (Index j = 0; j < 3; ++j) x(row, j) = random.normal() + (what == Drawn::rows ? spread * moved[j] : 0);
      double score = 1.5 * x(row, 0) - x(row, 1);
      if (what == Drawn::relation) score += spread * (moved[0] + moved[1] * x(row, 1));
      y.index.push_back(random.uniform() < 1 / (1 + std::exp(-score)) ? 1 : 0);
    }
  }
  data.x = Features::dense(std::move(x), {"a", "b", "c"});
  data.y = std::move(y);
  data.schema = Schema{{{"a", ColumnKind::numeric, {}}, {"b", ColumnKind::numeric, {}}, {"c", ColumnKind::numeric, {}}},
                       "label",
                       "site",
                       ""};
  return data;
}

/// The same with a number to predict.
inline Dataset drawn_numbers(Index domains, Index rows, double spread, std::uint64_t seed) {
  Dataset data = drawn_domains(domains, rows, Drawn::rows, 0, seed);
  Labels y{Task::regress, {}, {}, Vector(data.rows())};
  Random random(seed, "drawn numbers");
  std::vector<double> moved;
  for (Index d = 0; d < domains; ++d) moved.push_back(spread * random.normal());
  const Matrix x = data.x.to_matrix();
  for (Index i = 0; i < data.rows(); ++i)
    y.value[i] = 10 + 2 * x(i, 0) - x(i, 1) + moved[at(data.domain.index[at(i)])] + random.normal();
  data.y = std::move(y);
  return data;
}

/// Rows of the domains from `first` to `last`, and of their view and batch.
inline std::vector<Index> rows_of_domains(const Dataset& data, Index first, Index last) {
  std::vector<Index> rows;
  for (Index i = 0; i < data.rows(); ++i)
    if (data.domain.index[at(i)] >= first && data.domain.index[at(i)] < last) rows.push_back(i);
  return rows;
}

}  // namespace ecotone::test
