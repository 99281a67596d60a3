#pragma once

#include <string_view>

#include "ecotone/data/schema.h"
#include "ecotone/report/json/result_field.h"

namespace ecotone {

/// The kind of a column as documents name it.
constexpr std::string_view column_kind_word(ColumnKind kind) {
  return kind == ColumnKind::numeric ? "numeric" : kind == ColumnKind::categorical ? "categorical" : "date";
}
inline ColumnKind read_column_kind(const ResultField& field) {
  return field.choice({ColumnKind::numeric, ColumnKind::categorical, ColumnKind::date}, column_kind_word);
}

}  // namespace ecotone
