#pragma once

#include "ecotone/reproduce/experiment.h"

namespace ecotone {

/// Kind `paths`: AUROC along greedy paths over features of images, in the source domains and in a class that was held
/// out, each in turn (foster2012).
///
///     "panels": [{"panel": NAME, "images": "mnist" | "cifar10", "class": CLASS}, ...], "stages": {IMAGES: PIPELINE},
///     "per_class": N, "pairs": N, "steps": N, "at": [STEP, ...], "rules": ["greedy", "T-greedy"],
///     "centring": ["none", "source", "leak"], "shown": [CLASS, ...]
///
/// A panel with a class tells it from each of the others, which are the domains; one without learns the similarity of
/// `pairs` pairs per class, and its domains are the classes. Rows are "PANEL, RULE, source" and "PANEL, RULE, target"
/// (with ", centred" or ", leaking" after the panel), columns the steps `at`, values AUROC as a mean over the classes
/// held out. With both rules there is "PANEL, gap of greedy minus gap of T-greedy", and with a class in the column
/// "path" what T-greedy's paths have over greedy's: the ratio of their median |T| in steps 2 to 50, and how much larger
/// the share of the first 25 steps is that the held-out class agrees with, or gains from. The stages see no labels, but
/// images of all classes. Charts are drawn of the means and of the classes `shown`.
ExperimentKind paths_kind();

}  // namespace ecotone
