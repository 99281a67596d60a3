#pragma once

#include "ecotone/base/context.h"
#include "ecotone/data/dataset.h"
#include "ecotone/methods/pipeline.h"

/// Columns of text before the first stage of a pipeline: codes for a method that takes categories, whichever form the
/// data have, so that both forms give the same model.
namespace ecotone {

/// How many columns the first stage sees.
Index first_stage_cols(const Pipeline& pipeline, const Schema& schema);

/// Data error `coded_columns` if the data have codes and the first stage would take them for numbers.
void require_form(const Pipeline& pipeline, const Schema& schema);

/// The view as the first stage sees it, with `categories` set. Data error `bad_category` for a value that is no code.
TrainView first_stage_view(const Pipeline& pipeline, const Schema& schema, TrainView view, const Context& context);
/// The same for new rows.
Batch first_stage_batch(const Pipeline& pipeline, const Schema& schema, Batch batch, const Context& context);

}  // namespace ecotone
