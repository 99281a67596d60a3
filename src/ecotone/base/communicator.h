#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ecotone {

/// A text of every rank, next to each other in their order.
struct RankTexts {
  std::string bytes;
  std::vector<std::size_t> end;  ///< where the text of each ends

  std::size_t size() const { return end.size(); }
  std::string_view operator[](std::size_t rank) const {
    const std::size_t begin = rank == 0 ? 0 : end[rank - 1];
    return std::string_view(bytes).substr(begin, end[rank] - begin);
  }
};

/// The processes that share one computation, its ranks, which run the same program on the same data: each does a share
/// of the work over rows and receives the rest. All ranks make the same calls in the same order, from one thread each.
/// The program that starts them says who they are (MPI, for one).
class Communicator {
 public:
  /// What all ranks said, and the number of the place where each said it.
  struct Said {
    std::vector<std::uint64_t> places;
    RankTexts texts;
  };

  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Replaces each number by its sum over all ranks, added in the order of ranks.
  virtual void sum(std::span<double> numbers) = 0;
  virtual void sum(std::span<std::int64_t> numbers) = 0;
  /// Replaces the text by that of one rank.
  virtual void broadcast(std::string& text, int from) = 0;
  /// The texts of all ranks, in their order.
  virtual std::vector<std::string> gather(std::string_view mine) = 0;
  /// The texts and places of all ranks.
  virtual Said gather_at(std::uint64_t place, std::string_view mine) = 0;
  /// Fills in what other ranks have: bytes [end[r - 1], end[r]) are those of rank r. Returns the places of all ranks;
  /// if one is not that of this rank, nothing is filled in.
  virtual std::vector<std::uint64_t> share_at(std::uint64_t place, std::span<char> all,
                                              std::span<const std::size_t> end) = 0;
  /// Ends all ranks, with this exit status.
  virtual void end_all(int status) = 0;
};

/// Ranks that gather texts, and do the rest through that. Not a default of Communicator: a module that is loaded must
/// find nothing of it in the program.
class GatheringCommunicator : public Communicator {
 public:
  Said gather_at(std::uint64_t place, std::string_view mine) override;
  std::vector<std::uint64_t> share_at(std::uint64_t place, std::span<char> all,
                                      std::span<const std::size_t> end) override;
};

/// What ranks have sent so far: for tables of cost. Bytes are those given by this rank.
struct Traffic {
  std::uint64_t messages = 0;  ///< calls of all ranks together, each counted once
  std::uint64_t sums = 0;      ///< bytes of sums that every rank receives from every other and adds itself
  std::uint64_t added = 0;     ///< bytes of sums of integers, which are added on their way
  std::uint64_t shares = 0;    ///< bytes of what all ranks have together, such as a number per row

  std::uint64_t bytes() const { return sums + added + shares; }
};

/// Calls of a communicator that make sure that all ranks are at the same place of the same computation. `what` and
/// `number` must be the same on all; internal error `ranks_differ` otherwise.
class Ranks {
 public:
  /// `communicator` is not owned; null: one rank.
  explicit Ranks(Communicator* communicator) : communicator_(communicator) {}

  int rank() const { return communicator_ ? communicator_->rank() : 0; }
  int size() const { return communicator_ ? communicator_->size() : 1; }
  const Traffic& traffic() const { return traffic_; }

  /// The sums of all ranks, as texts.
  RankTexts gather_sums(std::string_view what, std::uint64_t number, std::string_view mine);
  /// The texts of all ranks, each a share of what there is.
  RankTexts gather_shares(std::string_view what, std::uint64_t number, std::string_view mine);
  /// Fills in what other ranks have: bytes [end[r - 1], end[r]) are those of rank r.
  void share(std::string_view what, std::uint64_t number, std::span<char> all, std::span<const std::size_t> end);
  /// Replaces each number by its sum over all ranks.
  void sum(std::string_view what, std::span<std::int64_t> numbers);
  /// Waits until all ranks have come to this place.
  void meet(std::string_view what);
  /// Whether something holds for all ranks, such as that there is enough memory.
  bool agree(std::string_view what, bool mine);

 private:
  std::string place(std::string_view what, std::uint64_t number) const;
  RankTexts gather(const std::string& place, std::string_view mine);
  void require_same(const std::vector<std::uint64_t>& places, const std::string& place);

  Communicator* communicator_;
  Traffic traffic_;
};

}  // namespace ecotone
