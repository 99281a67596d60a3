#pragma once

#include "ecotone/data/dataset.h"
#include "ecotone/data/storage/pair_storage.h"

/// Learning when two rows are alike (foster2012, section 4.2): a data set of pairs. Its features are products of two
/// rows, column by column, its label says whether both are of one class, and its domains are the classes, so that
/// holding one out asks how well a class that was never seen is told apart.
namespace ecotone {

/// For each class as many pairs within it («same») as of it with a row of another class («different»): `per_class` of
/// each, all different, or as many as there are (warning `fewer_pairs`). The other class is the partner of the domain.
/// Rows without a label are left out; weights multiply. Warns (`two_classes`) that neither of two classes can be left
/// out: all pairs of different classes would go with it. Data errors `no_labels`, `needs_two_classes`, `one_row_class`
/// (a class without a pair), `pairs_of_pairs`.
Dataset draw_pairs(const Dataset& data, Index per_class, const Context& context);

/// These pairs. With classes, the label is known and the domain is the class of the first row (rows without one are
/// refused: data error `no_labels`); without, there is one domain. Data errors `bad_row` when a number is no row, and
/// `pairs_of_pairs`.
Dataset listed_pairs(const Dataset& data, PairRows pairs, const Context& context);

}  // namespace ecotone
