#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/dataset.h"

namespace ecotone {

/// One column in one domain, or in all.
struct ColumnFigures {
  double missing = 0;              ///< share of the rows
  std::optional<double> mean, sd;  ///< of numbers and dates; empty without a value, sd with one
  std::vector<double> share;       ///< of each level, of texts
};

struct ColumnSummary {
  std::string name;
  ColumnKind kind = ColumnKind::numeric;
  std::vector<std::string> levels;       ///< of texts
  std::vector<ColumnFigures> of_domain;  ///< by number of the domain
  ColumnFigures of_all;
};

/// Who is in the data: the first table of a paper.
struct Population {
  std::string domain_word;  ///< what the user calls a domain
  std::vector<std::string> domains;
  std::vector<Index> rows;      ///< of each domain
  std::vector<Index> labelled;  ///< of them, with a label; empty without a label column
  std::string label;
  std::vector<std::string> classes;               ///< empty: numbers
  std::vector<std::vector<double>> class_share;   ///< by domain, of the labelled rows; empty in a domain without any
  std::vector<std::optional<double>> label_mean;  ///< by domain; numbers
  std::vector<ColumnSummary> columns;             ///< the first of the table, at most 60
  Index further_columns = 0;                      ///< that are not among them
};

/// One pass over all rows. Row weights are ignored. Columns of codes with more than 100 levels are among the further
/// ones. Data error `non_finite` when a value is infinite.
Population population_of(const Dataset& data, const Context& context);

}  // namespace ecotone
