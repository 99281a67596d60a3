#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ecotone/evaluate/evaluate.h"

namespace ecotone {

/// Beside every pipeline's scores on domains it does not know: what it scores on new rows of domains that it does know,
/// from a k-fold evaluation of the same pipelines on the same data, and the difference, paired over domains. Pipelines
/// that the k-fold evaluation lacks, or could not fit, have none.
void add_known_site(Evaluation& evaluation, const Evaluation& k_fold);

/// Whether a pipeline can be scored at known sites: one that adapts needs a target, and k-fold has none.
bool has_known_site(const PipelineGrid& grid);

/// Whether a protocol scores domains as new ones, so that the comparison says what a new domain costs.
bool scores_new_domains(Protocol protocol);

}  // namespace ecotone
