#include "ecotone/label/growing_model.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ecotone {
namespace {

/// Puts unlabelled rows whose domain has labelled rows into a domain of their own: a domain is either learned from or
/// adapted to.
void set_apart(Domains& domain, std::span<const Index> labelled, std::span<const Index> unlabelled) {
  std::set<std::int32_t> learned;
  for (const Index row : labelled) learned.insert(domain.index[at(row)]);
  std::vector<std::int32_t> other(domain.names.size(), -1);
  for (const Index row : unlabelled) {
    std::int32_t& index = domain.index[at(row)];
    if (!learned.contains(index)) continue;
    std::int32_t& renamed = other[at(index)];
    if (renamed < 0) {
      renamed = static_cast<std::int32_t>(domain.names.size());
      domain.names.push_back(domain.names[at(index)] + " (unlabelled)");
    }
    index = renamed;
  }
}

}  // namespace

GrowingModel::GrowingModel(const Dataset& data, Pipeline pipeline)
    : data_(data),
      pipeline_(std::move(pipeline)),
      adapts_(std::ranges::any_of(pipeline_.stages(), [](const Stage& stage) { return stage.method->adapts(); })) {}

Model GrowingModel::fit(const Labels& y, std::span<const Index> labelled, std::span<const Index> unlabelled,
                        const Context& context) {
  Dataset data = data_;
  data.y = y;
  if (!adapts_) unlabelled = {};
  set_apart(data.domain, labelled, unlabelled);
  const TrainView view = train_view(data, labelled, unlabelled, context);
  return Model::fit(pipeline_, view, data.schema, context, cache_);
}

}  // namespace ecotone
