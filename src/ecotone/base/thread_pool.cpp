#include "ecotone/base/thread_pool.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "ecotone/base/cgroup.h"
#include "ecotone/base/error.h"

namespace ecotone {

namespace {

/// True on a thread while it runs a task of any pool: calls from there run inline.
thread_local bool inside_task = false;

class InsideTask {
 public:
  InsideTask() : before_(inside_task) { inside_task = true; }
  ~InsideTask() { inside_task = before_; }
  InsideTask(const InsideTask&) = delete;
  InsideTask& operator=(const InsideTask&) = delete;

 private:
  bool before_;
};

bool requested(const CancelFlag* cancel) { return cancel && cancel->requested(); }

void run_inline(Index tasks, const std::function<void(Index)>& body, const CancelFlag* cancel) {
  const InsideTask guard;
  for (Index i = 0; i < tasks; ++i) {
    if (requested(cancel)) return;
    body(i);
  }
}

/// One call of run() that several threads work on.
class Job {
 public:
  Job(Index tasks, const std::function<void(Index)>& body, const CancelFlag* cancel)
      : tasks_(tasks), body_(body), cancel_(cancel) {}

  /// Takes tasks until there are none. A task that was taken is always run: so all tasks below one that threw have run
  /// too, and the lowest-numbered exception does not depend on timing.
  void work() {
    const InsideTask guard;
    while (!stopped_.load() && !requested(cancel_)) {
      const Index task = next_.fetch_add(1);
      if (task >= tasks_) return;
      try {
        body_(task);
      } catch (...) {
        keep(task, std::current_exception());
      }
    }
  }

  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  Index tasks_;
  const std::function<void(Index)>& body_;
  const CancelFlag* cancel_;
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
  std::mutex mutex;
  std::condition_variable work_came;
  std::condition_variable worker_left;
  Job* job = nullptr;  // set while a call is open to workers
  std::uint64_t job_number = 0;
  int working = 0;    // workers inside the job
  bool busy = false;  // a call owns the workers
  bool ending = false;
  std::vector<std::thread> workers;

  void serve() {
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex);
    for (;;) {
      work_came.wait(lock, [&] { return ending || (job && job_number != seen); });
      if (ending) return;
      seen = job_number;
      Job* mine = job;
      ++working;
      lock.unlock();
      mine->work();
      lock.lock();
      if (--working == 0) worker_left.notify_all();
    }
  }

  bool acquire() {
    const std::lock_guard lock(mutex);
    if (busy) return false;
    busy = true;
    return true;
  }

  void open(Job& now) {
    {
      const std::lock_guard lock(mutex);
      job = &now;
      ++job_number;
    }
    work_came.notify_all();
  }

  /// No worker enters any more; those inside are waited for.
  void close() {
    std::unique_lock lock(mutex);
    job = nullptr;
    worker_left.wait(lock, [&] { return working == 0; });
    busy = false;
  }
};

ThreadPool::ThreadPool(int threads) : state_(std::make_unique<State>()) {
  if (threads < 1) internal_error("thread pool: {} threads", threads);
  state_->threads = threads;
  try {
    for (int i = 1; i < threads; ++i) state_->workers.emplace_back([state = state_.get()] { state->serve(); });
  } catch (const std::system_error&) {
    // The system refuses more threads; those there are do the same work with the same results.
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->ending = true;
  }
  state_->work_came.notify_all();
  for (std::thread& worker : state_->workers) worker.join();
}

int ThreadPool::threads() const { return state_->threads; }

void ThreadPool::run(Index tasks, const std::function<void(Index)>& body, const CancelFlag* cancel) {
  // Another thread's call that found the workers taken does its tasks itself instead of waiting.
  if (tasks < 2 || inside_task || state_->workers.empty() || !state_->acquire()) {
    run_inline(tasks, body, cancel);
  } else {
    Job job(tasks, body, cancel);
    state_->open(job);
    job.work();
    state_->close();
    job.rethrow();
  }
  if (requested(cancel)) cancelled_error();
}

int available_threads() { return cpu_limit(); }

}  // namespace ecotone
