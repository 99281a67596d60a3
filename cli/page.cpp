#include "cli/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "cli/arguments.h"
#include "ecotone/base/error.h"
#include "ecotone/base/files/file.h"
#include "ecotone/data/dataset_digest.h"
#include "ecotone/version.h"

namespace ecotone::cli {
namespace {

std::string size_text(const std::filesystem::path& path) {
  std::error_code failed;
  const auto bytes = std::filesystem::file_size(path, failed);
  return failed ? "size unknown" : fmt::format("{} bytes", bytes);
}

std::vector<std::pair<std::string, std::string>> roles_of(const Schema& schema) {
  std::vector<std::pair<std::string, std::string>> roles;
  const std::pair<const std::string&, const char*> all[] = {{schema.label, "label"},
                                                            {schema.domain, "domain"},
                                                            {schema.weight, "weight"},
                                                            {schema.group, "group"},
                                                            {schema.time, "time"}};
  for (const auto& [name, role] : all)
    if (!name.empty()) roles.emplace_back(name, role);
  return roles;
}

std::vector<std::pair<Index, std::string>> dropped_rows(const Dataset& data, const ReadOptions& read) {
  std::vector<std::pair<Index, std::string>> dropped;
  if (data.dropped > 0) dropped.emplace_back(data.dropped, fmt::format("--where {}", fmt::join(read.where, ", ")));
  if (!data.y) return dropped;
  Index unlabelled = 0;
  for (Index row = 0; row < data.rows(); ++row) unlabelled += data.y->missing(row);
  if (unlabelled > 0) dropped.emplace_back(unlabelled, "no label, so nothing is scored or learned by it");
  return dropped;
}

}  // namespace

void add_page_flags(Flags& flags, PageFlags& page) {
  flags.text("--report", "FILE.html", page.report, "Write a self-contained HTML page");
  flags.text("--title", "TEXT", page.title, "Title of the page");
  flags.text("--intended-use", "TEXT", page.intended_use, "What the model is for, for the page's model card");
}

void require_page(const PageFlags& page) {
  if (!page.asked() && !page.title.empty()) option_error("idle_flag", "--title works only with --report");
  if (!page.asked() && !page.intended_use.empty()) option_error("idle_flag", "--intended-use works only with --report");
  require_html_name("--report", page.report);
  require_writable(page.report);
}

bool try_for_page(const char* what, Session& session, const std::function<void()>& make) {
  try {
    session.timed(what, make);
    return true;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::data && error.kind() != ErrorKind::option) throw;
    session.context().warn("left_out", "{}: left out of the page: {}", what, error.what());
    return false;
  }
}

void add_background(Report& report, const Dataset& data, Differences differences, Session& session) {
  const Context& context = session.context();
  try_for_page("population", session, [&] { report.population = population_of(data, context); });
  if (differences == Differences::left_out) return;
  if (!try_for_page("diagnose", session, [&] { report.diagnosis = diagnose(data, {}, context); }))
    report.not_diagnosed = "The domains could not be compared; the run said why.";
  try_for_page("projections", session, [&] { report.projections = projections_of(data, context); });
}

void write_page(const PageFlags& page, Report& report, Session& session) {
  if (!page.asked()) return;
  if (!page.title.empty()) report.title = page.title;
  if (!page.intended_use.empty()) report.intended_use = page.intended_use;
  session.timed("write", [&] { write_text(page.report, html_report(report)); });
}

Provenance provenance_of(Session& session) {
  Provenance from;
  from.version = version;
  from.commit = build_commit;
  from.command = session.command();
  from.seed = session.seed();
  return from;
}

Provenance provenance_of(const Dataset& data, const std::vector<std::filesystem::path>& files, const ReadOptions& read,
                         Session& session) {
  Provenance from = provenance_of(session);
  const auto words = digest_of(data, session.context()).words();
  from.data_hash = fmt::format("{:016x}{:016x}", words[0], words[1]);
  for (const std::filesystem::path& file : files_read(files, read))
    from.files.emplace_back(file.filename().string(), size_text(file));
  from.rows = data.rows();
  from.roles = roles_of(data.schema);
  for (const Column& column : data.table_columns()) from.columns.push_back(column.name);
  for (const std::string& name : data.left_out)
    from.left_out.emplace_back(name, "another text in every row, like an id");
  for (const std::string& name : read.ignore) from.left_out.emplace_back(name, "--ignore");
  if (!read.id.empty()) from.left_out.emplace_back(read.id, "--id");
  if (!read.features.empty()) from.left_out.emplace_back("all others", "--features");
  from.dropped = dropped_rows(data, read);
  return from;
}

}  // namespace ecotone::cli
