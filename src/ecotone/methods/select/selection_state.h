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

/// The part of the warning of a selector that keeps no feature: it passes on the first of its path. Empty if there is
/// none.
std::string first_of_path_text(std::optional<Index> first, const std::vector<std::string>& features);
/// The candidates and their values as arrays `lodo_lam`, `lodo_mix`, `lodo_size` and `lodo_value`, the rest as info
/// `lodo`; null if nothing was chosen.
void save_table(StageState& state, const std::optional<LeftOutTable>& table);
std::optional<LeftOutTable> load_table(const StageState& state);

}  // namespace ecotone
