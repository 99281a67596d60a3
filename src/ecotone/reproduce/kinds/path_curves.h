#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/base/digest.h"
#include "ecotone/data/features.h"
#include "ecotone/solve/paths/greedy.h"

/// Parts of kind `paths`: images, their features, and what paths over them do in a domain that they were not given.
namespace ecotone {

/// Images of known classes.
struct Images {
  Features x;
  std::vector<std::string> classes;
  std::vector<std::int32_t> label;  ///< class of each row

  std::vector<Index> rows_of(Index of_class) const;
};

/// Training and test images of one public set.
struct ImageSet {
  Images train, test;
};

/// The sets that can be read: mnist and cifar10.
const std::vector<std::string>& image_sets();
/// The first `per_class` images of each class of both parts, or all there are.
ImageSet read_images(const std::string& set, Index per_class, const std::filesystem::path& folder,
                     const Context& context);
/// The features that stages fitted on the training images, without their labels, make of both parts.
ImageSet represented(const ImageSet& images, const std::string& stages, const Context& context);
Digest digest_of(const ImageSet& images, const Context& context);

/// How features are centred: not at all; at the mean of the source domains, with an offset in the model; or, as a guard
/// only, at the mean of all classes, the held-out one included, without an offset.
enum class PathCentring { none, source, leak };

/// One path and one class that it was not given.
struct PathCurve {
  std::vector<double> source, target;  ///< AUROC after each step: mean over source domains, and in the held-out one
  std::vector<double> t;               ///< of the feature of each step
  /// Shares of the first 25 steps: the step moves the weight in the direction that the held-out domain asks for; the
  /// step lowers the loss there. NaN where the held-out domain's moments are not known.
  double agree = 0, lower = 0;
};

template <class Archive>
void archive(Archive& with, PathCurve& curve) {
  with(curve.source, curve.target, curve.t, curve.agree, curve.lower);
}

/// One class against each of the others, which are the domains; each is held out in turn. The paths of one rule, by the
/// class held out, in the order of the classes without the positive one.
std::vector<PathCurve> one_against_each(const ImageSet& images, Index positive, PathRule rule, PathCentring centring,
                                        Index steps, const Context& context);

/// Similarity of pairs: every class is a domain and is held out in turn; training pairs have no image of it. For every
/// rule the paths by the class held out.
std::vector<std::vector<PathCurve>> similarity(const ImageSet& images, const std::vector<PathRule>& rules,
                                               PathCentring centring, Index pairs, Index steps, const Context& context);

}  // namespace ecotone
