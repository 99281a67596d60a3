#pragma once

#include <string>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/dataset.h"
#include "ecotone/label/row_facts.h"

namespace ecotone {

/// One row of features.
using RowView = Eigen::Ref<const Eigen::RowVectorXd>;

/// The columns of a table behind its features: a text column is one column here, and there one of codes or
/// a feature per level. Knows
/// what is usual in each domain, from at most 5,000 rows of it (fewer of wide tables).
class ColumnFacts {
 public:
  ColumnFacts(const Dataset& data, const Context& context);

  Index count() const { return static_cast<Index>(columns_.size()); }
  /// The column of this name, -1 if there is none.
  Index find(const std::string& name) const;
  /// A value as people read it; empty if it is missing.
  std::string text(Index column, RowView x) const;
  bool missing(Index column, RowView x) const;
  /// A value against the rows of a domain and of the sources.
  FieldFact fact(Index column, Index domain, RowView x) const;
  /// Puts the median of a domain, or its most frequent level, into a row of features.
  void make_usual(Index column, Index domain, Matrix& x, Index row) const;

  /// Distance in standardised columns; two texts are one standard deviation apart, and so is a missing value from any
  /// other.
  double distance(RowView a, RowView b) const;
  /// Whether two values differ: as texts, or by more than this many standard deviations.
  bool differ(Index column, RowView a, RowView b, double deviations) const;

  /// Up to `most` rows of the data, at equal distances.
  std::vector<Index> sample_rows(Index most) const;

 private:
  /// What one group of rows has in one column.
  struct Distribution {
    std::vector<double> sorted;  ///< a number: its values
    std::vector<double> share;   ///< of each level; texts
  };
  struct Place {
    Column column;
    Index first = 0;  ///< feature
    Index width = 1;
    double mean = 0;
    double sd = 1;
    std::vector<Distribution> of_domain = {};  ///< by number of the domain
    Distribution of_sources = {};
  };

  Index rows_ = 0;
  std::vector<Place> columns_;

  bool is_text(const Place& place) const { return place.column.kind == ColumnKind::categorical; }
  Index levels(const Place& place) const { return std::ssize(place.column.levels); }
  void set_scale(Place& place, const Matrix& sample) const;
  Distribution distribution(const Place& place, const Matrix& x) const;
  Index level_of(const Place& place, RowView x) const;
};

/// The label of a row as text; empty if it is missing.
std::string label_text(const Labels& y, Index row);

}  // namespace ecotone
