#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace ecotone {

/// Working memory that tasks borrow and give back, so that blocks do not allocate: about as many exist as tasks ran at
/// once. What a task finds in it is arbitrary. Every thread has a shelf, mostly for itself: tasks of microseconds on
/// many threads would queue at one.
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
      shelf_->free.push_back(std::move(item_));
    }
    T& operator*() const { return *item_; }
    T* operator->() const { return item_.get(); }

   private:
    Shelf* shelf_;
    std::unique_ptr<T> item_;
  };

  Lease borrow() {
    Shelf& shelf = shelves_[number_of_thread() % shelves_.size()];
    {
      const std::lock_guard lock(shelf.mutex);
      if (!shelf.free.empty()) {
        auto item = std::move(shelf.free.back());
        shelf.free.pop_back();
        return Lease(shelf, std::move(item));
      }
    }
    return Lease(shelf, std::make_unique<T>());
  }

 private:
  static std::size_t number_of_thread() {
    static std::atomic<std::size_t> threads{0};
    static thread_local const std::size_t number = threads++;
    return number;
  }

  std::array<Shelf, 64> shelves_;
};

}  // namespace ecotone
