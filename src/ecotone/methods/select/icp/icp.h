#pragma once

#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "ecotone/methods/select/selected_columns.h"
#include "ecotone/methods/select/selection_data.h"
#include "ecotone/solve/paths/icp.h"

namespace ecotone {

/// Options of icp.
struct IcpStageOptions {
  IcpTest test = IcpTest::chow;
  double alpha = 0.05;
  int most = 12;

  static constexpr auto fields() {
    return std::tuple{
        field("test", &IcpStageOptions::test,
              "chow: whether a domain fits the rule of all others, exact for normal errors; residual: whether the "
              "residuals have the same mean and variance in every domain",
              one_of("chow", "residual")),
        field("alpha", &IcpStageOptions::alpha, "Sets with a p-value above this are accepted",
              Limits{.low = 0, .high = 1, .open_low = true, .open_high = true}),
        field("most", &IcpStageOptions::most,
              "Features that are looked at, all of whose subsets are tested; of more, the first to enter the lasso "
              "path",
              between(1, 16))};
  }
};

/// What a run of icp found, in words: "ok", "no_invariant_set".
std::string icp_status(const IcpResult& result);

/// Runs icp on moments and shifts nothing back.
IcpResult run_icp(MomentColumns& moments, const IcpStageOptions& options, std::string_view who, const Context& context);

/// The result as a path whose last step has all weights.
PathResult icp_path(const IcpResult& result);

/// Features that every invariant set shares.
class Icp : public SelectedColumns {
 public:
  static StageResult fit(const TrainView& view, const IcpStageOptions& options, const Context& context,
                         FitCache& cache);
  static SumsResult fit_on_sums(const RowSums& sums, const IcpStageOptions& options, const Context& context);
  static std::shared_ptr<const Fitted> load(const StageState& state, const IcpStageOptions& options,
                                            const StageInput& input);

  StageState save() const override;

 private:
  void keep(Task task, const IcpResult& result, const PathResult& path);

  std::vector<Index> screened_;
  Vector pvalue_;
  std::vector<Index> best_;  ///< the accepted set of largest p
  double best_p_ = 0;
  std::string status_;
  Index sets_ = 0;
  Index accepted_ = 0;
  Index untested_ = 0;
};

}  // namespace ecotone
