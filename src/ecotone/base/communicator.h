#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ecotone {

/// The processes that share one computation, its ranks, which run the same program on the same data: each does a share
/// of the work over rows and receives the rest. All ranks make the same calls in the same order, from one thread each.
/// The program that starts them says who they are (MPI, for one).
class Communicator {
 public:
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
  /// Ends all ranks, with this exit status.
  virtual void end_all(int status) = 0;
};

/// What ranks have sent so far: for tables of cost.
struct Traffic {
  std::uint64_t messages = 0;  ///< calls of all ranks together, each counted once
  std::uint64_t bytes = 0;     ///< given by this rank
};

/// Calls of a communicator that make sure that all ranks are at the same place of the same computation.
class Ranks {
 public:
  /// `communicator` is not owned; null: one rank.
  explicit Ranks(Communicator* communicator) : communicator_(communicator) {}

  int rank() const { return communicator_ ? communicator_->rank() : 0; }
  int size() const { return communicator_ ? communicator_->size() : 1; }
  const Traffic& traffic() const { return traffic_; }

  /// The texts of all ranks. `what` and `number` must be the same on all; internal error `ranks_differ` otherwise.
  std::vector<std::string> gather(std::string_view what, std::uint64_t number, std::string_view mine);
  /// The same for sums of integers.
  void sum(std::string_view what, std::span<std::int64_t> numbers);

 private:
  Communicator* communicator_;
  Traffic traffic_;
};

}  // namespace ecotone
