#pragma once

#include <string>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/methods/method.h"

namespace ecotone {

/// Warns (`one_class_domain`) if all rows of a new domain get one class from a learner that also looks at the domain's
/// sample: a domain unlike all training domains is far from every training row. Domains of fewer than 10 rows and those
/// in `known` are not looked at.
void warn_of_one_class_domains(const std::string& who, const Batch& batch, const Prediction& prediction,
                               const std::vector<std::string>& classes, const std::vector<std::string>& known,
                               const Context& context);

}  // namespace ecotone
