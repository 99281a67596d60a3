#pragma once

#include "ecotone/base/tensor_file.h"
#include "ecotone/data/dataset.h"
#include "ecotone/data/formats/read_options.h"

namespace ecotone {

/// A data set from a mapped `.eco` file; dense features stay in the file. Roles given in the options must agree with
/// the file.
Dataset read_eco(const TensorFile& file, const ReadOptions& options, const Context& context);

/// The features of a data set with names, matched to the schema of a model: levels that the data lack are zeros, levels
/// that the model does not know are counted in the warning `unseen_category`.
Dataset match_by_name(Dataset data, const Schema& schema, const std::string& origin, const Context& context);

}  // namespace ecotone
