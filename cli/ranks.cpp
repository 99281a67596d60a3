#include "cli/ranks.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

#include "ecotone/base/blocks.h"
#include "ecotone/base/error.h"

namespace ecotone::cli {
namespace {

/// Not freed before the program ends, and then only if all ranks do.
std::unique_ptr<Communicator> communicator;

/// How many processes the launcher has started, by what it says in the environment; 1: none did.
int started_ranks() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"})
    if (const char* text = std::getenv(name)) return std::max(1, std::atoi(text));
  return 1;
}

/// Where the module may lie: beside the program in the build, or where both were installed.
std::vector<std::filesystem::path> places() {
  std::vector<std::filesystem::path> found;
  if (const char* given = std::getenv("ECOTONE_MPI_MODULE")) found.emplace_back(given);
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  found.push_back(folder / "../mpi/ecotone_mpi.so");
  found.push_back(folder / ECOTONE_MODULES_FROM_PROGRAM / "ecotone_mpi.so");
  return found;
}

std::unique_ptr<Communicator> load(int ranks) {
  std::string why = "this ecotone was built without it";
  for (const std::filesystem::path& place : places()) {
    if (!std::filesystem::exists(place)) continue;
    void* module = dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL);
    using Make = Communicator* (*)();
    const auto make = module ? reinterpret_cast<Make>(dlsym(module, "ecotone_communicator")) : nullptr;
    if (make) return std::unique_ptr<Communicator>(make());
    why = dlerror();
  }
  option_error("no_mpi",
               "this is one of {} processes, and without MPI each would do the whole work: {}; install libopenmpi-dev "
               "and build again",
               ranks, why);
}

}  // namespace

Communicator* ranks_of_run() {
  if (communicator) return communicator.get();
  const int ranks = started_ranks();
  if (ranks > 1) communicator = load(ranks);
  return communicator.get();
}

void refuse_ranks(std::string_view verb) {
  if (communicator && verb != "fit" && verb != "evaluate")
    option_error("not_for_ranks", "{}: only fit and evaluate share their work among ranks; run it alone", verb);
}

void require_rows_for_ranks(const Dataset& data, const Context& context) {
  const Index shares = sum_groups(data.x.blocks());
  const int ranks = context.ranks().size();
  if (ranks == 1 || shares >= ranks) return;
  // The first with an empty share.
  int rank = 0;
  while (groups_of_rank(shares, rank, ranks).first < groups_of_rank(shares, rank, ranks).last) ++rank;
  data_error("rank_without_rows", "rank {} has no rows: {} rows are {} shares of {} rows; start at most {} ranks", rank,
             data.rows(), shares, data.x.block_rows(), shares);
}

void leave_ranks() {
  if (!communicator) return;
  Ranks(communicator.get()).gather("end", 0, {});
  communicator.reset();
}

void end_ranks(int status) {
  if (communicator) communicator->end_all(status);
}

Error error_of_rank(const Error& error) {
  if (!communicator) return error;
  // What is wrong for all ranks is said by the first, which then ends the others.
  if (communicator->rank() > 0) std::this_thread::sleep_for(std::chrono::seconds(3));
  return {error.kind(), error.code(),
          fmt::format("rank {} of {}: {}", communicator->rank(), communicator->size(), error.what())};
}

}  // namespace ecotone::cli
