#pragma once

#include <barrier>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "ecotone/base/communicator.h"

namespace ecotone {

/// Ranks that are threads of one process, for tests.
class RankThreads {
 public:
  explicit RankThreads(int size) : texts_(static_cast<std::size_t>(size)), meet_(size) {}

  /// Runs work(communicator) on every rank; rethrows the exception of the lowest. All ranks must make the same calls.
  void run(const std::function<void(Communicator&)>& work) {
    std::vector<std::exception_ptr> errors(texts_.size());
    std::vector<std::thread> ranks;
    for (std::size_t r = 0; r < texts_.size(); ++r)
      ranks.emplace_back([&, r] {
        Member member(*this, static_cast<int>(r));
        try {
          work(member);
        } catch (...) {
          errors[r] = std::current_exception();
          meet_.arrive_and_drop();
        }
      });
    for (std::thread& rank : ranks) rank.join();
    for (const std::exception_ptr& error : errors)
      if (error) std::rethrow_exception(error);
  }

 private:
  class Member final : public GatheringCommunicator {
   public:
    Member(RankThreads& all, int rank) : all_(all), rank_(rank) {}
    int rank() const override { return rank_; }
    int size() const override { return static_cast<int>(all_.texts_.size()); }
    void sum(std::span<double> numbers) override { add(numbers); }
    void sum(std::span<std::int64_t> numbers) override { add(numbers); }
    void broadcast(std::string& text, int from) override { text = gather(text)[static_cast<std::size_t>(from)]; }
    std::vector<std::string> gather(std::string_view mine) override {
      all_.texts_[static_cast<std::size_t>(rank_)] = mine;
      all_.meet_.arrive_and_wait();
      std::vector<std::string> found = all_.texts_;
      all_.meet_.arrive_and_wait();
      return found;
    }
    void end_all(int) override {}

   private:
    template <class Number>
    void add(std::span<Number> numbers) {
      const std::string mine(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes());
      const std::vector<std::string> all = gather(mine);
      std::fill(numbers.begin(), numbers.end(), Number{0});
      for (const std::string& text : all)
        for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] += reinterpret_cast<const Number*>(text.data())[i];
    }

    RankThreads& all_;
    int rank_;
  };

  std::vector<std::string> texts_;
  std::barrier<> meet_;
};

}  // namespace ecotone
