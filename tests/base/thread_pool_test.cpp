#include "ecotone/base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "base/temp_folder.h"
#include "ecotone/base/context.h"

namespace ecotone {
namespace thread_pool_test {

TEST(ThreadPool, RunsEveryTaskOnce) {
  for (const int threads : {1, 2, 7}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const Index tasks : {0, 1, 2, 3, 100, 1000}) {
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(tasks));
      pool.run(tasks, [&](Index i) { ++runs[static_cast<std::size_t>(i)]; });
      for (const auto& count : runs) EXPECT_EQ(count, 1);
    }
  }
}

TEST(ThreadPool, OneThreadRunsInOrderOnTheCaller) {
  ThreadPool pool(1);
  std::vector<Index> order;
  const auto caller = std::this_thread::get_id();
  pool.run(10, [&](Index i) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    order.push_back(i);
  });
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_EQ(order.size(), 10U);
}

TEST(ThreadPool, WorkersTakePart) {
  // Two tasks that wait for each other can only end when two threads run them.
  ThreadPool pool(2);
  std::atomic<int> here{0};
  pool.run(2, [&](Index) {
    ++here;
    while (here < 2) std::this_thread::yield();
  });
  EXPECT_EQ(here, 2);
}

TEST(ThreadPool, TheLowestExceptionComesOut) {
  for (const int threads : {1, 2, 7}) {
    ThreadPool pool(threads);
    for (int repetition = 0; repetition < 50; ++repetition) {
      std::atomic<Index> ran{0};
      const std::string message = message_of(ErrorKind::data, "late", [&] {
        pool.run(1000, [&](Index i) {
          ++ran;
          // Task 5 throws late, so higher ones have mostly thrown before it.
          if (i == 5) std::this_thread::yield();
          if (i >= 5) data_error("late", "task {}", i);
        });
      });
      EXPECT_EQ(message, "task 5");
      EXPECT_LT(ran, 1000);
    }
    // The pool is as good as new afterwards.
    std::atomic<Index> sum{0};
    pool.run(100, [&](Index i) { sum += i; });
    EXPECT_EQ(sum, 4950);
  }
}

TEST(ThreadPool, NestedCallsRunEveryTaskOnce) {
  for (const int threads : {1, 2, 4, 7}) {
    ThreadPool pool(threads);
    std::vector<std::atomic<int>> runs(20 * 30 * 3);
    pool.run(20, [&](Index i) {
      pool.run(30,
               [&](Index j) { pool.run(3, [&](Index k) { ++runs[static_cast<std::size_t>((i * 30 + j) * 3 + k)]; }); });
    });
    for (const auto& count : runs) EXPECT_EQ(count, 1);
  }
}

TEST(ThreadPool, IdleThreadsHelpInNestedCalls) {
  // One outer task alone: its two inner tasks, which wait for each other, end only when another thread helps.
  ThreadPool pool(3);
  std::atomic<int> here{0};
  pool.run(2, [&](Index outer) {
    if (outer == 1) return;
    pool.run(2, [&](Index) {
      ++here;
      while (here < 2) std::this_thread::yield();
    });
  });
  EXPECT_EQ(here, 2);
}

TEST(ThreadPool, AtMostSoManyThreadsWorkAtOnce) {
  ThreadPool pool(7);
  for (const int at_most : {1, 2, 3}) {
    std::atomic<int> inside{0}, most{0}, inner{0};
    pool.run(
        60,
        [&](Index) {
          const int now = ++inside;
          for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
          }
          pool.run(5, [&](Index) { ++inner; });
          --inside;
        },
        nullptr, at_most);
    EXPECT_LE(most, at_most);
    EXPECT_EQ(inner, 300);
  }
}

TEST(ThreadPool, EndsWhateverItsThreadsAreAbout) {
  std::atomic<int> sum{0};
  for (int repetition = 0; repetition < 600; ++repetition) {
    ThreadPool pool(2 + repetition % 4);
    if (repetition % 3 > 0) pool.run(repetition % 3 * 2, [&](Index) { ++sum; });
  }
  EXPECT_EQ(sum, 200 * 2 + 200 * 4);
}

TEST(ThreadPool, OneThreadAtATimeKeepsTheOrder) {
  ThreadPool pool(4);
  std::vector<Index> order;
  pool.run(
      50, [&](Index i) { order.push_back(i); }, nullptr, 1);
  EXPECT_EQ(order.size(), 50U);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(ThreadPool, NestedExceptionsComeOut) {
  ThreadPool pool(3);
  EXPECT_EQ(message_of(ErrorKind::data, "inner",
                       [&] {
                         pool.run(8, [&](Index i) {
                           pool.run(8, [&](Index j) {
                             if (j == 3) data_error("inner", "{} {}", i, j);
                           });
                         });
                       }),
            "0 3");
}

TEST(ThreadPool, CancelStopsBetweenTasks) {
  for (const int threads : {1, 2, 7}) {
    ThreadPool pool(threads);
    CancelFlag cancel;
    std::atomic<Index> ran{0};
    message_of(ErrorKind::cancelled, "cancelled", [&] {
      pool.run(
          100000,
          [&](Index i) {
            ++ran;
            if (i == 10) cancel.request();
            // However slowly task 10 comes to its request, later ones do not overtake it.
            while (i > 10 && !cancel.requested()) std::this_thread::yield();
          },
          &cancel);
    });
    EXPECT_GE(ran, 11);
    EXPECT_LE(ran, 11 + threads);
    // A request that was made before stops everything, even no tasks.
    ran = 0;
    message_of(ErrorKind::cancelled, "cancelled", [&] {
      pool.run(
          50, [&](Index) { ++ran; }, &cancel);
    });
    message_of(ErrorKind::cancelled, "cancelled", [&] {
      pool.run(
          0, [&](Index) { ++ran; }, &cancel);
    });
    EXPECT_EQ(ran, 0);
  }
}

TEST(ThreadPool, IdleThreadsSleepAfterACancel) {
  CancelFlag cancel;
  ThreadPool pool(3);
  const std::clock_t begin = std::clock();
  message_of(ErrorKind::cancelled, "cancelled", [&] {
    pool.run(
        100'000,
        [&](Index i) {
          if (i > 0) return;
          cancel.request();
          std::this_thread::sleep_for(std::chrono::milliseconds(400));
        },
        &cancel);
  });
  // Processor time of all threads; two that looked for work all the time would have taken 0.8 s.
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 0.3);
}

TEST(ThreadPool, ManyCallersAtOnce) {
  ThreadPool pool(3);
  std::vector<std::thread> callers;
  std::atomic<Index> wrong{0};
  for (int caller = 0; caller < 6; ++caller) {
    callers.emplace_back([&, caller] {
      for (int repetition = 0; repetition < 200; ++repetition) {
        std::atomic<Index> sum{0};
        const Index tasks = 1 + (caller * 37 + repetition) % 50;
        try {
          pool.run(tasks, [&](Index i) {
            sum += i + 1;
            if (repetition % 10 == 3 && i == tasks - 1) data_error("last", "{}", caller);
          });
          if (repetition % 10 == 3) ++wrong;
        } catch (const Error& error) {
          if (error.what() != std::to_string(caller)) ++wrong;
        }
        if (sum != tasks * (tasks + 1) / 2) ++wrong;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadPool, ManySmallRuns) {
  ThreadPool pool(2);
  std::atomic<Index> sum{0};
  for (int i = 0; i < 5000; ++i) pool.run(3, [&](Index t) { sum += t; });
  EXPECT_EQ(sum, 15000);
}

TEST(ThreadPool, AtLeastOneThreadIsAvailable) { EXPECT_GE(available_threads(), 1); }

TEST(Context, SettingsAreKeptAndThreadsChecked) {
  const Context context({.threads = 3, .seed = 9});
  EXPECT_EQ(context.threads(), 3);
  EXPECT_EQ(context.seed(), 9U);
  EXPECT_EQ(Context().threads(), available_threads());
  EXPECT_EQ(message_of(ErrorKind::option, "bad_option", [] { Context({.threads = -1}); }),
            "threads must be in [0, 4096], got -1");
}

TEST(Context, DerivedSeedsDifferAndRepeat) {
  const Context context({.threads = 1, .seed = 9});
  std::set<std::uint64_t> seeds{context.seed()};
  for (std::uint64_t fold = 0; fold < 100; ++fold) {
    seeds.insert(context.derived("fold", fold).seed());
    seeds.insert(context.derived("repetition", fold).seed());
  }
  EXPECT_EQ(seeds.size(), 201U);
  EXPECT_EQ(context.derived("fold", 4).seed(), context.derived("fold", 4).seed());
  EXPECT_EQ(context.derived("fold", 4).random("x").bits(), context.derived("fold", 4).random("x").bits());
}

TEST(Context, CancelIsSeen) {
  CancelFlag cancel;
  const Context context({.threads = 2, .cancel = &cancel});
  context.check_cancelled();
  cancel.request();
  message_of(ErrorKind::cancelled, "cancelled", [&] { context.check_cancelled(); });
  message_of(ErrorKind::cancelled, "cancelled", [&] { context.parallel(5, [](Index) {}); });
}

}  // namespace thread_pool_test
}  // namespace ecotone
