#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ecotone/base/index.h"
#include "ecotone/measure/row_weights.h"

namespace ecotone {

/// Positive and negative rows in the order of a score, sorted once, so that what depends on the order alone can be
/// computed for many weights. Both measures are undefined unless rows of both kinds have weight and no score is NaN.
class Ranking {
 public:
  /// `positive` holds 0 or 1.
  Ranking(std::span<const std::uint8_t> positive, std::span<const double> score);

  /// False: a score is NaN, which has no rank.
  bool ranked() const { return ranked_; }
  std::optional<double> auroc(RowWeights weight = {}) const;
  std::optional<double> average_precision(RowWeights weight = {}) const;

 private:
  /// Rows of equal score follow each other; the last of them ends their run.
  struct Place {
    std::uint32_t row;
    bool positive;
    bool ends_run;
  };
  std::vector<Place> places_;  // ascending by score
  bool ranked_ = true;
};

}  // namespace ecotone
