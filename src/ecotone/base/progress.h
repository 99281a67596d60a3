#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "ecotone/base/index.h"

namespace ecotone {

/// Receives the messages of a run. Calls come from any thread; implementations must lock.
class Observer {
 public:
  virtual ~Observer() = default;
  /// Something the user should know and can act on; `code` is stable ("unseen_category").
  virtual void warning(std::string_view code, std::string_view message) = 0;
  /// A decision that the program made for the user (the guessed task, dropped rows).
  virtual void note(std::string_view message) = 0;
  /// `done` of `total` units of `what` are finished; done == total ends the bar.
  virtual void progress(std::string_view what, Index done, Index total) = 0;
};

/// One progress bar: counts units from any thread and reports each whole percent to the observer.
class Progress {
 public:
  Progress(Observer* observer, std::string what, Index total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(Index units = 1);

 private:
  Observer* observer_;
  std::string what_;
  Index total_;
  std::atomic<Index> done_{0};
  std::atomic<int> shown_{-1};
};

}  // namespace ecotone
