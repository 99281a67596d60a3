#include "ecotone/diagnose/sums_diagnosis.h"

#include <fmt/format.h>

#include "ecotone/report/text/domain_table.h"
#include "ecotone/report/text/line.h"
#include "ecotone/report/text/text.h"
#include "ecotone/report/text/text_table.h"

namespace ecotone {
namespace {

std::string shift_number(const std::optional<double>& value) { return value ? fmt::format("{:+.2f}", *value) : "inf"; }

std::string rows_table(const SumsDiagnosis& found) {
  TextTable table{{{"domain", true}, {"rows"}}, {}};
  for (const std::string& name : found.classes) table.columns.push_back({"share of " + one_line(name)});
  for (std::size_t g = 0; g < found.domains.size(); ++g) {
    std::vector<std::string> line = {one_line(found.domains[g]), fmt::to_string(found.rows[g])};
    for (Index c = 0; c < found.class_share.cols(); ++c)
      line.push_back(fmt::format("{:.2f}", found.class_share(static_cast<Index>(g), c)));
    table.lines.push_back(std::move(line));
  }
  return table.text();
}

std::string shift_table(const SumsDiagnosis& found, std::size_t top) {
  DomainTable table;
  for (const std::string& name : found.domains) table.domains.push_back(one_line(name));
  for (std::size_t j = 0; j < std::min(top, found.features.size()); ++j) {
    DomainTable::Line line{one_line(found.features[j]), {}, {}, {}};
    for (const auto& value : found.smd[j]) line.domains.push_back(shift_number(value));
    table.lines.push_back(std::move(line));
  }
  return table.text();
}

std::string mmd_table(const SumsDiagnosis& found) {
  DomainTable table;
  for (const std::string& name : found.domains) table.domains.push_back(one_line(name));
  for (std::size_t a = 0; a < found.domains.size(); ++a) {
    DomainTable::Line line{one_line(found.domains[a]), {}, {}, {}};
    for (Index b = 0; b < found.mmd2->cols(); ++b)
      line.domains.push_back(fmt::format("{:.4f}", (*found.mmd2)(static_cast<Index>(a), b)));
    table.lines.push_back(std::move(line));
  }
  return table.text();
}

}  // namespace

std::string sums_diagnosis_text(const SumsDiagnosis& found, std::size_t top) {
  std::string text = fmt::format("sums for \"{}\"\n\n{}", found.pipeline, rows_table(found));
  if (!found.features.empty())
    text += fmt::format("\nstandardised mean difference of each domain from all others, largest first{}\n\n{}",
                        found.features.size() > top ? fmt::format(" ({} of {})", top, found.features.size()) : "",
                        shift_table(found, top));
  if (found.mmd2)
    text += "\nsquared MMD between domains, unbiased, by the features that were drawn\n\n" + mmd_table(found);
  return text + "\nfrom sums alone: no test and no classifier; `ecotone diagnose` on rows has both\n";
}

}  // namespace ecotone
