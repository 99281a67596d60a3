#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
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
    broadcast(text.data(), text.size(), from);
  }

  std::vector<std::string> gather(std::string_view mine) override {
    const ecotone::RankTexts texts = gather_at(0, mine).texts;
    std::vector<std::string> all;
    for (std::size_t r = 0; r < texts.size(); ++r) all.emplace_back(texts[r]);
    return all;
  }

  Said gather_at(std::uint64_t place, std::string_view mine) override {
    // One call says where each rank is and how long its text is, and sends texts that are short.
    const std::size_t short_text = std::clamp<std::size_t>((1 << 16) / ranks(), 64, 1024);
    std::string first(sizeof(Header) + short_text, '\0');
    const Header own{place, mine.size()};
    std::memcpy(first.data(), &own, sizeof(own));
    if (mine.size() <= short_text) mine.copy(first.data() + sizeof(own), mine.size());
    std::string firsts(ranks() * first.size(), '\0');
    const auto count = static_cast<int>(first.size());
    MPI_Allgather(first.data(), count, MPI_CHAR, firsts.data(), count, MPI_CHAR, MPI_COMM_WORLD);

    Said said;
    std::size_t longest = 0, total = 0;
    for (std::size_t r = 0; r < ranks(); ++r) {
      Header theirs;
      std::memcpy(&theirs, firsts.data() + r * first.size(), sizeof(theirs));
      said.places.push_back(theirs.place);
      said.texts.end.push_back(total += theirs.size);
      longest = std::max<std::size_t>(longest, theirs.size);
    }
    said.texts.bytes.resize(total);
    char* all = said.texts.bytes.data();
    for (std::size_t r = 0; r < ranks() && longest <= short_text; ++r)
      std::memcpy(all + begin_of(r, said.texts.end), firsts.data() + r * first.size() + sizeof(Header),
                  said.texts[r].size());
    if (longest > short_text) {
      mine.copy(all + begin_of(own_rank(), said.texts.end), mine.size());
      collect(all, said.texts.end);
    }
    return said;
  }

  std::vector<std::uint64_t> share_at(std::uint64_t place, std::span<char> all,
                                      std::span<const std::size_t> end) override {
    std::vector<std::uint64_t> places = gather_at(place, {}).places;
    if (std::count(places.begin(), places.end(), place) == size_) collect(all.data(), end);
    return places;
  }

  void end_all(int status) override { MPI_Abort(MPI_COMM_WORLD, status); }

 private:
  static constexpr std::size_t most = 1 << 30;  // of one message: counts of MPI are int

  struct Header {
    std::uint64_t place = 0, size = 0;
  };

  std::size_t ranks() const { return static_cast<std::size_t>(size_); }
  std::size_t own_rank() const { return static_cast<std::size_t>(rank_); }
  static std::size_t begin_of(std::size_t rank, std::span<const std::size_t> end) {
    return rank == 0 ? 0 : end[rank - 1];
  }

  void broadcast(char* bytes, std::size_t count, int from) {
    for (std::size_t first = 0; first < count; first += most)
      MPI_Bcast(bytes + first, static_cast<int>(std::min(most, count - first)), MPI_CHAR, from, MPI_COMM_WORLD);
  }

  /// Fills in the bytes [end[r - 1], end[r]) of every other rank r.
  void collect(char* all, std::span<const std::size_t> end) {
    if (end.back() > most) {
      for (std::size_t r = 0; r < ranks(); ++r)
        broadcast(all + begin_of(r, end), end[r] - begin_of(r, end), static_cast<int>(r));
      return;
    }
    std::vector<int> count, start;
    for (std::size_t r = 0; r < ranks(); ++r) {
      start.push_back(static_cast<int>(begin_of(r, end)));
      count.push_back(static_cast<int>(end[r] - begin_of(r, end)));
    }
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, count.data(), start.data(), MPI_CHAR, MPI_COMM_WORLD);
  }

  int rank_ = 0, size_ = 1;
};

}  // namespace

extern "C" ecotone::Communicator* ecotone_communicator() { return std::make_unique<MpiCommunicator>().release(); }
