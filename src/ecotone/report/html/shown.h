#pragma once

#include <string>

#include "ecotone/report/html/page.h"
#include "ecotone/report/report.h"

namespace ecotone::report {

/// What of a report the page shows: of very many domains the hardest and the farthest, so that the page stays small.
/// JSON has all.
struct Shown {
  Report report;
  std::string domains;  ///< "; the 60 hardest of 1000 hospitals"; empty: all are there
};
/// `full` are the results of the whole report.
Shown shown_part(const Report& report, const Results* full);

}  // namespace ecotone::report
