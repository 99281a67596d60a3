#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cli/flags.h"
#include "cli/session.h"
#include "ecotone/data/read.h"
#include "ecotone/report/html/html.h"

namespace ecotone::cli {

/// Flags of verbs that can write a page.
struct PageFlags {
  std::string report;
  std::string title;
  std::string intended_use;

  bool asked() const { return !report.empty(); }
};
void add_page_flags(Flags& flags, PageFlags& page);
/// Refuses what could not be written, before the work; option error `idle_flag` for a title without a page.
void require_page(const PageFlags& page);
/// Makes a part of a page; false if it cannot be made of these data, which a warning reports: the result itself is
/// there.
bool try_for_page(const char* what, Session& session, const std::function<void()>& make);
/// What a page shows beside its result: who is in the data and, if wanted, how the domains differ.
enum class Differences { left_out, shown };
void add_background(Report& report, const Dataset& data, Differences differences, Session& session);
/// Writes the page, if one was asked for; its title and the intended use become part of the report.
void write_page(const PageFlags& page, Report& report, Session& session);

/// Where the results of this run come from, of verbs that read no table.
Provenance provenance_of(Session& session);
/// The same with the data, which are read once more for their hash.
Provenance provenance_of(const Dataset& data, const std::vector<std::filesystem::path>& files, const ReadOptions& read,
                         Session& session);

}  // namespace ecotone::cli
