#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ecotone/base/digest.h"
#include "ecotone/base/files/archive.h"
#include "ecotone/base/files/journal.h"
#include "ecotone/data/dataset.h"
#include "ecotone/evaluate/messages.h"
#include "ecotone/evaluate/protocol.h"

namespace ecotone {

/// Finished parts of a long run, kept in a journal: each under a key that names all that its result depends on, with
/// the messages that it had. Without a journal nothing is found or kept, and no key is made.
class FinishedWork {
 public:
  /// The key of everything: this version of ecotone on a processor of this kind. `kind` sorts the results, such as
  /// "evaluate".
  FinishedWork(Journal* journal, std::string_view kind);
  /// The same on these data.
  FinishedWork(Journal* journal, std::string_view kind, const Dataset& data, const Context& context);

  bool kept() const { return journal_ != nullptr; }
  /// To be completed with what tells one part from another.
  Digest key() const { return common_; }

  /// Fills in a finished part and its messages; false if there is none that `fits`, and then they stay as they are.
  template <class Result, class Fits>
  bool take(const Digest& key, Result& result, Messages& messages, Fits&& fits) const {
    const std::optional<std::string> record = journal_->find(key);
    auto read = record ? unarchived<Record<Result>>(*record) : std::nullopt;
    if (!read || !fits(read->first)) return false;
    result = std::move(read->first);
    messages.append(read->second);
    return true;
  }
  template <class Result>
  void keep(const Digest& key, const Result& result, const Messages& messages) const {
    Record<Result> record{result, messages.items()};
    journal_->add(key, archived(record));
  }

 private:
  template <class Result>
  using Record = std::pair<Result, std::vector<std::pair<std::string, std::string>>>;

  Journal* journal_;
  Digest common_;
};

/// Adds the rows and the name of a split to a key.
void add_split(Digest& key, const Split& split);

}  // namespace ecotone
