#pragma once

#include <memory>
#include <span>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/dataset.h"
#include "ecotone/methods/model.h"
#include "ecotone/methods/query/pick.h"

/// What may be asked, and in which order: shared by the simulation (simulate.h) and by the desk at which a person
/// answers (desk.h).
namespace ecotone {

/// The rows of a data set by what is known of them.
struct LabelRows {
  std::vector<Index> known;  ///< labelled when the work begins: of the sources, and of the target unless hidden
  std::vector<Index> pool;   ///< may be asked: of the targets, or all domains if there is no target
};
/// The rows by the roles and labels of the data. `hide`: labels of the rows that may be asked count as unknown; without
/// a target those are all rows.
enum class Hide { nothing, pool };
LabelRows label_rows(const Dataset& data, Hide hide);

/// Scores of the rows that may be asked now.
struct Ranked {
  std::vector<Index> rows;  ///< of the data
  Vector score;
  Matrix coordinates;  ///< what the stages before the learner make of the rows, if a batch is kept apart or neighbours
                       ///< vote
};

/// Ranks `rows` by a strategy. `labelled` rows with labels y are those that the model has learned from. For
/// `domain_aware` the data need a target (data error `no_target`).
Ranked rank_rows(const Dataset& data, const Model& model, const Strategy& strategy, std::span<const Index> rows,
                 std::span<const Index> labelled, const Labels& y, const Context& context);

/// Whether these labels are enough to fit: two classes, or two numbers.
bool can_fit(const Labels& y, std::span<const Index> labelled);

/// The rule to use where the user names none: least_confidence; for numbers `neighbours`, because few learners know
/// their variance.
Strategy default_strategy(Task task);

}  // namespace ecotone
