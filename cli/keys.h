#pragma once

#include <optional>
#include <string>

#include "ecotone/base/thread_pool.h"

namespace ecotone::cli {

/// Columns of the terminal that standard output goes to; 80 if it goes elsewhere or they are not known.
int output_width();

/// What a person types on standard input.
class Keys {
 public:
  /// single: each key is an answer, without Enter, if standard input is a terminal; lines: whole lines.
  enum class Mode { single, lines };
  explicit Keys(Mode mode);

  bool single() const { return single_; }
  /// The next key or line, without its end; empty at the end of the input and once the flag is set. The terminal's
  /// settings are changed only while this waits.
  std::optional<std::string> next(const CancelFlag& end);

 private:
  /// Reads more; false at the end.
  bool read_more(const CancelFlag& end);

  bool single_;
  bool ended_ = false;
  std::string read_;  ///< and not yet given
};

}  // namespace ecotone::cli
