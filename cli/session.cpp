#include "cli/session.h"

#include <fmt/format.h>

#include "cli/output.h"
#include "cli/ranks.h"
#include "cli/signals.h"
#include "ecotone/report/text/line.h"

namespace ecotone::cli {
namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

Session::Session(const CommonFlags& flags)
    : flags_(flags),
      ranks_(ranks_of_run()),
      terminal_(leads() ? flags.quiet ? Says::warnings : Says::all : Says::nothing) {}

const Context& Session::context() {
  if (!context_)
    context_.emplace(Context::Settings{.threads = flags_.threads,
                                       .seed = flags_.seed,
                                       .observer = &terminal_,
                                       .cancel = &cancel_flag(),
                                       .ranks = ranks_});
  return *context_;
}

void Session::go_on_alone() {
  if (!ranks_) return;
  sent_ = context().ranks().traffic();
  context_ =
      Context({.threads = flags_.threads, .seed = flags_.seed, .observer = &terminal_, .cancel = &cancel_flag()});
}

Context Session::uncancelled_context() {
  return Context({.threads = flags_.threads, .seed = flags_.seed, .observer = &terminal_});
}

void Session::say(const std::string& text) {
  if (!flags_.json && leads()) write_standard_output(printable(text));  // names in a file must not control the terminal
}

void Session::print(Json document) {
  if (!flags_.json || !leads()) return;
  Json warnings = terminal_.warnings();
  Json notes = terminal_.notes();
  if (!warnings.empty()) document["warnings"] = std::move(warnings);
  if (!notes.empty()) document["notes"] = std::move(notes);
  write_standard_output(json_text(document));
}

void Session::finish() {
  terminal_.clear_bar();
  if (!flags_.timing) return;
  std::string text = "timing:";
  for (const auto& [part, seconds] : timings_) text += fmt::format(" {} {:.3f} s,", part, seconds);
  terminal_.line(text + fmt::format(" total {:.3f} s", seconds_since(begin_)));
  if (sent_)
    terminal_.line(
        fmt::format("ranks: {} messages, {} bytes of rank 0 ({} of sums, {} of sums of integers, {} of rows)",
                    sent_->messages, sent_->bytes(), sent_->sums, sent_->added, sent_->shares));
  if (const std::string stages = terminal_.stage_times(); !stages.empty())
    terminal_.line(fmt::format("timing of fitted stages: {}", stages));
}

Session::Stopwatch::~Stopwatch() { session_.timings_.emplace_back(part_, seconds_since(begin_)); }

}  // namespace ecotone::cli
