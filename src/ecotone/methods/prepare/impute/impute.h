#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "ecotone/methods/method.h"

namespace ecotone {

enum class ImputeStrategy { mean, median, constant };

struct ImputeOptions {
  ImputeStrategy strategy = ImputeStrategy::mean;
  double value = 0;
  bool indicator = false;

  static constexpr auto fields() {
    return std::tuple{field("strategy", &ImputeOptions::strategy, "What replaces a missing value",
                            one_of("mean", "median", "constant")),
                      field("value", &ImputeOptions::value, "The replacement for strategy=constant"),
                      field("indicator", &ImputeOptions::indicator,
                            "Add a 0/1 column NAME_missing for each column with missing values in training")};
  }
};

/// Replaces missing values (NaN) with values learned on the labelled source rows.
class Impute : public Fitted {
 public:
  /// `flagged`: columns that get an indicator, ascending.
  Impute(Vector fill, std::vector<Index> flagged, bool indicator);

  static StageResult fit(const TrainView& view, const ImputeOptions& options, const Context& context, FitCache& cache);
  static std::shared_ptr<const Fitted> load(const StageState& state, const ImputeOptions& options,
                                            const StageInput& input);

  Features transform(const Batch& batch, const Context& context) const override;
  Index output_cols(Index input_cols) const override { return input_cols + static_cast<Index>(flagged_.size()); }
  StageState save() const override;

 private:
  Vector fill_;
  std::vector<Index> flagged_;
  bool indicator_;

  std::vector<std::string> output_names(const Features& x) const;
  Features transform_sparse(const Features& x) const;
};

}  // namespace ecotone
