#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/terminal.h"
#include "ecotone/base/context.h"
#include "ecotone/base/json.h"

namespace ecotone::cli {

/// Flags that every verb takes.
struct CommonFlags {
  bool json = false;
  bool quiet = false;
  bool timing = false;
  int threads = 0;
  std::uint64_t seed = 0;
  std::string command = {};             ///< as typed, but for flags that change no result
  std::vector<std::string> words = {};  ///< all of it
};

/// One run of one verb: its common flags, the context made from them, and its output.
class Session {
 public:
  explicit Session(const CommonFlags& flags);

  /// Whether this process writes the results: the only one, or the first of several ranks.
  bool leads() const { return rank() == 0; }

  bool json() const { return flags_.json; }
  std::uint64_t seed() const { return flags_.seed; }
  const std::string& command() const { return flags_.command; }
  const std::vector<std::string>& words() const { return flags_.words; }
  /// Created on first use, so that verbs that compute nothing start no threads.
  const Context& context();
  /// From here on the context knows no other ranks: what it computes, this process computes alone.
  void go_on_alone();
  /// One like it that signals do not cancel: for work that is brought to an orderly end when the user stops the run.
  Context uncancelled_context();

  /// Writes text for people to standard output; nothing with --json.
  void say(const std::string& text);
  /// Writes the verb's one JSON document to standard output, with the run's warnings and notes added; nothing without
  /// --json.
  void print(Json document);

  /// Tells the user on standard error something about this run that does not belong to its results.
  void aside(std::string_view message) { terminal_.aside(message); }
  /// The same as a warning, which --quiet does not suppress.
  void warn_aside(std::string_view message) { terminal_.line("warning: " + std::string(message)); }

  /// The exit status of a run that has printed its results although something failed; 0 unless set.
  int status() const { return status_; }
  void set_status(int status) { status_ = status; }

  /// Runs a named part of the work; --timing shows how long each took.
  template <class Work>
  auto timed(const char* part, Work&& work) {
    const Stopwatch watch(*this, part);
    return work();
  }
  /// Writes the timings, when asked for.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  /// Adds its lifetime in seconds to the session's timings.
  class Stopwatch {
   public:
    Stopwatch(Session& session, const char* part) : session_(session), part_(part) {}
    ~Stopwatch();

   private:
    Session& session_;
    const char* part_;
    Clock::time_point begin_ = Clock::now();
  };

  int rank() const { return ranks_ ? ranks_->rank() : 0; }

  CommonFlags flags_;
  Communicator* ranks_;
  Terminal terminal_;
  std::optional<Context> context_;
  std::optional<Traffic> sent_;  ///< between ranks, until this one went on alone
  int status_ = 0;
  std::vector<std::pair<std::string, double>> timings_;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace ecotone::cli
