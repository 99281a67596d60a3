#pragma once

#include <memory>
#include <span>

#include "ecotone/base/context.h"
#include "ecotone/data/dataset.h"
#include "ecotone/methods/fit_cache.h"
#include "ecotone/methods/model.h"

namespace ecotone {

/// A pipeline that is fitted again and again on labels that grow. Linear models start at the weights of the previous
/// fit and keep penalties that they chose themselves until the labels have grown by a quarter; other stages are fitted
/// anew.
class GrowingModel {
 public:
  GrowingModel(const Dataset& data, Pipeline pipeline);

  /// Fits on these rows with these labels (one per row of the data, those of other rows are not looked at). Pipelines
  /// that adapt also see the rows `unlabelled`, as a domain of their own.
  Model fit(const Labels& y, std::span<const Index> labelled, std::span<const Index> unlabelled,
            const Context& context);
  /// Whether the pipeline looks at unlabelled rows.
  bool adapts() const { return adapts_; }
  const Pipeline& pipeline() const { return pipeline_; }

 private:
  const Dataset& data_;
  Pipeline pipeline_;
  bool adapts_ = false;
  FitCache cache_{FitCache::Order::growing};
};

}  // namespace ecotone
