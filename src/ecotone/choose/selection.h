#pragma once

#include "ecotone/data/dataset.h"
#include "ecotone/methods/pipeline.h"
#include "ecotone/methods/select/feature_selection.h"
#include "ecotone/solve/moments/moments.h"

/// The choice of features, step by step.
namespace ecotone {

struct SelectOptions {
  bool held_out = true;  ///< also run the path without each domain in turn, which shows how it does there

  static constexpr auto fields() {
    return std::tuple{field("held_out", &SelectOptions::held_out,
                            "Skip the leave-one-domain-out runs that fill the held-out columns")};
  }
};

/// The methods that a pipeline for select_features may end in.
std::vector<std::string> selector_names();
/// Option error `not_a_selector` unless the pipeline ends in a selector.
void require_selector(const Pipeline& pipeline);

/// Runs the selector that ends the pipeline on what the stages before it make of the labelled rows. Warnings:
/// `domain_without_labels`, `pairs_held_out`, `below_chance`. Errors: `not_a_selector`, `no_labels`, those of the
/// stages.
FeatureSelection select_features(const Pipeline& pipeline, const Dataset& data, const SelectOptions& options,
                                 const Context& context);
/// The same on moments. Option error `needs_rows` where there are stages before the selector; `origin` names the file.
FeatureSelection select_features(const Pipeline& pipeline, const Moments& moments, const std::string& origin,
                                 const SelectOptions& options, const Context& context);

struct MomentsOptions {
  GramKind gram = GramKind::double_precision;

  static constexpr auto fields() {
    return std::tuple{field("gram", &MomentsOptions::gram,
                            "Precision of every domain's X'X: double, single, or none to leave it out",
                            shown_as("KIND", one_of("none", "double", "single")))};
  }
};

/// The moments of every source domain, from which select_features and others learn without the rows. Warnings and
/// errors of labelled_view.
Moments gather_moments(const Dataset& data, const MomentsOptions& options, const Context& context);

/// The training view of data that must have labels. Warns (`domain_without_labels`) about source domains that are left
/// out because none of their rows has a label. Data error `no_labels`.
TrainView labelled_view(const Dataset& data, std::string_view who, const Context& context);

}  // namespace ecotone
