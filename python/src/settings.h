#pragma once

#include <string_view>

#include "ecotone/base/options.h"

namespace ecotone::python {

/// An option struct from the texts of its options.
template <class Options>
Options options_from(std::string_view who, const OptionTexts& texts) {
  return read_options<Options>(complete_options(who, describe_options<Options>(), texts));
}

}  // namespace ecotone::python
