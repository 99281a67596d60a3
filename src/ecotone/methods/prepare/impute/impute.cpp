#include "ecotone/methods/prepare/impute/impute.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "ecotone/methods/prepare/column_moments.h"
#include "ecotone/methods/prepare/impute/medians.h"

namespace ecotone {

Impute::Impute(Vector fill, std::vector<Index> flagged, bool indicator)
    : fill_(std::move(fill)), flagged_(std::move(flagged)), indicator_(indicator) {}

namespace {

/// The value of each column that replaces missing ones.
Vector fill_values(const Features& x, const ColumnMoments& moments, const ImputeOptions& options,
                   const Context& context) {
  if (options.strategy == ImputeStrategy::constant) return Vector::Constant(x.cols(), options.value);
  Vector fill = options.strategy == ImputeStrategy::median ? column_medians(x, context) : moments.mean;
  for (Index j = 0; j < x.cols(); ++j) {
    if (moments.count[j] == 0) {
      context.warn("no_values", "impute: column '{}' has no value in the training rows and is filled with 0",
                   x.name(j));
      fill[j] = 0;
    } else if (!std::isfinite(fill[j])) {
      data_error("non_finite", "impute: column '{}' holds infinite or too large values, so its {} is {}", x.name(j),
                 options.strategy == ImputeStrategy::median ? "median" : "mean", fill[j]);
    }
  }
  return fill;
}

std::string indicator_name(const Features& x, Index column) { return x.name(column) + "_missing"; }

/// Columns are identified by name: an indicator must not have the name of an existing column.
void require_new_names(const Features& x, const std::vector<Index>& flagged) {
  if (flagged.empty()) return;
  const std::vector<std::string> names = x.names();
  const std::set<std::string_view> known(names.begin(), names.end());
  for (const Index column : flagged) {
    if (!known.contains(indicator_name(x, column))) continue;
    data_error("duplicate_column",
               "impute: the indicator of column '{}' would be called '{}', like another column; rename that column, "
               "drop it with --ignore, or use indicator=false",
               x.name(column), indicator_name(x, column));
  }
}

}  // namespace

StageResult Impute::fit(const TrainView& view, const ImputeOptions& options, const Context& context, FitCache&) {
  const Features x = fitting_rows(view);
  const ColumnMoments moments = column_moments(x, context);
  Vector fill = fill_values(x, moments, options, context);
  std::vector<Index> flagged;
  for (Index j = 0; options.indicator && j < x.cols(); ++j) {
    if (moments.count[j] < static_cast<double>(x.rows())) flagged.push_back(j);
  }
  require_new_names(x, flagged);
  return pass_on(std::make_shared<Impute>(std::move(fill), std::move(flagged), options.indicator), view, context);
}

std::vector<std::string> Impute::output_names(const Features& x) const {
  std::vector<std::string> names = x.names();
  for (const Index column : flagged_) names.push_back(indicator_name(x, column));
  return names;
}

Features Impute::transform(const Batch& batch, const Context& context) const {
  const Features& x = batch.x;
  if (x.is_sparse()) return transform_sparse(x);
  const auto map = [fill = fill_, flagged = flagged_](ConstMatrixMap in, MatrixView out) {
    const Index cols = in.cols();
    out.leftCols(cols) = in.array().isNaN().select(fill.transpose().replicate(in.rows(), 1), in);
    for (std::size_t k = 0; k < flagged.size(); ++k) {
      out.col(cols + static_cast<Index>(k)) = in.col(flagged[k]).array().isNaN().cast<double>();
    }
  };
  return x.map(output_cols(x.cols()), output_names(x), map, context);
}

Features Impute::transform_sparse(const Features& x) const {
  const Csr& in = *x.storage().csr();
  const auto entries = in.value.begin() + in.row_start[at(x.rows())];
  const bool complete = std::none_of(in.value.begin(), entries, [](double value) { return std::isnan(value); });
  if (complete && flagged_.empty()) return x;

  std::vector<Index> flag_of(static_cast<std::size_t>(x.cols()), -1);
  for (std::size_t k = 0; k < flagged_.size(); ++k) {
    flag_of[at(flagged_[k])] = x.cols() + static_cast<Index>(k);
  }
  Csr out{.rows = x.rows(), .cols = output_cols(x.cols()), .row_start = {0}, .column = {}, .value = {}};
  std::vector<Index> flags;
  for (std::size_t row = 0; row < static_cast<std::size_t>(x.rows()); ++row) {
    flags.clear();
    for (auto k = static_cast<std::size_t>(in.row_start[row]); k < static_cast<std::size_t>(in.row_start[row + 1]);
         ++k) {
      const std::int32_t column = in.column[k];
      const bool missing = std::isnan(in.value[k]);
      if (missing && flag_of[at(column)] >= 0) {
        flags.push_back(flag_of[at(column)]);
      }
      out.column.push_back(column);
      out.value.push_back(missing ? fill_[column] : in.value[k]);
    }
    for (const Index flag : flags) {
      out.column.push_back(static_cast<std::int32_t>(flag));
      out.value.push_back(1.0);
    }
    out.row_start.push_back(static_cast<Index>(out.column.size()));
  }
  return Features::sparse(std::move(out), output_names(x));
}

StageState Impute::save() const {
  StageState state;
  state.set("fill", fill_);
  if (indicator_) {
    Vector columns(static_cast<Index>(flagged_.size()));
    for (std::size_t k = 0; k < flagged_.size(); ++k) columns[static_cast<Index>(k)] = static_cast<double>(flagged_[k]);
    state.set("indicator_columns", columns);
  }
  return state;
}

std::shared_ptr<const Fitted> Impute::load(const StageState& state, const ImputeOptions& options,
                                           const StageInput& input) {
  std::vector<Index> flagged;
  if (options.indicator) {
    double previous = -1;
    for (const double column : state.vector("indicator_columns", -1)) {
      const bool whole = column > previous && column < static_cast<double>(input.cols) && column == std::floor(column);
      if (!whole)
        file_error("bad_model", "array 'indicator_columns' must hold ascending column numbers, holds {}", column);
      flagged.push_back(static_cast<Index>(column));
      previous = column;
    }
  }
  return std::make_shared<Impute>(state.vector("fill", input.cols), std::move(flagged), options.indicator);
}

Method impute_method() {
  return make_method<ImputeOptions, Impute::fit, Impute::load>(
      {.name = "impute",
       .family = Family::prepare,
       .summary = "Replaces missing values with the mean or median of the labelled source rows, or with a constant.",
       .when = "before any stage that needs complete rows; indicator=true where the fact that a value is missing may "
               "tell something.",
       .example = "impute strategy=median indicator=true | scale | logistic",
       .citation = "",
       .routes = {{Route::streamed}}});
}

}  // namespace ecotone
