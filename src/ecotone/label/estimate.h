#pragma once

#include <optional>
#include <span>
#include <string>

#include "ecotone/base/index.h"
#include "ecotone/data/schema.h"

namespace ecotone {

/// What audit rows say of a model that has not learned from them.
struct AuditEstimate {
  double value = 0;  ///< accuracy, or RMSE
  double low = 0;    ///< of the 90% interval
  double high = 0;
  Index rows = 0;
};

/// The accuracy from the number of right answers among `rows` random rows, with the interval of the mid-p binomial
/// test; empty without rows.
std::optional<AuditEstimate> audit_accuracy(Index right, Index rows);
/// The RMSE from the errors of random rows, with a t interval of the logarithm of the mean squared error; empty with
/// fewer than two rows.
std::optional<AuditEstimate> audit_rmse(std::span<const double> errors);

/// How much the last labels changed the answers in the target.
struct AnswerChange {
  Index labels = 0;  ///< between the two models
  double share = 0;  ///< of the rows whose class changed; for numbers the rms change over the RMSE
  Index at = 0;      ///< labels of the later model
};

/// What the person may do now, in one or two sentences, and whether further labels still change the answers.
struct LabelAdvice {
  std::string text;
  bool may_stop = false;
};
LabelAdvice label_advice(Task task, Index labels, const std::optional<AuditEstimate>& estimate,
                         std::span<const AnswerChange> changes);

}  // namespace ecotone
