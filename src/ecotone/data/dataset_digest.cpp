#include "ecotone/data/dataset_digest.h"

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

void add_features(Digest& digest, const Features& x, const Context& context) {
  digest.add(x.rows()).add(x.cols()).add(x.names()).add(x.is_sparse());
  if (const Csr* csr = x.storage().csr()) {
    digest.add(all_of(csr->row_start)).add(all_of(csr->column)).add(all_of(csr->value));
    return;
  }
  std::vector<Digest> blocks(at(x.blocks()));
  context.parallel(x.blocks(), [&](Index b) {
    Scratch scratch;
    blocks[at(b)] = block_digest(x, b, scratch);
  });
  for (const Digest& block : blocks) digest.add(block);
}

}  // namespace

Digest digest_of(const Dataset& data, const Context& context) {
  Digest digest;
  add_features(digest, data.x, context);
  digest.add(data.y.has_value());
  if (data.y)
    digest.add(task_name(data.y->task)).add(data.y->classes).add(all_of(data.y->index)).add(all_of(data.y->value));
  digest.add(data.domain.names).add(all_of(data.domain.index)).add(all_of(data.domain.partner));
  for (const Role role : data.role) digest.add(role_name(role));
  digest.add(all_of(data.weight)).add(all_of(data.origin)).add(all_of(data.group)).add(all_of(data.time));
  return digest.add(data.schema.to_json().dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace ecotone
