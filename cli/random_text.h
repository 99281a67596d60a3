#pragma once

#include <string>

namespace ecotone::cli {

/// 128 random bits of the system as 32 hexadecimal digits: for tokens and names of requests, not for results.
std::string random_text();

}  // namespace ecotone::cli
