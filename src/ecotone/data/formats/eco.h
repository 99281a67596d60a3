#pragma once

#include "ecotone/base/files/tensor_file.h"
#include "ecotone/data/dataset.h"
#include "ecotone/data/formats/read_options.h"

namespace ecotone {

/// A data set from a mapped `.eco` file; dense features stay in the file. Roles given in the options must agree with
/// the file. Categories take the form that the options want, whichever the file has.
Dataset read_eco(const TensorFile& file, const ReadOptions& options, const Context& context);

}  // namespace ecotone
