#include "ecotone/solve/ratios/domain_auroc.h"

#include <algorithm>
#include <vector>

#include "ecotone/base/random.h"

namespace ecotone {
namespace {

constexpr Index folds = 5;
constexpr Index most_rows = 5000;

/// At most `most_rows` of the numbers first .. last-1, ascending.
void add_sample(std::vector<Index>& rows, Index first, Index last, Random random) {
  const auto begin = static_cast<std::ptrdiff_t>(rows.size());
  if (last - first <= most_rows) {
    for (Index i = first; i < last; ++i) rows.push_back(i);
    return;
  }
  for (const Index i : random.sample(last - first, most_rows)) rows.push_back(first + i);
  std::sort(rows.begin() + begin, rows.end());
}

}  // namespace

std::optional<double> domain_auroc(const Features& x, Index sources, const RatioOptions& options,
                                   const Context& context) {
  std::vector<Index> rows;
  add_sample(rows, 0, sources, context.random("domain classifier sample", 0));
  const auto sampled = static_cast<Index>(rows.size());
  add_sample(rows, sources, x.rows(), context.random("domain classifier sample", 1));
  const Features seen = static_cast<Index>(rows.size()) == x.rows() ? x : x.take(rows);
  RatioOptions of_sample = options;
  std::vector<std::int32_t> group;
  for (const Index row : rows)
    if (!options.group.empty()) group.push_back(options.group[at(row)]);
  of_sample.group = group;
  const auto held_out = held_out_scores(seen, sampled, of_sample, folds, context);
  if (!held_out) return std::nullopt;
  return separation(*held_out, sampled);
}

}  // namespace ecotone
