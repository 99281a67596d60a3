#include "ecotone/report/report.h"

#include <algorithm>

#include "cli/arguments.h"
#include "cli/output.h"
#include "cli/page.h"
#include "cli/verbs.h"
#include "ecotone/base/error.h"
#include "ecotone/base/files/file.h"

namespace ecotone::cli {
namespace {

struct ReportFlags {
  std::vector<std::string> results;
  std::string output;
  std::string title;
  std::string intended_use;
};

/// A file that is not JSON, or nested beyond reason, is no result.
Json read_document(const std::string& path) {
  Json document = Json::parse(read_text(path), nullptr, false);
  if (document.is_discarded()) file_error("bad_result", "{}: not JSON; expected what a verb prints with --json", path);
  return document;
}

void run_report(const ReportFlags& flags, Session& session) {
  const std::vector<std::filesystem::path> files(flags.results.begin(), flags.results.end());
  require_files(files);
  require_separate(files, {flags.output});
  require_html_name("-o", flags.output);
  require_writable(flags.output);
  Report report;
  for (const std::string& path : flags.results) add_document(report, read_document(path), path);
  write_page({flags.output, flags.title, flags.intended_use}, report, session);
  session.say(fmt::format("wrote {}\n", flags.output));
  session.print({{"output", flags.output}, {"results", flags.results}});
}

void declare_report(Flags& flags, ReportFlags& inputs) {
  flags.arguments("RESULT.json...", inputs.results, "What verbs printed with --json; a page may show several together");
  flags.output(inputs.output, "The HTML page to write", Need::required);
  flags.text("--title", "TEXT", inputs.title, "Title of the page");
  flags.text("--intended-use", "TEXT", inputs.intended_use, "What the model is for, for the page's model card");
}

}  // namespace

Verb report_verb() {
  return make_verb({"report", "Make one HTML page of saved results", "report RESULT.json... -o FILE.html",
                    "  ecotone evaluate clinics.csv \"impute | scale | logistic\" --label disease --domain hospital "
                    "--cost --json > scores.json\n"
                    "  ecotone diagnose clinics.csv --label disease --domain hospital --json > shift.json\n"
                    "  ecotone report scores.json shift.json -o report.html\n"},
                   declare_report, run_report);
}

}  // namespace ecotone::cli
