#pragma once

#include <any>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace ecotone {

/// Shares expensive intermediate results (a Gram matrix, a factorisation) between the fits of a grid. Keys must name
/// everything that the value depends on. Thread-safe; two threads that miss at once may both compute, and the first
/// result stays.
class FitCache {
 public:
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

 private:
  std::mutex mutex_;
  std::map<std::string, std::any> values_;
};

}  // namespace ecotone
