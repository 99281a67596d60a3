#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ecotone/base/context.h"
#include "ecotone/data/dataset.h"
#include "ecotone/methods/pipeline.h"

namespace ecotone {

/// How the threshold is chosen above which the probability of the second class means that class.
struct ThresholdRule {
  enum class Kind {
    youden,       ///< largest sensitivity + specificity - 1
    f1,           ///< largest F1
    sensitivity,  ///< highest specificity with at least this sensitivity
    specificity,  ///< highest sensitivity with at least this specificity
    fixed,        ///< the number itself
  };
  Kind kind = Kind::youden;
  double value = 0;  ///< of the last three, in (0, 1)

  /// `youden`, `f1`, `sensitivity=S`, `specificity=S` or a number in (0, 1); option error `bad_option` otherwise.
  static ThresholdRule parse(std::string_view text);
};

/// Option error `needs_two_classes`.
void require_two_classes_for_threshold(const Labels& y);

/// The threshold by the rule on cross-fitted probabilities of the labelled rows of a training view
/// (methods/cross_fit.h; refits of the whole pipeline), of equally good ones the nearest to 0.5. Empty, with a warning
/// `no_threshold`, if leaving rows out leaves one class, or if no threshold satisfies the rule.
std::optional<double> chosen_threshold(const ThresholdRule& rule, const Pipeline& pipeline, const TrainView& view,
                                       const Schema& schema, const Context& context);

}  // namespace ecotone
