#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "data/sparse_support.h"
#include "ecotone/base/error.h"
#include "ecotone/data/dataset.h"
#include "ecotone/methods/model.h"
#include "error_code.h"

/// Small data sets and checks that the tests of methods share.
namespace ecotone::test {

inline Context context(int threads = 2) { return Context({.threads = threads, .seed = 1}); }

/// Message of the Error that `call` throws; empty when it throws nothing.
template <class Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// Keeps what a run says.
class Recorder : public Observer {
 public:
  void warning(std::string_view code, std::string_view message) override {
    const std::lock_guard lock(mutex_);
    warnings.emplace_back(std::string(code), std::string(message));
  }
  void note(std::string_view message) override {
    const std::lock_guard lock(mutex_);
    notes.emplace_back(message);
  }
  void progress(std::string_view, Index, Index) override {}

  std::vector<std::pair<std::string, std::string>> warnings;
  std::vector<std::string> notes;

 private:
  std::mutex mutex_;
};

/// Domain names d1 .. dk for rows dealt out in turn.
inline Domains dealt_domains(Index rows, Index count) {
  Domains domains;
  for (Index d = 0; d < count; ++d) domains.names.push_back(fmt::format("d{}", d + 1));
  for (Index i = 0; i < rows; ++i) domains.index.push_back(static_cast<std::int32_t>(i % count));
  return domains;
}

/// A view of labelled rows in one domain.
inline TrainView view_of(Features x, Labels y) {
  TrainView view;
  view.domain = dealt_domains(x.rows(), 1);
  view.role = {Role::source};
  view.x = std::move(x);
  view.y = std::move(y);
  return view;
}

inline Labels class_labels(std::vector<std::string> classes, std::vector<std::int32_t> index) {
  return {Task::classify, std::move(classes), std::move(index), {}};
}

inline Labels no_labels() { return {Task::regress, {}, {}, {}}; }

inline Labels number_labels(std::initializer_list<double> values) {
  Labels labels{Task::regress, {}, {}, Vector(static_cast<Index>(values.size()))};
  std::copy(values.begin(), values.end(), labels.value.data());
  return labels;
}

/// Overlapping classes in `cols` columns (so that unpenalised learners have an optimum) and several domains;
/// `target_rows` rows without labels follow in a domain of their own.
inline TrainView overlapping(Index rows, Index cols, Index classes, Index domains, Index target_rows = 0) {
  Random random(3, "overlapping");
  Matrix x(rows + target_rows, cols);
  Labels y{Task::classify, {}, {}, {}};
  for (Index c = 0; c < classes; ++c) y.classes.push_back(fmt::format("c{}", c));
  for (Index i = 0; i < x.rows(); ++i) {
    const Index cls = i % classes;
    for (Index j = 0; j < cols; ++j)
      x(i, j) = random.normal() + (j % classes == cls ? 0.4 : 0.0) + 10.0 * static_cast<double>(j);
    if (i < rows) y.index.push_back(static_cast<std::int32_t>(cls));
  }
  TrainView view = view_of(Features::dense(std::move(x)), std::move(y));
  // Not dealt by the row's class: rows / classes / domains would alias.
  for (Index i = 0; i < rows; ++i)
    view.domain.index[static_cast<std::size_t>(i)] = static_cast<std::int32_t>((i / classes) % domains);
  view.domain.names = dealt_domains(0, domains).names;
  view.role.assign(static_cast<std::size_t>(domains), Role::source);
  if (target_rows > 0) {
    for (Index i = rows; i < rows + target_rows; ++i)
      view.domain.index[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(domains);
    view.domain.names.push_back("target");
    view.role.push_back(Role::target);
  }
  return view;
}

/// Labels and columns that have nothing to do with each other.
inline TrainView noise(Index rows, Index cols, Index domains) {
  TrainView view = overlapping(rows, cols, 2, domains);
  Random random(9, "pure noise");
  Matrix x(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) x(i, j) = random.normal();
  view.x = Features::dense(x);
  for (auto& cls : view.y.index) cls = random.uniform() < 0.5 ? 1 : 0;
  return view;
}

inline bool same_bytes(const Matrix& a, const Matrix& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         (a.size() == 0 || std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(double)) == 0);
}

inline bool same_bytes(const Prediction& a, const Prediction& b) {
  return a.task == b.task && a.index == b.index && same_bytes(a.probability, b.probability) &&
         same_bytes(Matrix(a.value), Matrix(b.value)) && same_bytes(Matrix(a.low), Matrix(b.low)) &&
         same_bytes(Matrix(a.high), Matrix(b.high)) && a.set.rows() == b.set.rows() && a.set.cols() == b.set.cols() &&
         (a.set == b.set).all();
}

inline Model fitted(std::string_view pipeline, const TrainView& view, const Context& run = context()) {
  return Model::fit(Pipeline::parse(pipeline), view, Schema{}, run);
}

inline Model reloaded(const Model& model) { return Model::from_tensors(TensorFile::parse(model.bytes(), "model")); }

inline const double nan = std::nan("");

}  // namespace ecotone::test
