#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "ecotone/base/communicator.h"

/// Ranks that MPI has started. Errors of MPI end all ranks, with its own message.
namespace {

class MpiCommunicator final : public ecotone::Communicator {
 public:
  MpiCommunicator() {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  ~MpiCommunicator() override { MPI_Finalize(); }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void sum(std::span<double> numbers) override {
    // MPI does not promise an order of its own sums.
    const std::string mine(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes());
    const std::vector<std::string> all = gather(mine);
    std::fill(numbers.begin(), numbers.end(), 0.0);
    for (const std::string& text : all) {
      const auto* theirs = reinterpret_cast<const double*>(text.data());
      for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] += theirs[i];
    }
  }

  void sum(std::span<std::int64_t> numbers) override {
    for (std::size_t first = 0; first < numbers.size(); first += most) {
      const std::span<std::int64_t> some = numbers.subspan(first, std::min(most, numbers.size() - first));
      MPI_Allreduce(MPI_IN_PLACE, some.data(), static_cast<int>(some.size()), MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    }
  }

  void broadcast(std::string& text, int from) override {
    std::uint64_t size = text.size();
    MPI_Bcast(&size, 1, MPI_UINT64_T, from, MPI_COMM_WORLD);
    text.resize(size);
    for (std::size_t first = 0; first < text.size(); first += most)
      MPI_Bcast(text.data() + first, static_cast<int>(std::min(most, text.size() - first)), MPI_CHAR, from,
                MPI_COMM_WORLD);
  }

  std::vector<std::string> gather(std::string_view mine) override {
    const std::uint64_t own = mine.size();
    std::vector<std::uint64_t> sizes(static_cast<std::size_t>(size_));
    MPI_Allgather(&own, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
    std::vector<std::string> all(sizes.size());
    const std::uint64_t total = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
    if (total <= most) {
      std::vector<int> count(sizes.begin(), sizes.end()), start(sizes.size(), 0);
      std::partial_sum(count.begin(), count.end() - 1, start.begin() + 1);
      std::string text(total, '\0');
      MPI_Allgatherv(mine.data(), static_cast<int>(own), MPI_CHAR, text.data(), count.data(), start.data(), MPI_CHAR,
                     MPI_COMM_WORLD);
      for (std::size_t r = 0; r < all.size(); ++r) all[r] = text.substr(static_cast<std::size_t>(start[r]), sizes[r]);
      return all;
    }
    // Counts of MPI are int: what is longer goes from one rank after the other.
    all[static_cast<std::size_t>(rank_)] = mine;
    for (int r = 0; r < size_; ++r) broadcast(all[static_cast<std::size_t>(r)], r);
    return all;
  }

  void end_all(int status) override { MPI_Abort(MPI_COMM_WORLD, status); }

 private:
  static constexpr std::size_t most = 1 << 30;  // of one message
  int rank_ = 0, size_ = 1;
};

}  // namespace

extern "C" ecotone::Communicator* ecotone_communicator() { return std::make_unique<MpiCommunicator>().release(); }
