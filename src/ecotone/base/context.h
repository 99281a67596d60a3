#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "ecotone/base/communicator.h"
#include "ecotone/base/index.h"
#include "ecotone/base/progress.h"
#include "ecotone/base/random.h"
#include "ecotone/base/thread_pool.h"

namespace ecotone {

/// What every computation is given: threads, ranks, seed, observer and cancel flag. A cheap value; copies share the
/// thread pool and the ranks. Only the seed affects results.
class Context {
 public:
  struct Settings {
    int threads = 0;                     ///< 0: all threads that this process may use
    std::uint64_t seed = 0;              ///< root of every random stream
    Observer* observer = nullptr;        ///< not owned; may be null
    const CancelFlag* cancel = nullptr;  ///< not owned; may be null
    Communicator* ranks = nullptr;       ///< not owned; null: this process works alone
  };

  Context();
  explicit Context(const Settings& settings);

  int threads() const { return pool_->threads(); }
  std::uint64_t seed() const { return seed_; }

  /// The random stream of (seed, purpose, block).
  Random random(std::string_view purpose, std::uint64_t block = 0) const { return Random(seed_, purpose, block); }

  /// This context with another seed, derived from (seed, purpose, number): for folds and repetitions.
  Context derived(std::string_view purpose, std::uint64_t number) const;

  /// This context with this seed.
  Context seeded(std::uint64_t seed) const;

  /// This context with another observer (null: none): for inner fits whose messages are collected or suppressed.
  Context observed_by(Observer* observer) const;

  /// Runs body(0) .. body(tasks - 1) on the pool, on at most the given number of threads (0: all); see ThreadPool::run.
  void parallel(Index tasks, const std::function<void(Index)>& body, int at_most = 0) const {
    pool_->run(tasks, body, cancel_, at_most);
  }

  /// The processes that share the work over rows.
  Ranks& ranks() const { return *ranks_; }
  /// Whether there are several and this is a place where all of them meet: not inside a task, whose turn may come at
  /// another time on each.
  bool meets_ranks() const { return ranks_->size() > 1 && !inside_task(); }
  /// Whether something that depends on the machine, such as free memory, holds for all ranks where they meet: what
  /// follows may then differ. Elsewhere: whether it holds here.
  bool agree(std::string_view what, bool here) const { return meets_ranks() ? ranks_->agree(what, here) : here; }

  /// Throws the `cancelled` error if the user asked to stop.
  void check_cancelled() const;

  template <class... Args>
  void warn(std::string_view code, fmt::format_string<Args...> text, Args&&... args) const {
    if (observer_) observer_->warning(code, fmt::format(text, std::forward<Args>(args)...));
  }
  template <class... Args>
  void note(fmt::format_string<Args...> text, Args&&... args) const {
    if (observer_) observer_->note(fmt::format(text, std::forward<Args>(args)...));
  }
  /// The observer, for a Progress bar; may be null.
  Observer* observer() const { return observer_; }

 private:
  std::shared_ptr<ThreadPool> pool_;
  std::shared_ptr<Ranks> ranks_;
  std::uint64_t seed_ = 0;
  Observer* observer_ = nullptr;
  const CancelFlag* cancel_ = nullptr;
};

}  // namespace ecotone
