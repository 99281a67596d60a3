#include "ecotone/data/dataset_digest.h"

#include <algorithm>
#include <span>

namespace ecotone {

namespace {

template <class T>
std::span<const T> all_of(const std::vector<T>& values) {
  return values;
}
std::span<const double> all_of(const Vector& values) { return {values.data(), at(values.size())}; }

Digest block_digest(const Features& x, Index b, Scratch& scratch) {
  Digest digest;
  const RowBlock block = x.block(b, scratch);
  for (Index i = 0; i < block.x.rows(); ++i)
    digest.add(std::span<const double>(block.x.row(i).data(), at(block.x.cols())));
  return digest;
}

/// Of blocks [first, last).
void add_blocks(Digest& digest, const Features& x, Index first, Index last, const Context& context) {
  std::vector<Digest> blocks(at(last - first));
  context.parallel(last - first, [&](Index i) {
    Scratch scratch;
    blocks[at(i)] = block_digest(x, first + i, scratch);
  });
  for (const Digest& block : blocks) digest.add(block);
}

void add_features(Digest& digest, const Features& x, const Context& context) {
  digest.add(x.rows()).add(x.cols()).add(x.names()).add(x.is_sparse());
  if (const Csr* csr = x.storage().csr()) {
    digest.add(all_of(csr->row_start)).add(all_of(csr->column)).add(all_of(csr->value));
    return;
  }
  add_blocks(digest, x, 0, x.blocks(), context);
}

void add_others(Digest& digest, const Dataset& data) {
  digest.add(data.y.has_value());
  if (data.y)
    digest.add(task_name(data.y->task)).add(data.y->classes).add(all_of(data.y->index)).add(all_of(data.y->value));
  digest.add(data.domain.names).add(all_of(data.domain.index)).add(all_of(data.domain.partner));
  for (const Role role : data.role) digest.add(role_name(role));
  digest.add(all_of(data.weight)).add(all_of(data.origin)).add(all_of(data.group)).add(all_of(data.time));
  digest.add(data.schema.to_json().dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

Digest digest_of(const Dataset& data, const Context& context) {
  Digest digest;
  add_features(digest, data.x, context);
  add_others(digest, data);
  return digest;
}

Digest digest_beside_features(const Dataset& data) {
  Digest digest;
  digest.add(data.x.rows()).add(data.x.cols()).add(data.x.names()).add(data.x.is_sparse());
  add_others(digest, data);
  return digest;
}

Digest digest_of_blocks(const Features& x, Index first, Index last, const Context& context) {
  Digest digest;
  if (const Csr* csr = x.storage().csr()) {
    const std::size_t begin = at(std::min(x.first_row(first), x.rows()));
    const std::size_t end = at(std::min(x.first_row(last), x.rows()));
    const auto starts = std::span(csr->row_start).subspan(begin, end - begin + 1);
    for (const Index start : starts) digest.add(start - starts.front());
    const std::size_t entry = at(starts.front()), entries = at(starts.back() - starts.front());
    return digest.add(all_of(csr->column).subspan(entry, entries)).add(all_of(csr->value).subspan(entry, entries));
  }
  add_blocks(digest, x, first, last, context);
  return digest;
}

}  // namespace ecotone
