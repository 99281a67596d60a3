#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ecotone/methods/method.h"
#include "ecotone/solve/paths/left_out.h"

/// What the model files of selectors and of ridge share.
namespace ecotone {

Vector as_vector(const std::vector<double>& list);
Vector as_vector(const std::vector<Index>& list);

/// Checked reads; file error `bad_model`.
std::vector<double> loaded_array(const StageState& state, const std::string& name, Index size);
/// Numbers of columns.
std::vector<Index> loaded_columns(const StageState& state, const std::string& name, Index cols);
bool loaded_flag(const StageState& state, const std::string& name);

/// A selector that takes no feature hands the first of its path to a stage behind it, which could not learn from none.
std::vector<Index> columns_to_pass(const std::vector<Index>& taken, std::optional<Index> first);
/// What its warning says of that; empty when there is no such feature.
std::string first_of_path_text(std::optional<Index> first, const std::vector<std::string>& features);
/// These columns under their names.
Features named_columns(const Features& x, const std::vector<Index>& columns, const Context& context);
/// Info `first`, where there is one; a path with steps has none.
void save_first(StageState& state, std::optional<Index> first);
std::optional<Index> load_first(const StageState& state, Index steps, Index cols);

/// The candidates and what they are worth as arrays `lodo_lam`, `lodo_mix`, `lodo_size` and `lodo_value`, the rest as
/// info `lodo`; null when nothing was chosen.
void save_table(StageState& state, const std::optional<LeftOutTable>& table);
std::optional<LeftOutTable> load_table(const StageState& state);

}  // namespace ecotone
