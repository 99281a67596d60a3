#pragma once

#include <memory>

#include "ecotone/base/context.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/solve/logistic_loss.h"
#include "ecotone/solve/newton.h"
#include "ecotone/solve/standardised.h"

namespace ecotone {

/// sum_j penalty_j theta_j^2 + loss(Z theta), with the Hessian formed and factored: for few parameters. All three must
/// outlive the risk.
std::unique_ptr<SmoothRisk> direct_risk(const Standardised& design, const LogisticLoss& loss, const Vector& penalty,
                                        const Context& context);

/// The same with steps by preconditioned conjugate gradients; nothing of the size parameters x parameters exists.
std::unique_ptr<SmoothRisk> iterative_risk(const Standardised& design, const LogisticLoss& loss, const Vector& penalty,
                                           const Context& context);

}  // namespace ecotone
