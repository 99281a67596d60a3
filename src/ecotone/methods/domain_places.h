#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ecotone/methods/method.h"

/// What stages share that do something else in every domain: which domains of a batch were seen in training, and maps
/// of rows that depend on the domain.
namespace ecotone {

/// What is used for the domain of new rows that training did not have.
enum class NewDomain { sample, pooled };

/// The domain of each row of a batch: its number among the domains of training, or theirs + its number among the new.
struct PlacedRows {
  std::vector<std::int32_t> place;
  Index known = 0;                 ///< domains of training
  std::vector<std::string> fresh;  ///< names of the new ones

  Index domains() const { return known + std::ssize(fresh); }
  /// For each row its number among the new domains, or -1.
  std::vector<std::int32_t> among_fresh() const;
};

/// Domains are the same if they have the same name. A batch without domains is one new domain.
PlacedRows place_rows(const Batch& batch, const std::vector<std::string>& known);

/// out = map(x, places of the rows of x) of all rows; at once where that fits in memory, otherwise when they are read.
using PlacedMap = std::function<void(ConstMatrixMap x, std::span<const std::int32_t> place, MatrixView out)>;
Features map_by_place(const Features& x, std::vector<std::int32_t> place, Index cols, std::vector<std::string> names,
                      PlacedMap map, const Context& context);

/// The weights of all rows of a view: 1 for rows of the target. Empty: all 1.
Vector weights_of_all(const TrainView& view);

/// Says how far the shares of classes differ between the source domains: matching the domains hides it. Warning
/// `class_shares_differ` beyond a quarter, a note otherwise. Domains of fewer than 20 rows tell no shares.
void tell_class_shares(const char* who, const TrainView& view, const Context& context);
/// The same of the rows of each class (column) in each source domain (row).
void tell_class_shares(const char* who, const Matrix& counts, const std::vector<std::string>& classes,
                       const Context& context);

/// Warns (`few_target_rows`) where a target has fewer rows than a linear model has parameters. `what`: done "onto so
/// few" of them.
void warn_of_few_targets(const char* who, Index targets, Index cols, const char* what, const Context& context);

/// Names of domains as `domains` of a state.
void save_domain_names(const std::vector<std::string>& names, StageState& state);
/// File error `bad_model` if they are missing, empty or not different.
std::vector<std::string> load_domain_names(const StageState& state);

}  // namespace ecotone
