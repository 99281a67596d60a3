#include "ecotone/solve/ratios/knn_ratio.h"

#include <algorithm>

#include "ecotone/base/error.h"
#include "ecotone/solve/neighbours/neighbours.h"

namespace ecotone {

Vector knn_ratio(const Features& x, Index sources, const KnnRatioOptions& options, const Context& context) {
  if (sources <= 0 || sources >= x.rows()) {
    data_error("empty_data", "{}: the {} domain has no rows", options.who, sources <= 0 ? "source" : "target");
  }
  if (options.k < 1 || options.k >= x.rows()) {
    data_error("bad_k", "{}: k must be less than the total of {} source and target rows, got {}", options.who, x.rows(),
               options.k);
  }
  const Matrix rows = x.to_matrix();
  const Neighbours near = nearest_neighbours(rows.topRows(sources), rows, options.k,
                                             options.include_self ? Self::keep : Self::leave_out, context, options.who);
  const auto n_s = static_cast<double>(sources);
  const auto n_t = static_cast<double>(x.rows() - sources);
  const double p_s = n_s / (n_s + n_t);
  Vector weights(sources);
  for (Index i = 0; i < sources; ++i) {
    const auto n_plus = static_cast<double>((near.index.row(i).array() < sources).count());
    const double n_minus = static_cast<double>(options.k) - n_plus;
    weights[i] = options.zero == ZeroCount::smooth ? n_s / n_t * (n_minus + 1 - p_s) / (n_plus + p_s)
                                                   : n_s / n_t * n_minus / std::max(n_plus, 0.5);
  }
  return weights;
}

}  // namespace ecotone
