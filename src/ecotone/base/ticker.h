#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace ecotone {

/// Calls a function again and again, on a thread of its own, until it is destroyed. Where no thread can be started, it
/// never calls.
class Ticker {
 public:
  Ticker(std::chrono::milliseconds every, std::function<void()> tick);
  ~Ticker();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ecotone
