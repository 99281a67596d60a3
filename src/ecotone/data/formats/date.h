#pragma once

#include <string>
#include <string_view>

#include "ecotone/data/schema.h"

/// Dates as numbers: days since 1970-01-01, with the time of day as a fraction.
namespace ecotone {

/// Reads `2020-01-31`, `31.01.2020` and, in the given order, `31/01/2020` or `01/31/2020` (years have four digits; so
/// has the first number of `2020/01/31`, which any order reads). A time of day may follow after a blank or T: `12:30`,
/// `12:30:05`, `12:30:05.25`, with or without a final Z. False if the text is anything else, such as 30 February.
bool parse_date(std::string_view text, SlashOrder slashes, double& days);

/// Whether a number of days is a date of the years 1 to 9999.
bool is_date(double days);

/// Such a date as text: `2020-01-31`, or `2020-01-31T12:30:05` if it is not midnight.
std::string date_text(double days);

}  // namespace ecotone
