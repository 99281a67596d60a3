#include "ecotone/base/progress.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace ecotone {

namespace {

/// Reports take turns: a thread held up between its claim and its report would otherwise end a bar at 99 percent.
std::mutex report_turn;

}  // namespace

Progress::Progress(Observer* observer, std::string what, Index total)
    : observer_(observer), what_(std::move(what)), total_(total) {
  if (observer_ && total_ > 0) {
    shown_ = 0;
    observer_->progress(what_, 0, total_);
  }
}

Progress::~Progress() {
  // A bar that is left early (by an exception, or by a solver that converged) is completed too: the terminal line must
  // not stay open.
  if (!observer_ || total_ <= 0 || shown_.load() >= 100) return;
  try {
    observer_->progress(what_, total_, total_);
  } catch (...) {  // an observer that fails must not end the run
  }
}

void Progress::advance(Index units) {
  if (!observer_ || total_ <= 0) return;
  const Index done = std::min(done_.fetch_add(units) + units, total_);
  const int percent = static_cast<int>(done * 100 / total_);
  if (percent <= shown_.load()) return;
  const std::lock_guard lock(report_turn);
  if (percent <= shown_.load()) return;
  shown_ = percent;
  observer_->progress(what_, done, total_);
}

}  // namespace ecotone
