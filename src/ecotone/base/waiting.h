#pragma once

namespace ecotone {

class CancelFlag;

/// Lets waits for the reader of a pipe end with the `cancelled` error once the flag is requested (null: never). A
/// process-wide setting: programs call it once, the library never does.
void stop_waiting_when(const CancelFlag* requested);

}  // namespace ecotone
