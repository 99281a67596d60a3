#include "ecotone/base/communicator.h"

#include <algorithm>

#include "ecotone/base/error.h"

namespace ecotone {

std::vector<std::string> Ranks::gather(std::string_view what, std::uint64_t number, std::string_view mine) {
  if (size() == 1) return {std::string(mine)};
  // A line in front of each text says where its rank is.
  const std::string place = fmt::format("{} {} {}\n", traffic_.messages, what, number);
  std::vector<std::string> texts = communicator_->gather(place + std::string(mine));
  for (std::size_t r = 0; r < texts.size(); ++r) {
    if (!texts[r].starts_with(place))
      internal_error("rank {} is at '{}' and rank {} at '{}'", rank(), place.substr(0, place.size() - 1), r,
                     texts[r].substr(0, std::min<std::size_t>(texts[r].find('\n'), 100)));
    texts[r].erase(0, place.size());
  }
  ++traffic_.messages;
  traffic_.bytes += mine.size();
  return texts;
}

void Ranks::sum(std::string_view what, std::span<std::int64_t> numbers) {
  if (size() == 1) return;
  gather(what, numbers.size(), {});
  communicator_->sum(numbers);
  ++traffic_.messages;
  traffic_.bytes += numbers.size_bytes();
}

}  // namespace ecotone
