#include "ecotone/methods/weight/balanced_weighting.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "ecotone/base/error.h"
#include "ecotone/solve/robust/balance.h"

namespace ecotone {

void check_balance(const BalancedWeightOptions& options, const char* who) {
  if (options.balance && options.per_source)
    option_error("bad_option",
                 "{}: balance=true counts all source domains equally, and per_source=true compares each by itself; use "
                 "one of them",
                 who);
}

Vector source_masses(const TrainView& view, const std::vector<Index>& rows, const BalancedWeightOptions& options) {
  if (!options.balance) return {};
  std::vector<std::int32_t> domain;
  for (const Index row : rows) domain.push_back(view.domain.index[at(row)]);
  const Vector factor = balanced_cells(domain, view.domain.count(), Vector()).factor;
  Vector mass(std::ssize(rows));
  for (Index i = 0; i < mass.size(); ++i) mass[i] = factor[domain[at(i)]];
  return mass;
}

Vector log_of_ratio(const Vector& ratio, const Vector& mass) {
  const Vector weight = mass.size() == 0 ? ratio : Vector(ratio.array() * mass.array());
  return weight.unaryExpr([](double each) { return std::log(std::max(each, 0.0)); });
}

}  // namespace ecotone
