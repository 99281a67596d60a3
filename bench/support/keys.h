#pragma once

#include <map>
#include <string>

#include "ecotone/base/error.h"

/// Sets keys by the arguments KEY=VALUE from `first` on. Option error `bad_option` for a key that is not there.
inline void read_keys(int argc, char** argv, int first, std::map<std::string, std::string>& keys) {
  for (int i = first; i < argc; ++i) {
    const std::string text = argv[i];
    const auto equals = text.find('=');
    if (equals == std::string::npos || !keys.contains(text.substr(0, equals)))
      ecotone::option_error("bad_option", "unknown argument '{}'", text);
    keys[text.substr(0, equals)] = text.substr(equals + 1);
  }
}
