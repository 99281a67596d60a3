#include "ecotone/methods/domain_samples.h"

#include <cmath>

#include "ecotone/base/error.h"

namespace ecotone {

SampleDistance sample_distance(const MomentPrior& prior, ConstVectorView mean, ConstVectorView deviation) {
  double moved = 0, spread = 0, count = 0;
  for (Index j = 0; j < prior.cols(); ++j) {
    const double shared = std::sqrt(prior.variance[j]);
    if (!(shared > 0)) continue;
    moved += std::abs(mean[j] - prior.mean[j]) / shared;
    spread += deviation[j] / shared;
    count += 1;
  }
  if (count == 0) return {};
  return {moved / count, spread / count};
}

std::vector<SampleDistance> sample_distances(const MomentPrior& prior, const std::vector<GroupMoments>& groups,
                                             const Shrinkage& shrinkage) {
  std::vector<SampleDistance> found;
  for (const GroupMoments& each : groups)
    found.push_back(sample_distance(prior, shrunk_mean(prior, each, shrinkage.mean),
                                    shrunk_deviation(prior, each, shrinkage.deviation)));
  return found;
}

void save_samples(const std::vector<std::string>& names, const Vector& rows,
                  const std::vector<SampleDistance>& distances, StageState& state) {
  Json samples = Json::array();
  for (std::size_t e = 0; e < names.size(); ++e)
    samples.push_back({{"domain", names[e]},
                       {"rows", rows[static_cast<Index>(e)]},
                       {"moved", distances[e].moved},
                       {"spread", distances[e].spread}});
  state.info["samples"] = std::move(samples);
}

std::vector<SampleDistance> load_samples(const StageState& state, Index count) {
  const auto list = state.info.find("samples");
  if (list == state.info.end() || !list->is_array() || std::ssize(*list) != count)
    file_error("bad_model", "'samples' must be a list of {} domains", count);
  std::vector<SampleDistance> found;
  for (const Json& item : *list) {
    if (!item.is_object()) file_error("bad_model", "'samples' must be a list of objects");
    StageState one;
    one.info = item;
    found.push_back({one.number("moved"), one.number("spread")});
  }
  return found;
}

}  // namespace ecotone
