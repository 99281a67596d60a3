#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ecotone {

/// A table of columns with figures for each domain, of which as many are shown as have room.
struct DomainTable {
  /// A line: the figures of the heads before the domains, of the domains, and of the heads after them.
  struct Line {
    std::string name;
    std::vector<std::string> before, domains, after;
  };

  std::vector<std::string> before, domains, after;  ///< heads
  std::vector<Line> lines;
  std::string_view unit = "domain";  ///< what the domains are called

  /// The table, and a sentence about domains that have no room.
  std::string text() const;
};

/// What is lost without a column: "+0.1234", "-" if that is not defined.
std::string loss_text(const std::optional<double>& loss);

}  // namespace ecotone
