#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/base/random.h"
#include "ecotone/solve/linear/linear.h"

namespace ecotone {

/// Rows, their classes and row weights (empty: all 1), made for tests.
struct Sample {
  Matrix x;
  std::vector<std::int32_t> cls;
  Index classes = 2;
  Vector weight;

  Index rows() const { return x.rows(); }
};

/// Normal features and labels drawn from a softmax of random linear scores, so that classes overlap.
inline Sample draw_sample(Index rows, Index cols, Index classes = 2, std::uint64_t key = 0) {
  Random random(11, "test.sample", key);
  Sample sample{Matrix(rows, cols), std::vector<std::int32_t>(static_cast<std::size_t>(rows)), classes, Vector()};
  for (Index i = 0; i < sample.x.size(); ++i) sample.x.data()[i] = random.normal();
  Matrix w(cols, classes);
  for (Index i = 0; i < w.size(); ++i) w.data()[i] = random.normal() / std::sqrt(static_cast<double>(cols));
  for (Index i = 0; i < rows; ++i) {
    Vector score = (sample.x.row(i) * w).transpose();
    // The largest of scores plus Gumbel noise follows the softmax.
    for (Index k = 0; k < classes; ++k) score[k] -= std::log(-std::log(random.uniform(1e-12, 1.0)));
    Index best = 0;
    score.maxCoeff(&best);
    sample.cls[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(best);
  }
  return sample;
}

struct FitSettings {
  double l2 = 0;
  bool offset = true;
  bool norm_by_weights = false;
  int threads = 2;
};

inline LinearFit fit(const Features& x, const Sample& sample, const FitSettings& settings) {
  return fit_linear({.x = x,
                     .cls = sample.cls,
                     .classes = sample.classes,
                     .weight = sample.weight,
                     .l2 = settings.l2,
                     .offset = settings.offset,
                     .norm_by_weights = settings.norm_by_weights},
                    Context(Context::Settings{.threads = settings.threads}));
}

inline LinearFit fit(const Sample& sample, const FitSettings& settings) {
  return fit(Features::dense(sample.x), sample, settings);
}

/// The code of the error that fitting gives, or "".
inline std::string error_code(const Sample& sample, const FitSettings& settings) {
  try {
    fit(sample, settings);
  } catch (const Error& error) {
    return error.code();
  }
  return "";
}

/// The risk by its definition, row by row.
inline double risk_of(const Sample& sample, const Matrix& w, const Vector& offset, const FitSettings& settings) {
  double loss = 0;
  double total = 0;
  for (Index i = 0; i < sample.rows(); ++i) {
    Vector score = w * sample.x.row(i).transpose() + offset;
    if (sample.classes == 2) score = Vector{{0.0, score[0]}};
    const double largest = score.maxCoeff();
    const double a = sample.weight.size() == 0 ? 1.0 : sample.weight[i];
    loss += a * (largest + std::log((score.array() - largest).exp().sum()) -
                 score[sample.cls[static_cast<std::size_t>(i)]]);
    total += a;
  }
  const double norm = settings.norm_by_weights ? total : static_cast<double>(sample.rows());
  return settings.l2 * w.squaredNorm() + loss / norm;
}

inline double gap(const LinearFit& a, const LinearFit& b) {
  const double offset = (a.offset - b.offset).cwiseAbs().maxCoeff();
  return a.weights.cols() == 0 ? offset : std::max(offset, (a.weights - b.weights).cwiseAbs().maxCoeff());
}

inline bool same_bytes(const LinearFit& a, const LinearFit& b) {
  const auto bytes = [](const auto& v) { return sizeof(double) * static_cast<std::size_t>(v.size()); };
  return std::memcmp(a.weights.data(), b.weights.data(), bytes(a.weights)) == 0 &&
         std::memcmp(a.offset.data(), b.offset.data(), bytes(a.offset)) == 0 && a.risk == b.risk && a.kkt == b.kkt;
}

}  // namespace ecotone
