#pragma once

#include "ecotone/base/context.h"
#include "ecotone/data/dataset.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/methods/method.h"
#include "ecotone/methods/query/strategy.h"

namespace ecotone {

/// How unsure a prediction is of each row, by any rule but `neighbours` and `random`: the larger, the less sure. For
/// two classes by the absolute decision value, because probabilities of 0 and 1 tell no rows apart. Numbers: the
/// variance. Data error `needs_uncertainty` for numbers without a variance.
Vector uncertainty(QueryRule rule, const Prediction& prediction);

/// The same as a share that may be multiplied by weights, at least 0: 1 - max p, entropy in bits, 1 - margin, or the
/// share of neighbours that vote otherwise.
Vector uncertainty_share(QueryRule rule, const Prediction& prediction);

/// How divided the votes of the k nearest labelled rows of each row are (all labelled rows if there are fewer): for
/// classes minus the excess of the largest count over all others together, which is -|K - 2 N| for two classes, as
/// whole numbers; for numbers the variance of the neighbours' labels.
Vector vote_uncertainty(ConstMatrixView rows, ConstMatrixView labelled, const Labels& y, Index k,
                        const Context& context);

/// Entropy in bits of each row of probabilities (59.40).
Vector entropy_bits(ConstMatrixView probability);

}  // namespace ecotone
