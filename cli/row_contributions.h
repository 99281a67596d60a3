#pragma once

#include <string>
#include <vector>

#include "cli/new_data.h"

namespace ecotone::cli {

/// What each column adds to the scores of new rows. The model is asked for some rows at a time, so that only those are
/// in memory; for all at once if its answers depend on the other rows.
class RowContributions {
 public:
  /// Asks for the first row, so that a model that cannot say is refused here.
  RowContributions(const NewData& in, const Context& context);

  /// Heads of the columns of a table: c_COLUMN and c_base, or c_CLASS_COLUMN and c_CLASS_base for each of several
  /// classes.
  std::vector<std::string> heads() const;
  /// How many rows to ask for together, at most `most`: fewer where each has many numbers.
  Index rows_at_once(Index most) const;
  /// Of the rows [first, last).
  Matrix rows(Index first, Index last, const Context& context) const;
  /// {columns, values: a list for each row, or one for each row and class}. Memory is checked.
  Json json(const Context& context) const;

 private:
  Contributions ask(Index first, Index last, const Context& context) const;

  const NewData& in_;
  Contributions known_;  ///< of the first row, or of all
};

}  // namespace ecotone::cli
