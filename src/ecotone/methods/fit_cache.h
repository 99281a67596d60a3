#pragma once

#include <any>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace ecotone {

/// Shares expensive intermediate results (a Gram matrix, a factorisation) between the fits of a grid. Keys must name
/// everything that the value depends on. Thread-safe; two threads that miss at once may both compute, and the first
/// result stays.
///
/// A cache created `in_order` serves fits of many pipelines on one view with one seed, one after another. Each may
/// continue where the previous one stopped: `Model::fit` reuses the leading stages that two successive pipelines share,
/// and linear models start at the previous weights. Results depend on the order, so such a cache must not be shared
/// between threads.
///
/// A cache created `growing` serves fits of one pipeline on views whose labelled rows grow, one after another: linear
/// models start at the previous weights and keep penalties that they chose themselves until the rows have grown by a
/// quarter. Nothing else is kept, because every view is another one.
///
/// A cache created `of_problems` serves the binary problems of one fit, one after another: rows and weights are the
/// same, and the labels are others. Selectors compute X'X once.
class FitCache {
 public:
  enum class Order { any, in_order, growing, of_problems };
  explicit FitCache(Order order = Order::any) : order_(order) {}

  bool in_order() const { return order_ == Order::in_order; }
  bool growing() const { return order_ == Order::growing; }
  bool of_problems() const { return order_ == Order::of_problems; }

  template <class T, class Make>
  std::shared_ptr<const T> get(const std::string& key, Make&& make) {
    {
      const std::lock_guard lock(mutex_);
      if (auto it = values_.find(key); it != values_.end()) return std::any_cast<std::shared_ptr<const T>>(it->second);
    }
    auto made = std::make_shared<const T>(make());
    const std::lock_guard lock(mutex_);
    return std::any_cast<std::shared_ptr<const T>>(values_.emplace(key, std::move(made)).first->second);
  }

  /// The value that the last fit left under this key, or null; only in a cache for fits one after another.
  template <class T>
  std::shared_ptr<const T> last(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto it = values_.find(key);
    return it == values_.end() ? nullptr : std::any_cast<std::shared_ptr<const T>>(it->second);
  }
  /// Replaces the last value.
  template <class T>
  void leave(const std::string& key, T value) {
    const std::lock_guard lock(mutex_);
    values_[key] = std::make_shared<const T>(std::move(value));
  }

 private:
  Order order_;
  std::mutex mutex_;
  std::map<std::string, std::any> values_;
};

}  // namespace ecotone
