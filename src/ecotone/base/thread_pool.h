#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "ecotone/base/index.h"

namespace ecotone {

/// Set by Ctrl-C (or a caller) and checked between tasks. Setting it is safe in a signal handler.
class CancelFlag {
 public:
  void request() { requested_.store(true, std::memory_order_relaxed); }
  bool requested() const { return requested_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> requested_{false};
};

/// A fixed set of worker threads that run numbered tasks.
///
/// Tasks are handed out in order of their numbers. The calling thread works too, so a pool of one thread starts none. A
/// task may call run() itself: idle threads help there, outer tasks first. If tasks throw, no new ones start, and the
/// exception of the lowest-numbered task that threw is rethrown to the caller.
class ThreadPool {
 public:
  /// threads >= 1.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const;

  /// Runs body(0) .. body(tasks - 1) on at most the given number of threads (0: all); returns when all are done. Throws
  /// the `cancelled` error if `cancel` is given and was requested. May be called from several threads at once.
  void run(Index tasks, const std::function<void(Index)>& body, const CancelFlag* cancel = nullptr, int at_most = 0);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Whether this thread is inside a task of a pool.
bool inside_task();

/// Threads that this process may use: the affinity mask and the cgroup's quota, at least 1.
int available_threads();

}  // namespace ecotone
