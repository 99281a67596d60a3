#pragma once

#include <cstring>

#include "ecotone/base/context.h"
#include "ecotone/base/random.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

inline Context with_threads(int threads) { return Context(Context::Settings{.threads = threads}); }

inline Matrix random_matrix(Index rows, Index cols, std::uint64_t key = 0) {
  Random random(7, "test.matrix", key);
  Matrix a(rows, cols);
  for (Index i = 0; i < a.size(); ++i) a.data()[i] = random.normal();
  return a;
}

/// Well-conditioned, symmetric, positive definite.
inline Matrix random_spd(Index n, std::uint64_t key = 0) {
  const Matrix x = random_matrix(n, n, key);
  Matrix a = x.transpose() * x / static_cast<double>(n);
  a.diagonal().array() += 0.1;
  return a;
}

template <class A, class B>
bool same_bytes(const A& a, const B& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         std::memcmp(a.data(), b.data(), sizeof(double) * static_cast<std::size_t>(a.size())) == 0;
}

}  // namespace ecotone
