#include "ecotone/base/ticker.h"

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

namespace ecotone {

struct Ticker::State {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::jthread thread;  // the last member: it ends before the others do
};

Ticker::Ticker(std::chrono::milliseconds every, std::function<void()> tick) : state_(std::make_unique<State>()) {
  const auto run = [state = state_.get(), every, tick = std::move(tick)](const std::stop_token& stop) {
    std::unique_lock lock(state->mutex);
    while (!stop.stop_requested()) {
      state->wake.wait_for(lock, stop, every, [] { return false; });
      if (!stop.stop_requested()) tick();
    }
  };
  try {
    state_->thread = std::jthread(run);
  } catch (const std::system_error&) {
    // Ticks are a courtesy; the run goes on without them.
  }
}

Ticker::~Ticker() = default;

}  // namespace ecotone
