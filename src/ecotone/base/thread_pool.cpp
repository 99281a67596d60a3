#include "ecotone/base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "ecotone/base/cgroup.h"
#include "ecotone/base/error.h"

namespace ecotone {

namespace {

/// How many tasks (of any pool) this thread is inside.
thread_local int depth_here = 0;

bool requested(const CancelFlag* cancel) { return cancel && cancel->requested(); }

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Spins until done(), for at most as long as waking a thread takes; returns whether it was done.
template <class Done>
bool spin(const Done& done) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + std::chrono::microseconds(100);
  do {
    for (int i = 0; i < 32; ++i) {
      if (done()) return true;
      pause();
    }
  } while (Clock::now() < end);
  return done();
}

/// Held for a few instructions at a time: threads that all want work at once need not sleep for it.
class SpinLock {
 public:
  void lock() {
    for (int tries = 0; taken_.test_and_set(std::memory_order_acquire); ++tries) {
      if (tries % 64 == 63) std::this_thread::yield();
      pause();
    }
  }
  void unlock() { taken_.clear(std::memory_order_release); }

 private:
  std::atomic_flag taken_;
};

/// One call of run(), shared by several threads.
class Job {
 public:
  Job(Index tasks, const std::function<void(Index)>& body, const CancelFlag* cancel, int most_helpers)
      : tasks_(tasks), body_(body), cancel_(cancel), most_helpers_(most_helpers) {}

  int depth() const { return depth_; }
  int helpers() const { return helpers_.load(std::memory_order_acquire); }

  bool wants_help() const {
    return helpers() < most_helpers_ && next_.load(std::memory_order_relaxed) < tasks_ && !stopped_.load() &&
           !requested(cancel_);
  }
  void enter() { helpers_.fetch_add(1, std::memory_order_relaxed); }
  /// The job may be destroyed after this call.
  void leave() { helpers_.fetch_sub(1, std::memory_order_release); }

  /// Takes tasks until none are left. A task that was taken is always run, so all tasks below one that threw have run
  /// too, and the lowest-numbered exception does not depend on timing.
  void work() {
    const int before = std::exchange(depth_here, depth_ + 1);
    while (!stopped_.load() && !requested(cancel_)) {
      const Index task = next_.fetch_add(1);
      if (task >= tasks_) break;
      try {
        body_(task);
      } catch (...) {
        keep(task, std::current_exception());
      }
    }
    depth_here = before;
  }

  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  Index tasks_;
  const std::function<void(Index)>& body_;
  const CancelFlag* cancel_;
  int most_helpers_;
  int depth_ = depth_here;
  std::atomic<int> helpers_{0};
  std::atomic<Index> next_{0};
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  Index failed_ = 0;
  std::exception_ptr error_;

  void keep(Index task, std::exception_ptr error) {
    stopped_.store(true);
    const std::lock_guard lock(mutex_);
    if (error_ && failed_ < task) return;
    failed_ = task;
    error_ = std::move(error);
  }
};

}  // namespace

struct ThreadPool::State {
  int threads = 1;
  bool spins = false;  // spin while waiting; not where threads share processors
  SpinLock lock;
  std::vector<Job*> jobs;              // open to helpers, oldest first
  std::atomic<std::uint32_t> came{0};  // number of jobs opened so far
  std::atomic<std::uint32_t> left{0};  // number of times a helper left a job
  std::atomic<bool> ending{false};
  std::vector<std::thread> workers;

  /// Enters a job to help with: outer jobs first, then the one with the fewest helpers; null if there is none.
  Job* enter_job() {
    const std::lock_guard guard(lock);
    Job* best = nullptr;
    for (Job* job : jobs) {
      if (!job->wants_help()) continue;
      if (!best || std::pair(job->depth(), job->helpers()) < std::pair(best->depth(), best->helpers())) best = job;
    }
    if (best) best->enter();
    return best;
  }

  void serve() {
    for (;;) {
      // The order matters: an end that arrives after the check of `ending` changes `came`.
      const std::uint32_t seen = came;
      if (ending) return;
      if (Job* job = enter_job()) {
        job->work();
        job->leave();
        ++left;
        left.notify_all();
      } else if (!spins || !spin([&] { return came != seen; })) {
        came.wait(seen);
      }
    }
  }

  void open(Job& job, Index helpers) {
    {
      const std::lock_guard guard(lock);
      jobs.push_back(&job);
    }
    ++came;
    if (helpers < static_cast<Index>(workers.size())) {
      for (; helpers > 0; --helpers) came.notify_one();
    } else {
      came.notify_all();
    }
  }

  /// No helper enters any more; waits for those inside.
  void close(Job& job) {
    {
      const std::lock_guard guard(lock);
      std::erase(jobs, &job);
    }
    if (spins && spin([&] { return job.helpers() == 0; })) return;
    for (;;) {
      const std::uint32_t seen = left;
      if (job.helpers() == 0) return;
      left.wait(seen);
    }
  }
};

ThreadPool::ThreadPool(int threads) : state_(std::make_unique<State>()) {
  if (threads < 1) internal_error("thread pool: {} threads", threads);
  state_->threads = threads;
  state_->spins = threads > 1 && threads <= available_threads();
  try {
    for (int i = 1; i < threads; ++i) state_->workers.emplace_back([state = state_.get()] { state->serve(); });
  } catch (const std::system_error&) {
    // The system refuses more threads; the existing ones do the same work with the same results.
  } catch (const std::bad_alloc&) {
    // The same.
  }
}

ThreadPool::~ThreadPool() {
  state_->ending = true;
  ++state_->came;
  state_->came.notify_all();
  for (std::thread& worker : state_->workers) worker.join();
}

int ThreadPool::threads() const { return state_->threads; }

void ThreadPool::run(Index tasks, const std::function<void(Index)>& body, const CancelFlag* cancel, int at_most) {
  const int most = at_most > 0 ? std::min(at_most, state_->threads) : state_->threads;
  const Index helpers = std::min<Index>(tasks, most) - 1;
  Job job(tasks, body, cancel, most - 1);
  if (helpers < 1 || state_->workers.empty()) {
    job.work();
  } else {
    state_->open(job, helpers);
    job.work();
    state_->close(job);
  }
  job.rethrow();
  if (requested(cancel)) cancelled_error();
}

bool inside_task() { return depth_here > 0; }

int available_threads() { return cpu_limit(); }

}  // namespace ecotone
