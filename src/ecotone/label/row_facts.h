#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/dataset.h"
#include "ecotone/methods/model.h"

namespace ecotone {

/// A level of a text column with its share of rows.
struct LevelFact {
  std::string level;
  double in_domain = 0;
  double in_sources = 0;
  bool here = false;  ///< the value of this row
};

/// A value of a row against the distribution of its column.
struct FieldFact {
  std::string name;
  std::string value;  ///< as text; empty: missing
  bool missing = false;
  bool important = false;
  std::optional<double> percentile;  ///< of the value among the rows of its domain, 0 to 100
  /// Shares of the rows in equal bins from low to high, of the row's domain and of the sources; empty: a text column.
  double low = 0;
  double high = 0;
  std::vector<double> in_domain;
  std::vector<double> in_sources;
  std::optional<Index> bin;  ///< of this value
  std::vector<LevelFact> levels;
};

/// A labelled row that is near, field by field in the order of the question's.
struct NeighbourFact {
  Index row = 0;  ///< of the data
  std::string domain;
  bool target = false;
  std::string label;
  struct Cell {
    std::string value;
    bool differs = false;
  };
  std::vector<Cell> fields;
};

/// The labelled rows around a row.
struct NearRows {
  std::vector<NeighbourFact> rows;  ///< up to the count asked for of the sources, then of the target, nearest first
  /// The row is farther from all of them than 95% of the rows of the data are from the nearest of a thousand others: a
  /// region in which nothing is labelled.
  bool new_region = false;
};

/// The columns of a data set as people read them, and what is usual in each domain. Made once; const calls are
/// thread-safe.
class RowFacts {
 public:
  RowFacts(const Dataset& data, const Context& context);

  /// The columns by how much they move the model's answer for this row: each is put to what is usual in the row's
  /// domain, and the change of the decision value (or of the number) is its importance. Without a model the order is
  /// that of the data.
  std::vector<FieldFact> fields(Index row, const Model* model, const Context& context) const;

  /// The nearest of these labelled rows in standardised columns; `fields` gives the order of the columns. Of many rows
  /// (more than 400,000 values) some of the sources are looked at.
  NearRows near(Index row, std::span<const Index> labelled, const Labels& y, Index count,
                const std::vector<FieldFact>& fields) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace ecotone
