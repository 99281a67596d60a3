#pragma once

#include <algorithm>
#include <cmath>

#include "ecotone/solve/svm/svm.h"

namespace ecotone {

/// max(0, t), replaced by a parabola within h of 0: (t + h)^2 / (4h).
struct SmoothHinge {
  double slope = 0;
  double curvature = 0;

  SmoothHinge(double t, double h) {
    if (t >= h) {
      slope = 1;
    } else if (t > -h) {
      slope = (t + h) / (2 * h);
      curvature = 1 / (2 * h);
    }
  }
};

/// The loss of a row of cost 1 at the score f, and its derivatives with the kinks smoothed.
struct SmoothSvmLoss {
  double loss = 0;       ///< without smoothing
  double beta = 0;       ///< -d loss / d f, smoothed: the dual coefficient
  double curvature = 0;  ///< d^2 loss / d f^2, smoothed
  /// The gap that smoothing leaves between primal and dual at the optimum of the smoothed problem: within h of a kink
  /// |t| (h - |t|) / (2h).
  double between = 0;

  SmoothSvmLoss(SvmKind kind, double y, double f, double epsilon, double h) {
    if (kind == SvmKind::classes) {
      add(1 - y * f, y, h);
      return;
    }
    add(y - f - epsilon, 1, h);
    add(f - y - epsilon, -1, h);
  }

 private:
  void add(double t, double sign, double h) {
    const SmoothHinge hinge(t, h);
    loss += std::max(t, 0.0);
    beta += sign * hinge.slope;
    curvature += hinge.curvature;
    if (hinge.curvature > 0) between += std::abs(t) * (h - std::abs(t)) / (2 * h);
  }
};

}  // namespace ecotone
