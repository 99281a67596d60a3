#pragma once

#include <string>
#include <string_view>

#include "ecotone/data/dataset.h"

/// Fields of CSV rows, as every writer makes them.
namespace ecotone {

/// Appends a text, quoted if it would not read back unchanged.
void append_csv_field(std::string& row, std::string_view text);
/// The same in a row whose fields are separated by `delimiter` alone.
void append_csv_field(std::string& row, std::string_view text, char delimiter);
std::string csv_field(std::string_view text);
/// Appends a number in the shortest form that reads back unchanged; nothing for a missing value (NaN).
void append_csv_value(std::string& row, double value);
/// Appends the class or number of a row; nothing where it is missing.
void append_csv_label(std::string& row, const Labels& y, Index i);

}  // namespace ecotone
