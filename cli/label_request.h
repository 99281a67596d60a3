#pragma once

#include <string>
#include <string_view>

#include "ecotone/base/json.h"
#include "ecotone/label/desk.h"
#include "ecotone/report/json/labelling.h"

/// What pages send, checked before it is used. Everything that is not as it should be is the data error `bad_request`.
namespace ecotone::cli {

/// Whether a Content-Type is JSON, with parameters or without.
bool is_json_type(std::string_view type);

/// An object that is not nested deeply.
Json parse_request(const std::string& body);

/// A name that a page made: 1 to 64 printable characters of ASCII.
std::string checked_name(std::string_view what, std::string name);
/// The same as a member of a request.
std::string request_name(const Json& body, const char* member);

/// A row number that counts from 1, as the row of the files, which counts from 0.
Index read_row(const std::string& text);

/// {"page", "request", "row", "kind", "label"}. Whether the label is one of the classes is for the desk to say.
Answer read_answer(const Json& body, const LabelTask& task);

}  // namespace ecotone::cli
