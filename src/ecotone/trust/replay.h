#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ecotone/evaluate/evaluate.h"
#include "ecotone/evaluate/score.h"
#include "ecotone/methods/model.h"
#include "ecotone/methods/overlap.h"
#include "ecotone/trust/estimators.h"

namespace ecotone {

/// The fits behind all that is said about a new domain: models without one source domain each and, for replays, without
/// two. Each is fitted once, for whatever set of domains it leaves out.
class ReplayFits {
 public:
  /// Source rows are the labelled rows of the data's source domains. Every class of the data is looked at, so there
  /// should be none that only other rows have. The data and the context must outlive it. Data errors: `too_few_domains`
  /// with fewer than three of them, and those of the fits.
  ReplayFits(const Dataset& data, const Pipeline& pipeline, NextDomainBy by, Journal* journal, const Context& context);

  NextDomainBy by() const { return by_; }  ///< replay or cheap
  std::size_t domains() const { return domains_.size(); }
  const std::vector<std::string>& metrics() const { return metrics_; }

  /// Every source row by a model without its domain.
  const SourceRows& sources() const { return sources_; }
  /// The rows of the other domains, as they would be known if domain k were the target.
  SourceRows sources_without(std::size_t k) const;
  /// Domain k as a target: what the model without it predicts there.
  TargetRows as_target(std::size_t k) const;
  /// The rows of domain k in the data set, but for those of weight 0.
  const std::vector<Index>& rows_of(std::size_t k) const { return without_one_[k].rows; }
  /// What a model for a target is fitted on: all source rows and, for a pipeline that adapts, the rows of that domain.
  TrainView training_view(const std::string& target) const;

 private:
  /// Predictions for the rows of one domain.
  struct Piece {
    const Outcome* outcome;
    std::size_t domain;  ///< into domains_
  };

  const Dataset& data_;
  const Context& context_;
  bool adapts_;
  NextDomainBy by_;
  std::vector<Index> domains_;  ///< of the data set
  std::vector<std::string> metrics_;
  std::vector<Outcome> without_one_;
  /// {j, k}: has the rows of j; of pairs of which one fit has both, j < k.
  std::map<std::pair<std::size_t, std::size_t>, Outcome> without_two_;
  SourceRows sources_;

  /// What a model without domains j and k predicts for the rows of j, and perhaps of k.
  const Outcome& without_two(std::size_t j, std::size_t k) const;
  SourceRows gathered(const std::vector<Piece>& pieces) const;
};

/// The density ratio of a target's rows to source rows.
RowRatio ratio_to(const Dataset& data, const SourceRows& sources, const Batch& target, const Context& context);

/// Source rows of a data set, then rows of a target with the same features, as a classifier of one against the other
/// sees them: what is missing is a feature of its own, so that it sees columns that are missing, and categories that
/// are there, on one side alone. Means and scales are those of the source rows.
Features compared_rows(const Dataset& data, const std::vector<Index>& sources, const Features& target,
                       const Context& context);
/// How far source rows reach a target.
Overlap overlap_with(const Dataset& data, const std::vector<Index>& sources, const Features& target,
                     const Context& context);

/// What a model predicts for rows, in the classes of a data set.
TargetRows target_rows(const Model& model, const Labels& y, const Batch& batch, const Context& context);

}  // namespace ecotone
