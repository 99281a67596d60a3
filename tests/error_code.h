#pragma once

#include <string>

#include "ecotone/base/error.h"

namespace ecotone::test {

/// Code of the Error that `call` throws; "none" when it throws nothing.
template <class Call>
std::string code_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return "none";
}

}  // namespace ecotone::test
