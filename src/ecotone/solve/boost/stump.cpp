#include "ecotone/solve/boost/stump.h"

#include <limits>
#include <map>
#include <utility>

namespace ecotone {

Stump make_stump(const StumpCandidate& candidate, const StumpScale& scale, double lo, double hi) {
  const double range = hi - lo;
  // Never 0, even if the range is the smallest number there is.
  const double least = std::max(1e-9 * (range > 0 ? std::min(range, 1.0) : 1.0), std::numeric_limits<double>::min());
  const double below = candidate.theta - lo;
  const double above = hi - candidate.theta;
  Stump stump{.attribute = candidate.attribute, .theta = candidate.theta};
  switch (scale.kind) {
    case StumpScaleKind::side:
      stump.left = below;
      stump.right = above;
      break;
    case StumpScaleKind::maxabs:
      stump.left = stump.right = std::max(below, above);
      break;
    case StumpScaleKind::range:
      stump.left = stump.right = range;
      break;
    case StumpScaleKind::half:
      stump.left = stump.right = range / 2;
      break;
    case StumpScaleKind::raw:
      stump.left = stump.right = scale.raw;
      break;
  }
  stump.left = std::max(stump.left, least);
  stump.right = std::max(stump.right, least);
  return stump;
}

StumpVote::StumpVote(std::span<const Stump> stumps, std::span<const double> weights) {
  // F_j(x) = sum_{theta < x} s w - sum_{theta >= x} s w
  std::map<Index, std::vector<std::pair<double, double>>> jumps;
  for (std::size_t n = 0; n < stumps.size(); ++n)
    jumps[stumps[n].attribute].emplace_back(stumps[n].theta, stumps[n].sign * weights[n]);
  for (auto& entry : jumps) {
    auto& list = entry.second;
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    Steps steps{entry.first, {}, {}};
    double value = 0;
    for (const auto& jump : list) value -= jump.second;
    steps.value.push_back(value);
    for (const auto& jump : list) {
      value += 2 * jump.second;
      if (!steps.theta.empty() && steps.theta.back() == jump.first) {
        steps.value.back() = value;
      } else {
        steps.theta.push_back(jump.first);
        steps.value.push_back(value);
      }
    }
    attributes_.push_back(std::move(steps));
  }
}

double StumpVote::value(const double* row) const {
  double sum = 0;
  for (const Steps& steps : attributes_) {
    const auto below = std::lower_bound(steps.theta.begin(), steps.theta.end(), row[steps.attribute]);
    sum += steps.value[at(below - steps.theta.begin())];
  }
  return sum;
}

Vector StumpVote::values(const Features& x, const Context& context) const {
  Vector result(x.rows());
  context.parallel(x.blocks(), [&](Index b) {
    Scratch scratch;
    const RowBlock block = x.block(b, scratch);
    for (Index i = 0; i < block.x.rows(); ++i) result[block.first + i] = value(block.x.row(i).data());
  });
  return result;
}

}  // namespace ecotone
