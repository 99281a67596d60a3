#pragma once

#include "cli/label.h"

namespace ecotone::cli {

/// Asks in the terminal, with the keys of the page, until the person quits, the budget is spent, the input ends or a
/// signal comes. A terminal gives single keys; anything else, and numbers or more classes than keys, whole lines.
void ask_in_terminal(const LabelWork& work);

}  // namespace ecotone::cli
