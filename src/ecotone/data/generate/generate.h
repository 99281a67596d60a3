#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/base/options.h"
#include "ecotone/data/dataset.h"

namespace ecotone {

/// A synthetic data set: its name, description and options, and the function that draws it.
struct Generator {
  std::string name;
  std::string summary;
  std::string citation;
  std::vector<OptionInfo> options;
  Dataset (*draw)(const OptionValues& values, const Context& context);
};

/// All generators: moons, wishart, logistic, clinics, and the problems misspecified, strong, noshift, separable10,
/// noisy10, hidden_blob, three_classes, synthetic_domains, target_shift, exchangeable.
const std::vector<Generator>& generators();
/// A generator by name. Option error `unknown_generator`, with a suggestion.
const Generator& generator(std::string_view name);
/// Draws with the options given as text.
Dataset generate(std::string_view name, const OptionTexts& options, const Context& context);

}  // namespace ecotone
