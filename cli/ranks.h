#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "ecotone/base/communicator.h"
#include "ecotone/base/error.h"
#include "ecotone/data/dataset.h"

namespace ecotone::cli {

/// The other processes of this run, where a launcher has started several (mpirun, srun); null: this process is alone.
/// The module for MPI is loaded at the first call; option error `no_mpi` if it is not there.
Communicator* ranks_of_run();

/// Option error `not_for_ranks` if there are several ranks and the verb does not share its work.
void refuse_ranks(std::string_view verb);

/// Says that this rank has finished: a run whose ranks end at different places has failed.
void leave_ranks();

/// After an error that a rank has reported: ends all ranks. Does not return where there are several.
void end_ranks(int status);

/// Data error `rank_without_rows` if a rank would have no rows to work on; names it.
void require_rows_for_ranks(const Dataset& data, const Context& context);

/// Data error `not_a_file` if there are several ranks and data come through a pipe, which only one could read.
void require_files_for_ranks(const std::vector<std::filesystem::path>& files, const Context& context);

class Session;
/// Option error `ranks_differ` if a rank was started with another command: another verb, pipeline, seed or option. The
/// names of files may differ.
void require_same_command(const std::vector<std::filesystem::path>& files, Session& session);

/// Data error `ranks_differ` if labels, domains or rows are not those of all ranks, or if ranks compute with different
/// kernels: each would learn something else. With `own_rows` each rank reads its own share of the rows and that of the
/// next, so that two ranks have looked at every block; otherwise all rows.
void require_same_data(const Dataset& data, bool own_rows, const Context& context);

/// Waits until all ranks have come so far; then the first goes on alone, to write the results, and gets true.
bool goes_on_to_write(Session& session);

/// The error with the number of the rank in front, where there are several. Ranks that all have the same error wait for
/// the first to report it.
Error error_of_rank(const Error& error);

}  // namespace ecotone::cli
