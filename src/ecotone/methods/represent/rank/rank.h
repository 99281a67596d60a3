#pragma once

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "ecotone/methods/domain_places.h"
#include "ecotone/solve/alignment/group_ranks.h"

namespace ecotone {

enum class RankBy { domain, all };
enum class RankOutput { normal, uniform };

struct RankOptions {
  RankBy by = RankBy::domain;
  double shrink = 5;
  RankOutput output = RankOutput::normal;
  NewDomain fresh = NewDomain::sample;

  static constexpr auto fields() {
    using O = RankOptions;
    return std::tuple{
        field("by", &O::by,
              "domain: ranks among the rows of the row's domain whose weight is not 0; all: among the labelled source "
              "rows",
              one_of("domain", "all")),
        field("shrink", &O::shrink,
              "by=domain: rows that the mean distribution of the training domains counts for; 0: ranks in the domain "
              "alone, which say nothing for a single row",
              at_least(0.0)),
        field("output", &O::output, "normal: the normal quantile of the rank; uniform: the rank between 0 and 1",
              one_of("normal", "uniform")),
        field("new", &O::fresh,
              "by=domain: a domain that training did not have is ranked among its rows in the batch, or among those of "
              "all training domains, which makes the answer for a row independent of other rows",
              one_of("sample", "pooled"))};
  }
};

/// Each value replaced by its rank in its domain, shrunk towards its rank in the mean distribution of the training
/// domains. Rows of weight 0 are ranked but count for nobody's rank; other weights do not matter.
class Rank : public Fitted {
 public:
  Rank(std::vector<std::string> names, std::vector<GroupRanks> groups, const RankOptions& options);

  static StageResult fit(const TrainView& view, const RankOptions& options, const Context& context, FitCache& cache);
  static std::shared_ptr<const Fitted> load(const StageState& state, const RankOptions& options,
                                            const StageInput& input);

  Features transform(const Batch& batch, const Context& context) const override;
  bool needs_domain_sample() const override {
    return options_.by == RankBy::domain && options_.fresh == NewDomain::sample;
  }
  Index training_rows() const override;
  StageState save() const override;

 private:
  std::vector<std::string> names_;  ///< domains of training; empty for by=all
  std::shared_ptr<const std::vector<GroupRanks>> groups_;
  RankOptions options_;
};

}  // namespace ecotone
