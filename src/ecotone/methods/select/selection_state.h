#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ecotone/methods/method.h"
#include "ecotone/solve/paths/left_out.h"

/// Shared by the model files of selectors and of ridge.
namespace ecotone {

Vector as_vector(const std::vector<double>& list);
Vector as_vector(const std::vector<Index>& list);

/// Checked reads; file error `bad_model`.
std::vector<double> loaded_array(const StageState& state, const std::string& name, Index size);
/// Column numbers.
std::vector<Index> loaded_columns(const StageState& state, const std::string& name, Index cols);

/// A selector that keeps no feature passes the first of its path to the next stage, which could not learn without
/// features.
std::vector<Index> columns_to_pass(const std::vector<Index>& taken, std::optional<Index> first);
/// The part of its warning about that; empty if there is no such feature.
std::string first_of_path_text(std::optional<Index> first, const std::vector<std::string>& features);
/// These columns under their names.
Features named_columns(const Features& x, const std::vector<Index>& columns, const Context& context);
/// Info `first`, if any; a path with steps has none.
void save_first(StageState& state, std::optional<Index> first);
std::optional<Index> load_first(const StageState& state, Index steps, Index cols);

/// The candidates and their values as arrays `lodo_lam`, `lodo_mix`, `lodo_size` and `lodo_value`, the rest as info
/// `lodo`; null if nothing was chosen.
void save_table(StageState& state, const std::optional<LeftOutTable>& table);
std::optional<LeftOutTable> load_table(const StageState& state);

}  // namespace ecotone
