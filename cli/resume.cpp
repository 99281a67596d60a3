#include "cli/resume.h"

#include <fmt/format.h>

#include "ecotone/base/error.h"
#include "ecotone/report/text/line.h"

namespace ecotone::cli {
namespace {

std::string parts(std::size_t count) { return counted(static_cast<Index>(count), "finished part"); }

}  // namespace

void add_resume_flag(Flags& flags, std::string& path) {
  flags.text("--resume", "FILE", path,
             "Keep finished fits in this journal; the same command goes on where it was stopped");
}

Resume::Resume(const std::string& path, Session& session) : session_(session) {
  if (path.empty()) return;
  if (path == "-") option_error("bad_output", "--resume: '-' is no file; name one");
  journal_.emplace(path);
  if (journal_->damaged() > 0)
    session_.warn_aside(fmt::format("{}: {} damaged or cut off; what they held is done again", path,
                                    counted(static_cast<Index>(journal_->damaged()), "byte")));
}

void Resume::tell_used() {
  if (!journal_ || journal_->found() == 0) return;
  const std::string path = journal_->path().string();
  if (journal_->used() > 0) {
    session_.aside(fmt::format("{} of the work came from {}", parts(journal_->used()), path));
  } else {
    session_.aside(
        fmt::format("{} holds {}, but none of this work: of other data, pipelines, options, or another version of "
                    "ecotone or kind of processor",
                    path, parts(journal_->found())));
  }
}

void Resume::tell_how_to_go_on() {
  if (!journal_) {
    session_.aside("with --resume FILE, finished fits survive an interrupt");
  } else if (const std::size_t kept = journal_->found() + journal_->added(); kept > 0) {
    session_.aside(
        fmt::format("{} holds {}; the same command goes on from there", journal_->path().string(), parts(kept)));
  }
}

}  // namespace ecotone::cli
