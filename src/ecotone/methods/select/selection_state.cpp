#include "ecotone/methods/select/selection_state.h"

#include <cmath>
#include <utility>

#include "ecotone/base/error.h"

namespace ecotone {
namespace {

/// The table's scalars as a state, which has checked reads.
StageState table_info(const StageState& state) {
  const auto found = state.info.find("lodo");
  if (found == state.info.end() || !(found->is_object() || found->is_null()))
    file_error("bad_model", "'lodo' must be an object or null");
  StageState result;
  if (found->is_object()) result.info = *found;
  return result;
}

Index whole(double value, const char* name) {
  if (!(value >= 0 && value <= 1e15) || value != std::floor(value))
    file_error("bad_model", "array '{}' must hold sizes", name);
  return static_cast<Index>(value);
}

LeftOutCriterion criterion_named(const std::string& name) {
  for (const auto each :
       {LeftOutCriterion::auroc, LeftOutCriterion::squared_loss, LeftOutCriterion::rmse, LeftOutCriterion::log_loss})
    if (name == criterion_name(each)) return each;
  file_error("bad_model", "'criterion' must be auroc, squared_loss, rmse or log_loss, got '{}'", name);
}

}  // namespace

Vector as_vector(const std::vector<double>& list) {
  return Eigen::Map<const Vector>(list.data(), static_cast<Index>(list.size()));
}

Vector as_vector(const std::vector<Index>& list) {
  Vector result(static_cast<Index>(list.size()));
  for (std::size_t k = 0; k < list.size(); ++k) result[static_cast<Index>(k)] = static_cast<double>(list[k]);
  return result;
}

std::vector<double> loaded_array(const StageState& state, const std::string& name, Index size) {
  const Vector v = state.vector(name, size);
  return {v.data(), v.data() + v.size()};
}

std::vector<Index> loaded_columns(const StageState& state, const std::string& name, Index cols) {
  std::vector<Index> list;
  for (const double value : state.vector(name, -1)) {
    if (!(value >= 0 && value < static_cast<double>(cols)) || value != std::floor(value))
      file_error("bad_model", "array '{}' must hold column numbers", name);
    list.push_back(static_cast<Index>(value));
  }
  return list;
}

std::string first_of_path_text(std::optional<Index> first, const std::vector<std::string>& features) {
  if (!first) return "";
  return fmt::format("; a later stage gets the first feature of the path, '{}'", features[at(*first)]);
}

void save_table(StageState& state, const std::optional<LeftOutTable>& table) {
  state.info["lodo"] = nullptr;
  if (!table) return;
  const auto count = static_cast<Index>(table->candidates.size());
  Vector lam(count), mix(count), size(count);
  for (Index c = 0; c < count; ++c) {
    const Candidate& each = table->candidates[at(c)];
    lam[c] = each.lam;
    mix[c] = each.mix;
    size[c] = static_cast<double>(each.size);
  }
  state.set("lodo_lam", lam);
  state.set("lodo_mix", mix);
  state.set("lodo_size", size);
  state.set("lodo_value", as_vector(table->value));
  state.info["lodo"] = {{"criterion", criterion_name(table->criterion)},
                        {"groups", table->groups},
                        {"folds", table->folds},
                        {"best", table->best},
                        {"advantage", table->advantage},
                        {"error", table->error},
                        {"beats_empty", table->beats_empty}};
}

std::optional<LeftOutTable> load_table(const StageState& state) {
  const StageState info = table_info(state);
  if (info.info.empty()) return {};
  const Vector lam = state.vector("lodo_lam", -1);
  const Vector mix = state.vector("lodo_mix", lam.size());
  const Vector size = state.vector("lodo_size", lam.size());
  LeftOutTable table;
  for (Index c = 0; c < lam.size(); ++c) table.candidates.push_back({lam[c], mix[c], whole(size[c], "lodo_size")});
  table.value = loaded_array(state, "lodo_value", lam.size());
  table.criterion = criterion_named(info.text("criterion"));
  table.groups = info.count("groups");
  table.folds = info.count("folds");
  table.best = info.count("best");
  if (table.best >= lam.size()) file_error("bad_model", "'best' is {} of {} candidates", table.best, lam.size());
  table.advantage = info.number("advantage");
  table.error = info.number("error");
  table.beats_empty = info.flag("beats_empty");
  return table;
}

}  // namespace ecotone
