#include "cli/ranks.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

#include "cli/session.h"
#include "ecotone/base/blocks.h"
#include "ecotone/base/digest.h"
#include "ecotone/base/error.h"
#include "ecotone/linalg/blas.h"

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

/// A launcher that is not of this MPI starts processes that do not know of each other.
std::unique_ptr<Communicator> checked(std::unique_ptr<Communicator> made, int ranks) {
  if (made->size() == ranks) return made;
  option_error("no_mpi",
               "the launcher has started {} processes, but MPI sees {}, and each would do the whole work: use the "
               "launcher of the MPI that ecotone was built with (of Slurm: srun --mpi=pmix)",
               ranks, made->size());
}

std::unique_ptr<Communicator> load(int ranks) {
  std::string why = "this ecotone was built without it";
  for (const std::filesystem::path& place : places()) {
    if (!std::filesystem::exists(place)) continue;
    void* module = dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL);
    using Make = Communicator* (*)();
    const auto make = module ? reinterpret_cast<Make>(dlsym(module, "ecotone_communicator")) : nullptr;
    if (make) return checked(std::unique_ptr<Communicator>(make()), ranks);
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

void require_files_for_ranks(const std::vector<std::filesystem::path>& files, const Context& context) {
  if (context.ranks().size() == 1) return;
  for (const std::filesystem::path& file : files)
    if (std::filesystem::exists(file) && !std::filesystem::is_regular_file(file) &&
        !std::filesystem::is_directory(file))
      data_error("not_a_file", "{}: every rank reads the data itself, so they must be a file, not a pipe",
                 file.string());
}

void require_same_data(const Dataset& data, const Context& context) {
  Ranks& ranks = context.ranks();
  if (ranks.size() == 1) return;
  Digest digest;
  digest.add(blas_state().kernels).add(data.rows()).add(data.x.names()).add(data.domain.names);
  digest.add(std::span<const std::int32_t>(data.domain.index));
  if (data.y) {
    digest.add(data.y->classes).add(std::span<const std::int32_t>(data.y->index));
    digest.add(std::span<const double>(data.y->value.data(), at(data.y->value.size())));
  }
  digest.add(std::span<const double>(data.weight.data(), at(data.weight.size())));
  // Features by their first and last block: all would be read by every rank.
  for (const Index b : {Index{0}, data.x.blocks() - 1}) {
    if (b < 0) continue;
    Scratch scratch;
    const Matrix x = data.x.block(b, scratch).x;
    digest.add(std::span<const double>(x.data(), at(x.size())));
  }
  const auto& words = digest.words();
  const RankTexts all = ranks.gather_shares("data", 0, {reinterpret_cast<const char*>(words.data()), sizeof(words)});
  for (std::size_t rank = 1; rank < all.size(); ++rank)
    if (all[rank] != all[0])
      data_error("ranks_differ",
                 "ranks 0 and {} have read different data, or compute with different kernels (see ecotone doctor)",
                 rank);
}

bool goes_on_to_write(Session& session) {
  Ranks& ranks = session.context().ranks();
  ranks.meet("done");
  if (!session.leads()) return false;
  session.go_on_alone();
  return true;
}

void leave_ranks() {
  if (!communicator) return;
  Ranks(communicator.get()).meet("end");
  communicator.reset();
}

void end_ranks(int status) {
  if (communicator) communicator->end_all(status);
}

Error error_of_rank(const Error& error) {
  if (!communicator) return error;
  // What is wrong for all ranks is said by the first, which then ends the others; of several others one speaks first,
  // after at most five seconds.
  const int rank = communicator->rank();
  if (rank > 0) std::this_thread::sleep_for(std::chrono::milliseconds(3000 + 2000 * rank / communicator->size()));
  return {error.kind(), error.code(), fmt::format("rank {} of {}: {}", rank, communicator->size(), error.what())};
}

}  // namespace ecotone::cli
