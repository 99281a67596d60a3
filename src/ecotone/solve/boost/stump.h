#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// What the distance from the threshold is divided by, with lo and hi the range of the attribute. side: theta - lo
/// below, hi - theta above; maxabs: the larger of both; range: hi - lo; half: half of it; raw: a constant.
enum class StumpScaleKind { side, maxabs, range, half, raw };
struct StumpScale {
  StumpScaleKind kind = StumpScaleKind::side;
  double raw = 1;  ///< the constant of `raw`
};

struct StumpCandidate {
  Index attribute = 0;
  double theta = 0;
};

/// h(x) = s clip(v / scale, -1, 1), v = x_j - theta, with one scale on each side; sign(h) = s if v > 0, else -s.
struct Stump {
  Index attribute = 0;
  double theta = 0;
  double sign = 1;
  double left = 1;   ///< scale where v <= 0
  double right = 1;  ///< scale where v > 0

  double value(double x) const {
    const double v = x - theta;
    return sign * std::clamp(v / (v > 0 ? right : left), -1.0, 1.0);
  }
  double side(double x) const { return x > theta ? sign : -sign; }
};

/// The stump of a candidate with sign +1; lo and hi are the range of its attribute. Scales are at least 1e-9 of the
/// range, or of 1 if the range is larger.
Stump make_stump(const StumpCandidate& candidate, const StumpScale& scale, double lo, double hi);

/// f(x) = sum_n w_n sign(h_n(x)): a sum of one step function per attribute, so that a row costs one search in sorted
/// thresholds per attribute used, however many stumps there are.
class StumpVote {
 public:
  StumpVote() = default;
  StumpVote(std::span<const Stump> stumps, std::span<const double> weights);

  double value(const double* row) const;
  /// Votes of all rows, on all threads.
  Vector values(const Features& x, const Context& context) const;

 private:
  struct Steps {
    Index attribute = 0;
    std::vector<double> theta;  ///< ascending, distinct
    std::vector<double> value;  ///< value[c] applies if c thresholds are below x
  };
  std::vector<Steps> attributes_;
};

}  // namespace ecotone
