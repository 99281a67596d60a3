#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ecotone/base/context.h"
#include "ecotone/base/json.h"
#include "ecotone/data/dataset.h"
#include "ecotone/linalg/matrix.h"

/// Whether the labelled source rows reach the target at all: if a classifier separates them, a weighted mean over
/// source rows says nothing about the target, however small its standard error is.
namespace ecotone {

struct Overlap {
  std::optional<double> auroc;  ///< cross-validated, of a classifier of source against target; empty: a single row
  double ess_raw = 0;           ///< effective sample size of the estimated density ratio, in rows
  Index rows = 0;               ///< labelled source rows
  Index cols = 0;               ///< columns of the classifier

  /// Not if the AUROC exceeds 0.99, nor if it exceeds 0.95 and fewer effective rows remain than a linear model has
  /// parameters (columns + 1).
  bool enough() const;
  /// "AUROC 1.000 of a classifier of source against target, raw effective sample size 1.9 of 600 rows"
  std::string words() const;
  /// {"auroc", "ess_raw", "rows", "columns"}
  Json to_json() const;
};

class Model;

/// The density ratio at the labelled rows, estimated by a logistic classifier on imputed and standardised features.
/// Columns of codes are one feature per level to it; those of too many levels are left out.
struct TargetRatio {
  Vector log_weight;  ///< ln(p_target / p_source)
  Features x;         ///< what the classifier saw
  Groups group = {};  ///< of its rows

  // For the ratio at other rows.
  Schema schema = {};  ///< of the view's columns, if some are codes; else empty
  std::shared_ptr<const Model> prepare = {};
  Vector weights = {};
  double offset = 0;

  /// At new rows with the columns of the view, its columns of codes in either form.
  Vector log_weight_of(const Batch& batch, const Context& context) const;
};
TargetRatio target_ratio(const TrainView& view, const Schema& schema, const char* who, const Context& context);

/// The overlap that a ratio leaves.
Overlap overlap_of(const TargetRatio& ratio, const Context& context);

}  // namespace ecotone
