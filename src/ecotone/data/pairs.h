#pragma once

#include <string>
#include <tuple>

#include "ecotone/base/options.h"
#include "ecotone/data/dataset.h"
#include "ecotone/data/storage/pair_storage.h"

/// Learning whether two rows are alike (foster2012, section 4.2): a data set of pairs. Its features are column-wise
/// products of two rows, its label says whether both belong to one class, and its domains are the classes, so that
/// holding one out tests how well a class that was never seen is told apart.
namespace ecotone {

struct PairsOptions {
  int per_class = 1000;  ///< pairs within each class, and as many between classes

  static constexpr auto fields() {
    return std::tuple{field("per_class", &PairsOptions::per_class,
                            "Pairs within each class, and as many between classes", between(1, 1e9))};
  }
};

/// For each class as many pairs within it ("same") as of one of its rows with a row of another class ("different"):
/// `per_class` distinct pairs of each kind, or as many as there are (warning `fewer_pairs`). The other class is the
/// partner of the domain. Rows without a label are left out; weights are multiplied. Warns (`two_classes`) that with
/// two classes neither can be left out: all pairs of different classes would go with it. Data errors `no_labels`,
/// `needs_two_classes`, `one_row_class` (a class without a pair), `pairs_of_pairs`.
Dataset draw_pairs(const Dataset& data, const PairsOptions& options, const Context& context);

/// Reads pairs named in a file with the columns first and second, rows counted from 1. Data error `bad_row`.
PairRows read_pairs(const std::string& path, const Context& context);

/// The given pairs. With classes, the label is known and the domain is the class of the first row (rows without a class
/// are rejected: data error `no_labels`); otherwise there is one domain. Data errors `bad_row` for a row number out of
/// range, and `pairs_of_pairs`.
Dataset listed_pairs(const Dataset& data, PairRows pairs, const Context& context);

}  // namespace ecotone
