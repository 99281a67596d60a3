#include "ecotone/base/background.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace ecotone {

struct Background::State {
  std::function<void()> work;
  mutable std::mutex mutex;
  std::condition_variable changed;
  bool asked = false;
  bool running = false;
  bool ending = false;
  std::string error;
  std::thread thread;

  void loop() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return asked || ending; });
      if (ending) return;
      asked = false;
      running = true;
      lock.unlock();
      std::string problem;
      try {
        work();
      } catch (const std::exception& caught) {
        problem = caught.what();
      }
      lock.lock();
      error = std::move(problem);
      running = false;
      changed.notify_all();
    }
  }
};

Background::Background(std::function<void()> work) : state_(std::make_unique<State>()) {
  state_->work = std::move(work);
  state_->thread = std::thread([state = state_.get()] { state->loop(); });
}

Background::~Background() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->ending = true;
  }
  state_->changed.notify_all();
  state_->thread.join();
}

void Background::wake() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->asked = true;
  }
  state_->changed.notify_all();
}

void Background::wait() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return !state_->asked && !state_->running; });
}

bool Background::busy() const {
  const std::lock_guard lock(state_->mutex);
  return state_->asked || state_->running;
}

std::string Background::error() const {
  const std::lock_guard lock(state_->mutex);
  return state_->error;
}

}  // namespace ecotone
