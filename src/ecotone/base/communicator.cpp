#include "ecotone/base/communicator.h"

#include <algorithm>
#include <cstring>

#include "ecotone/base/digest.h"
#include "ecotone/base/error.h"

namespace ecotone {
namespace {

std::uint64_t hash_of(const std::string& place) { return Digest().add(place).words()[0]; }

}  // namespace

Communicator::Said GatheringCommunicator::gather_at(std::uint64_t place, std::string_view mine) {
  std::string text(reinterpret_cast<const char*>(&place), sizeof(place));
  text += mine;
  Said said;
  for (const std::string& theirs : gather(text)) {
    std::uint64_t where = 0;
    std::memcpy(&where, theirs.data(), sizeof(where));
    said.places.push_back(where);
    said.texts.bytes.append(theirs, sizeof(where));
    said.texts.end.push_back(said.texts.bytes.size());
  }
  return said;
}

std::vector<std::uint64_t> GatheringCommunicator::share_at(std::uint64_t place, std::span<char> all,
                                                           std::span<const std::size_t> end) {
  const std::size_t begin = rank() == 0 ? 0 : end[static_cast<std::size_t>(rank()) - 1];
  const std::size_t count = end[static_cast<std::size_t>(rank())] - begin;
  const Said said = gather_at(place, {all.data() + begin, count});
  const bool same = std::ranges::count(said.places, place) == size() && std::ranges::equal(said.texts.end, end);
  if (same && !all.empty()) std::memcpy(all.data(), said.texts.bytes.data(), all.size());
  return said.places;
}

std::string Ranks::place(std::string_view what, std::uint64_t number) const {
  return fmt::format("{} {} {}", traffic_.messages, what, number);
}

void Ranks::require_same(const std::vector<std::uint64_t>& places, const std::string& place) {
  ++traffic_.messages;
  if (std::ranges::count(places, hash_of(place)) == size()) return;
  // All ranks have seen that, so all come here.
  const RankTexts texts = communicator_->gather_at(0, place).texts;
  for (std::size_t r = 0; r < texts.size(); ++r)
    if (texts[r] != place)
      internal_error("rank {} is at '{}' and rank {} at '{}'", rank(), place, r, texts[r].substr(0, 100));
}

RankTexts Ranks::gather(const std::string& place, std::string_view mine) {
  Communicator::Said said = communicator_->gather_at(hash_of(place), mine);
  require_same(said.places, place);
  return std::move(said.texts);
}

RankTexts Ranks::gather_sums(std::string_view what, std::uint64_t number, std::string_view mine) {
  if (size() == 1) return {std::string(mine), {mine.size()}};
  traffic_.sums += mine.size();
  return gather(place(what, number), mine);
}

RankTexts Ranks::gather_shares(std::string_view what, std::uint64_t number, std::string_view mine) {
  if (size() == 1) return {std::string(mine), {mine.size()}};
  traffic_.shares += mine.size();
  return gather(place(what, number), mine);
}

void Ranks::share(std::string_view what, std::uint64_t number, std::span<char> all, std::span<const std::size_t> end) {
  if (size() == 1) return;
  const auto own = static_cast<std::size_t>(rank());
  traffic_.shares += end[own] - (own == 0 ? 0 : end[own - 1]);
  const std::string here = place(what, number);
  require_same(communicator_->share_at(hash_of(here), all, end), here);
}

void Ranks::sum(std::string_view what, std::span<std::int64_t> numbers) {
  if (size() == 1) return;
  gather(place(what, numbers.size()), {});
  traffic_.added += numbers.size_bytes();
  communicator_->sum(numbers);
}

void Ranks::meet(std::string_view what) {
  if (size() > 1) gather(place(what, 0), {});
}

bool Ranks::agree(std::string_view what, bool mine) {
  if (size() == 1) return mine;
  const RankTexts texts = gather(place(what, 0), mine ? "1" : "0");
  return texts.bytes.find('0') == std::string::npos;
}

}  // namespace ecotone
