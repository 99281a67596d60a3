#include "cli/ranks.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cli/command_text.h"
#include "cli/session.h"
#include "ecotone/base/blocks.h"
#include "ecotone/base/digest.h"
#include "ecotone/base/error.h"
#include "ecotone/data/dataset_digest.h"
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

/// The beginning of a long text.
std::string cut(std::string_view text) {
  constexpr std::size_t most = 300;
  return text.size() <= most ? std::string(text) : std::string(text.substr(0, most)) + "...";
}

[[noreturn]] void refuse_other_data(std::size_t one, std::size_t other) {
  data_error("ranks_differ",
             "ranks {} and {} have read different data, or compute with different kernels (see ecotone doctor)", one,
             other);
}

/// Of every share of the rows, the hash that a rank has made of it; empty where it has not looked.
using ShareHashes = std::vector<std::string_view>;

ShareHashes hashes_of(std::string_view text, std::size_t first, std::size_t looked, std::size_t ranks) {
  ShareHashes hashes(ranks);
  const std::size_t length = text.size() / looked;
  for (std::size_t k = 0; k < looked; ++k) hashes[(first + k) % ranks] = text.substr(k * length, length);
  return hashes;
}

/// Every rank hashes some shares of the blocks, from its own on: with `own_rows` that and the next, or else all.
void require_same_features(const Features& x, bool own_rows, const Context& context) {
  Ranks& ranks = context.ranks();
  const auto size = static_cast<std::size_t>(ranks.size()), looked = own_rows ? std::min<std::size_t>(2, size) : size;
  std::string mine;
  for (std::size_t k = 0; k < looked; ++k) {
    const Share share = blocks_of_rank(x.blocks(), (ranks.rank() + static_cast<int>(k)) % ranks.size(), ranks.size());
    const auto words = digest_of_blocks(x, share.first, share.last, context).words();
    mine.append(reinterpret_cast<const char*>(words.data()), sizeof(words));
  }
  const RankTexts all = ranks.gather_shares("features", static_cast<std::uint64_t>(x.blocks()), mine);
  for (std::size_t rank = 0; rank < size; ++rank) {
    const std::size_t before = (rank + size - 1) % size;
    const ShareHashes own = hashes_of(all[rank], rank, looked, size),
                      left = hashes_of(all[before], before, looked, size);
    for (std::size_t share = 0; share < size; ++share)
      if (!own[share].empty() && !left[share].empty() && own[share] != left[share])
        refuse_other_data(std::min(before, rank), std::max(before, rank));
  }
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

void require_same_command(const std::vector<std::filesystem::path>& files, Session& session) {
  Ranks& ranks = session.context().ranks();
  if (ranks.size() == 1) return;
  const std::string mine = shared_command_text(session.words(), {files.begin(), files.end()});
  const RankTexts all = ranks.gather_shares("command", 0, mine);
  for (std::size_t rank = 1; rank < all.size(); ++rank)
    if (all[rank] != all[0])
      option_error("ranks_differ",
                   "rank {} was started with another command than rank 0: '{}', not '{}'; start all alike", rank,
                   cut(all[rank]), cut(all[0]));
}

void require_same_data(const Dataset& data, bool own_rows, const Context& context) {
  Ranks& ranks = context.ranks();
  if (ranks.size() == 1) return;
  const auto words = digest_beside_features(data).add(blas_state().kernels).words();
  const RankTexts all = ranks.gather_shares("data", 0, {reinterpret_cast<const char*>(words.data()), sizeof(words)});
  for (std::size_t rank = 1; rank < all.size(); ++rank)
    if (all[rank] != all[0]) refuse_other_data(0, rank);
  require_same_features(data.x, own_rows, context);
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
