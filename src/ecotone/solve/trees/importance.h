#pragma once

#include "ecotone/solve/trees/grow.h"

/// What splits took off the loss, by column.
namespace ecotone {

/// Adds the gains of a tree's splits to those of their columns.
void add_gains(const DecisionTree& tree, Vector& of_column);

/// The same by domain (domains x columns): what a split takes off the loss of that domain's rows, which may be
/// negative:
/// -(GL wL + HL wL^2 / 2) - (GR wR + HR wR^2 / 2) + (G w0 + H w0^2 / 2) with the sums of the domain and the steps
/// -G / (H + lam) of all rows.
void add_domain_gains(const GrownTree& grown, const Gradients& gradients, const TreeDomains& domains, double lam,
                      const Context& context, Matrix& of_domain);

}  // namespace ecotone
