#pragma once

#include <string>
#include <string_view>

namespace ecotone {

/// The citation of a key of docs/glossary.md, on one line; empty if there is none.
std::string full_citation(std::string_view key);

/// The part of docs/glossary.md that lists them; made by the build.
std::string_view citations_of_the_glossary();

}  // namespace ecotone
