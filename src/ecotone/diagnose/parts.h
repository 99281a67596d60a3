#pragma once

#include "ecotone/diagnose/diagnose.h"
#include "ecotone/diagnose/domain_moments.h"

namespace ecotone {

/// Whether a feature is the 0/1 indicator of a category of a text column.
std::vector<bool> category_flags(const Dataset& data);
/// The labels of each domain: shares of classes, or mean and deviation.
void add_labels(Diagnosis& diagnosis, const Dataset& data);
/// The share of missing values per column of the table and domain; a text column is missing where no category holds.
void add_missing(Diagnosis& diagnosis, const Dataset& data, const DomainMoments& moments);
/// The table of the most shifted features. Called while every comparison with the rest still has all features, in
/// order.
void add_shift_table(Diagnosis& diagnosis);
/// The domains on a map (classical multidimensional scaling of the MMD), if all pairs have one.
void add_map(Diagnosis& diagnosis, const Context& context);
/// One sentence for each domain that stands out, or one for all.
void add_advice(Diagnosis& diagnosis);

}  // namespace ecotone
