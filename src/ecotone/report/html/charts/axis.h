#pragma once

#include <string>
#include <vector>

#include "ecotone/report/html/page.h"

namespace ecotone::report {

/// An axis with round ticks that covers the given values.
class Axis {
 public:
  void cover(const Value& value);
  /// Rounds the ends outward to ticks: about five steps of 1, 2 or 5 times a power of ten.
  void close();
  /// Position of a value in percent of the axis.
  double place(double value) const;

  struct Tick {
    double value = 0;
    std::string label;
  };
  std::vector<Tick> ticks() const;

 private:
  double low_ = 0;
  double high_ = 0;
  double step_ = 1;
  bool empty_ = true;
};

}  // namespace ecotone::report
