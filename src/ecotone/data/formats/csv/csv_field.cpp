#include "ecotone/data/formats/csv/csv_field.h"

#include <cmath>

#include "ecotone/data/formats/number.h"

namespace ecotone {

namespace {

/// Appends a text, in quotes if one of these characters is in it. Readers may trim blanks at the ends.
void append_field(std::string& row, std::string_view text, std::string_view special) {
  if (trim(text).size() == text.size() && text.find_first_of(special) == std::string_view::npos) {
    row += text;
    return;
  }
  row += '"';
  for (const char c : text) {
    if (c == '"') row += '"';
    row += c;
  }
  row += '"';
}

}  // namespace

void append_csv_field(std::string& row, std::string_view text) {
  // Semicolons and tabs separate fields elsewhere.
  append_field(row, text, ",\"\r\n;\t");
}

void append_csv_field(std::string& row, std::string_view text, char delimiter) {
  const char special[] = {'"', '\r', '\n', delimiter};
  append_field(row, text, {special, std::size(special)});
}

std::string csv_field(std::string_view text) {
  std::string field;
  append_csv_field(field, text);
  return field;
}

void append_csv_value(std::string& row, double value) {
  if (!std::isnan(value)) append_number(row, value);
}

void append_csv_label(std::string& row, const Labels& y, Index i) {
  if (y.missing(i)) return;
  if (y.task == Task::classify) {
    append_csv_field(row, y.classes[at(y.index[at(i)])]);
  } else {
    append_csv_value(row, y.value[i]);
  }
}

}  // namespace ecotone
