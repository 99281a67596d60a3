#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ecotone/evaluate/evaluate.h"

/// The table of an evaluation: a line for each domain, a column for each pipeline.
namespace ecotone {

/// Formats the values of one metric, all with the same number of decimals.
class NumberFormat {
 public:
  NumberFormat(const Evaluation& evaluation, const std::string& metric);
  std::string text(const std::optional<double>& value, bool sign = false) const;
  /// With one digit less.
  std::string short_text(double value) const;

 private:
  int decimals_ = 4;
  bool scientific_ = false;
};

/// The table's parts, as text, before they are laid out.
struct Sheet {
  std::vector<std::string> heads;               // of the pipelines' columns
  std::vector<std::string> domains;             // first column: domains, then mean, spread and worst
  std::vector<std::vector<std::string>> facts;  // columns of the domains: their heads, then the lines
  std::vector<std::vector<std::string>> cells;  // by pipeline, then line
  std::size_t n_domains = 0;                    // lines before the mean
};

/// Of these texts, but at least `least`.
Index widest(const std::vector<std::string>& texts, Index least);

/// "[0.681, 0.790]"; empty if there is none.
std::string interval_text(const DomainScore& domain, const std::string& metric, const NumberFormat& format);

enum class Shown { values, intervals, both };

/// The domains' columns and, unless intervals are shown alone, the lines below them.
Sheet make_sheet(const Evaluation& evaluation, const std::string& metric, const NumberFormat& format, Shown shown);

/// Heads the columns with the pipelines, or with letters if the table would be too wide. Whether it fits then.
bool set_heads(Sheet& sheet, const Evaluation& evaluation);

/// The columns, split into as many stacked tables as the page width requires.
std::string tables(const Sheet& sheet, std::string_view unit);

}  // namespace ecotone
