#include "ecotone/report/html/charts/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ecotone::report {

void Axis::cover(const Value& value) {
  if (!value || !std::isfinite(*value)) return;
  low_ = empty_ ? *value : std::min(low_, *value);
  high_ = empty_ ? *value : std::max(high_, *value);
  empty_ = false;
}

void Axis::close() {
  if (high_ - low_ < 1e-9 * std::max(1.0, std::abs(high_))) {
    const double room = std::max(0.05, 0.05 * std::abs(high_));
    low_ -= room;
    high_ += room;
  }
  const double rough = (high_ - low_) / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double lead = rough / power;
  step_ = power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
  low_ = std::floor(low_ / step_ + 1e-9) * step_;
  high_ = std::ceil(high_ / step_ - 1e-9) * step_;
}

double Axis::place(double value) const { return std::clamp(100 * (value - low_) / (high_ - low_), 0.0, 100.0); }

std::vector<Axis::Tick> Axis::ticks() const {
  const int decimals = std::clamp(static_cast<int>(-std::floor(std::log10(step_) + 1e-9)), 0, 9);
  std::vector<Tick> ticks;
  const auto count = std::llround((high_ - low_) / step_);
  for (long long i = 0; i <= count; ++i) {
    const double exact = low_ + static_cast<double>(i) * step_;
    const double value = std::abs(exact) < step_ / 2 ? 0.0 : exact;
    std::string label = std::abs(value) >= 1e6 ? fmt::format("{:.3g}", value) : fmt::format("{:.{}f}", value, decimals);
    if (label.front() == '-') label.replace(0, 1, "−");
    ticks.push_back({value, std::move(label)});
  }
  return ticks;
}

}  // namespace ecotone::report
