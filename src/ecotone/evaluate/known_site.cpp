#include "ecotone/evaluate/known_site.h"

#include <algorithm>

#include "ecotone/base/error.h"
#include "ecotone/evaluate/score.h"

namespace ecotone {
namespace {

/// The scores of one pipeline at known sites, in the order of its scores at new ones.
KnownSite known_site_of(const PipelineScore& fresh, const PipelineScore& known,
                        const std::vector<std::string>& metrics) {
  KnownSite site;
  for (const DomainScore& domain : fresh.domains) {
    const auto same = std::ranges::find(known.domains, domain.domain, &DomainScore::domain);
    if (same == known.domains.end()) internal_error("k-fold has no domain '{}'", domain.domain);
    site.domains.push_back(*same);
  }
  for (const std::string& name : metrics) {
    std::vector<double> values;
    for (const DomainScore& domain : site.domains)
      if (const auto value = value_of(domain.metrics, name)) values.push_back(*value);
    site.mean.emplace_back(name, mean_of(values));
    site.cost.emplace_back(name, t_interval(paired_differences(fresh.domains, site.domains, name)));
  }
  return site;
}

}  // namespace

void add_known_site(Evaluation& evaluation, const Evaluation& k_fold) {
  for (PipelineScore& fresh : evaluation.pipelines) {
    const auto same = std::ranges::find(k_fold.pipelines, fresh.pipeline, &PipelineScore::pipeline);
    if (!fresh.error && same != k_fold.pipelines.end() && !same->error)
      fresh.known = known_site_of(fresh, *same, evaluation.metrics);
  }
}

bool has_known_site(const PipelineGrid& grid) {
  return std::ranges::none_of(grid.points, [](const Pipeline& point) {
    return std::ranges::any_of(point.stages(), [](const Stage& stage) { return stage.method->adapts(); });
  });
}

bool scores_new_domains(Protocol protocol) { return protocol != Protocol::k_fold && protocol != Protocol::forward; }

}  // namespace ecotone
