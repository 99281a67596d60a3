#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/methods/stage_times.h"

namespace ecotone {

/// Keeps the messages of one fit until all are done, so that they appear in a fixed order, each once.
class Messages : public Observer, public StageTimes {
 public:
  Messages() = default;
  /// `stages`: those of the fitted pipeline; messages of other stages cannot come from it.
  explicit Messages(std::vector<std::string> stages) : stages_(std::move(stages)) {}

  void warning(std::string_view code, std::string_view message) override {
    const std::lock_guard lock(mutex_);
    items_.emplace_back(code, message);
  }
  void note(std::string_view message) override { warning("", message); }
  void progress(std::string_view, Index, Index) override {}  // the bar of the whole evaluation stands for the fits
  void stage_time(std::string_view stage, double seconds) override {
    const std::lock_guard lock(mutex_);
    times_.emplace_back(stage, seconds);
  }

  /// Code (empty: a note) and text of each, in order.
  const std::vector<std::pair<std::string, std::string>>& items() const { return items_; }
  void append(const std::vector<std::pair<std::string, std::string>>& items) {
    const std::lock_guard lock(mutex_);
    items_.insert(items_.end(), items.begin(), items.end());
  }
  /// Takes over all messages and times of another.
  void append(const Messages& other) {
    append(other.items_);
    times_.insert(times_.end(), other.times_.begin(), other.times_.end());
  }
  const std::vector<std::pair<std::string, double>>& times() const { return times_; }
  /// Whether the pipeline may send a message of this stage; always true if its stages are unknown.
  bool may_come_from(std::string_view stage) const {
    return stages_.empty() || std::find(stages_.begin(), stages_.end(), stage) != stages_.end();
  }

 private:
  std::vector<std::string> stages_;
  std::mutex mutex_;
  std::vector<std::pair<std::string, std::string>> items_;
  std::vector<std::pair<std::string, double>> times_;
};

/// Passes on how far the work is, under another name, and drops messages: for work that says nothing new.
class ProgressOnly : public Observer {
 public:
  ProgressOnly(Observer* to, std::string what) : to_(to), what_(std::move(what)) {}
  void warning(std::string_view, std::string_view) override {}
  void note(std::string_view) override {}
  void progress(std::string_view, Index done, Index total) override {
    if (to_ != nullptr) to_->progress(what_, done, total);
  }

 private:
  Observer* to_;
  std::string what_;
};

/// Passes on the times of all stages, and the messages of all fits in order, with the number of fits (or of whatever
/// `what` names) that had them among those whose pipeline has the stage. Each note appears once; of the warnings with
/// one code from one stage (the words before the first ":") only the first does, which says whether the others differ
/// in their details.
void pass_on(const std::vector<std::unique_ptr<Messages>>& fits, const Context& context,
             std::string_view what = "fits");

/// Warns (`below_chance`) when `what` ranks the rows of held-out domains with a mean AUROC below 0.4. Overfitting alone
/// ends at 0.5. One cause is features centred over all rows, held-out domain included: class means then sum to zero,
/// which reverses a good fit there.
void warn_below_chance(std::string_view who, std::string_view what, std::optional<double> auroc,
                       const Context& context);

}  // namespace ecotone
