#include "ecotone/data/storage/pair_storage.h"

#include <algorithm>

#include "ecotone/base/memory.h"
#include "ecotone/data/storage/csr_storage.h"
#include "ecotone/data/storage/subset_storage.h"

namespace ecotone {

namespace {

constexpr std::string_view pair_start = "pair(";

/// Calls body(a, b) for the positions of the values that two sparse rows have in the same column.
template <class Body>
void over_common(const Csr& x, Index i, Index j, const Body& body) {
  auto a = at(x.row_start[at(i)]), b = at(x.row_start[at(j)]);
  const auto a_end = at(x.row_start[at(i) + 1]), b_end = at(x.row_start[at(j) + 1]);
  while (a < a_end && b < b_end) {
    if (x.column[a] == x.column[b]) {
      body(a++, b++);
    } else if (x.column[a] < x.column[b]) {
      ++a;
    } else {
      ++b;
    }
  }
}

Csr sparse_products(const Csr& x, const PairRows& pairs) {
  std::size_t count = 0;
  for (Index k = 0; k < pairs.size(); ++k)
    over_common(x, pairs.first[at(k)], pairs.second[at(k)], [&](std::size_t, std::size_t) { ++count; });
  require_memory(count * (sizeof(double) + sizeof(std::int32_t)) + at(pairs.size()) * sizeof(Index), "pairs",
                 "the products of sparse rows", "make fewer pairs, or pair rows with fewer values");
  Csr out;
  out.rows = pairs.size();
  out.cols = x.cols;
  out.row_start.push_back(0);
  out.row_start.reserve(at(pairs.size()) + 1);
  out.column.reserve(count);
  out.value.reserve(count);
  for (Index k = 0; k < pairs.size(); ++k) {
    over_common(x, pairs.first[at(k)], pairs.second[at(k)], [&](std::size_t a, std::size_t b) {
      out.column.push_back(x.column[a]);
      out.value.push_back(x.value[a] * x.value[b]);
    });
    out.row_start.push_back(static_cast<Index>(out.value.size()));
  }
  return out;
}

}  // namespace

RowBlock PairStorage::block(Index b, Scratch& scratch) const {
  const Index first = b * block_rows();
  const Index count = std::min(block_rows(), rows() - first);
  auto out = scratch.reserve(count, cols());
  Scratch& other = scratch.nested();
  const auto part = [&](const std::vector<Index>& rows) { return std::span(rows).subspan(at(first), at(count)); };
  gather_rows(*base_, part(pairs_.first), out, other.nested());
  auto second = other.reserve(count, cols());
  gather_rows(*base_, part(pairs_.second), second, other.nested());
  out.array() *= second.array();
  return {first, ConstMatrixMap(out.data(), count, cols(), Eigen::OuterStride<>(out.outerStride()))};
}

std::shared_ptr<const FeatureStorage> PairStorage::take(std::span<const Index> rows) const {
  PairRows chosen;
  for (const Index row : rows) {
    chosen.first.push_back(pairs_.first[at(row)]);
    chosen.second.push_back(pairs_.second[at(row)]);
  }
  return std::make_shared<PairStorage>(base_, std::move(chosen));
}

bool is_pair_name(std::string_view name) { return name.starts_with(pair_start) && name.ends_with(')'); }

Features pair_features(const Features& x, PairRows pairs, const Context& context) {
  context.check_cancelled();
  std::vector<std::string> names = x.names();
  for (std::string& name : names) name = std::string(pair_start) + name + ")";
  if (const Csr* csr = x.storage().csr()) return Features::sparse(sparse_products(*csr, pairs), std::move(names));
  return Features(std::make_shared<PairStorage>(x.shared_storage(), std::move(pairs)), std::move(names));
}

}  // namespace ecotone
