#pragma once

#include <optional>
#include <string>

#include "cli/flags.h"
#include "ecotone/base/files/journal.h"

namespace ecotone::cli {

/// Declares --resume.
void add_resume_flag(Flags& flags, std::string& path);

/// The journal that --resume names, if any. Tells the user on standard error what was found in it: not a result, so it
/// is not in the JSON document.
class Resume {
 public:
  /// Opens the journal, before the work begins.
  Resume(const std::string& path, Session& session);

  /// Runs the work with the journal, or with null; if the user stops it, says how to go on.
  template <class Work>
  auto run(Work&& work) {
    try {
      auto result = work(journal_ ? &*journal_ : nullptr);
      tell_used();
      return result;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::cancelled) tell_how_to_go_on();
      throw;
    }
  }

 private:
  void tell_used();
  void tell_how_to_go_on();

  Session& session_;
  std::optional<Journal> journal_;
};

}  // namespace ecotone::cli
