#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace ecotone {

/// Working memory that tasks borrow and return, so that blocks do not allocate: about as many objects exist as tasks
/// ran at once. Their content is arbitrary. Every thread has a shelf mostly to itself: on many threads, tasks that take
/// microseconds would queue for a single one.
template <class T>
class Pool {
  struct alignas(64) Shelf {
    std::mutex mutex;
    std::vector<std::unique_ptr<T>> free;
  };

 public:
  class Lease {
   public:
    Lease(Shelf& shelf, std::unique_ptr<T> item) : shelf_(&shelf), item_(std::move(item)) {}
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() {
      const std::lock_guard lock(shelf_->mutex);
      try {
        shelf_->free.push_back(std::move(item_));
      } catch (const std::bad_alloc&) {
        // No room to keep it: it is freed.
      }
    }
    T& operator*() const { return *item_; }
    T* operator->() const { return item_.get(); }

   private:
    Shelf* shelf_;
    std::unique_ptr<T> item_;
  };

  Lease borrow() {
    Shelf& own = shelves_[number_of_thread() % shelves_.size()];
    std::unique_ptr<T> item;
    {
      const std::lock_guard lock(own.mutex);
      item = taken_from(own);
    }
    // Before a new one is made, those of threads that do not need theirs now.
    for (std::size_t s = 0; !item && s < shelves_.size(); ++s) {
      const std::unique_lock lock(shelves_[s].mutex, std::try_to_lock);
      if (lock) item = taken_from(shelves_[s]);
    }
    return Lease(own, item ? std::move(item) : std::make_unique<T>());
  }

 private:
  /// The last item of a locked shelf, or null.
  static std::unique_ptr<T> taken_from(Shelf& shelf) {
    if (shelf.free.empty()) return nullptr;
    auto item = std::move(shelf.free.back());
    shelf.free.pop_back();
    return item;
  }

  static std::size_t number_of_thread() {
    static std::atomic<std::size_t> threads{0};
    static thread_local const std::size_t number = threads++;
    return number;
  }

  std::array<Shelf, 64> shelves_;
};

}  // namespace ecotone
