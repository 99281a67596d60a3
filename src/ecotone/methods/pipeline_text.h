#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ecotone/methods/method.h"

namespace ecotone {

/// One option as written in pipeline text: `key=value`, or in a grid `key={value,value}`.
struct OptionGiven {
  std::string name;
  std::size_t position = 0;         ///< of its first character, counted in bytes from 1
  std::vector<std::string> values;  ///< without their quotes; one, unless `braced`
  bool braced = false;
  bool quoted = false;  ///< whether any value in the braces has quotes
};

/// One stage as written in pipeline text; the option values are not checked yet.
struct StageGiven {
  const Method* method = nullptr;
  std::vector<OptionGiven> options;
};

enum class Braces { refuse, read };

/// Reads pipeline text from left to right. Option errors: `empty_pipeline`, `bad_pipeline` (with the position),
/// `unknown_method`, and `unexpected_grid` if a value opens with an unquoted { and braces are not allowed.
std::vector<StageGiven> read_pipeline_text(std::string_view text, Braces braces);

}  // namespace ecotone
