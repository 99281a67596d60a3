#pragma once

#include <functional>
#include <memory>
#include <string>

namespace ecotone {

/// Work that is done on a thread of its own whenever it is asked for, once for all requests that come while it runs.
/// What it throws is kept as text and does not end the thread. The destructor waits for the work under way.
class Background {
 public:
  explicit Background(std::function<void()> work);
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// Asks for the work; returns at once.
  void wake();
  /// Waits until nothing is asked for or under way.
  void wait();
  bool busy() const;
  /// What the last work threw; empty: nothing.
  std::string error() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ecotone
