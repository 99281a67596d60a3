#include <algorithm>
#include <unordered_map>

#include "ecotone/diagnose/parts.h"

namespace ecotone {

void add_shift_table(Diagnosis& diagnosis) {
  constexpr std::size_t most_features = 30;
  ShiftTable& table = diagnosis.shifts;
  for (const FeatureShift& shift : diagnosis.feature_shift) {
    if (table.features.size() == most_features) break;
    table.features.push_back(shift.feature);
  }
  if (diagnosis.against_rest.empty()) return;
  std::unordered_map<std::string, std::size_t> place;
  const std::vector<FeatureShift>& all = diagnosis.against_rest.front().features;
  for (std::size_t j = 0; j < all.size(); ++j) place.emplace(all[j].feature, j);
  for (const Comparison& one : diagnosis.against_rest) {
    table.domains.push_back(one.a);
    table.smd.emplace_back();
    for (const std::string& feature : table.features) table.smd.back().push_back(one.features[place.at(feature)].smd);
  }
}

}  // namespace ecotone
