#include "cli/label.h"
#include "ecotone/base/error.h"
namespace ecotone::cli {
void simulate_labels(const LabelFlags&, const Dataset&, const Pipeline&, Session&) { internal_error("not yet"); }
}  // namespace ecotone::cli
