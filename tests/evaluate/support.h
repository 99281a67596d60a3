#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>

#include "ecotone/base/error.h"
#include "ecotone/evaluate/evaluate.h"

/// Small data sets and shorthands that the tests of evaluate share.
namespace ecotone::test {

/// `n` rows of two features in each of `domains` domains; the class is drawn from a logistic law of the first, shifted
/// by domain.
inline Dataset tiny(Index domains, Index n, Index classes = 2, std::uint64_t seed = 1) {
  Dataset data;
  Labels y;
  Matrix x(domains * n, 2);
  for (Index k = 0; k < classes; ++k) y.classes.push_back(fmt::format("c{}", k));
  for (Index d = 0; d < domains; ++d) {
    data.domain.names.push_back(fmt::format("site{}", d));
    data.role.push_back(Role::source);
  }
  Random random(seed, "evaluate-test");
  for (Index i = 0; i < x.rows(); ++i) {
    const Index d = i % domains;
    const auto k = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(classes)));
    data.domain.index.push_back(static_cast<std::int32_t>(d));
    y.index.push_back(k);
    x(i, 0) = k + random.normal() + 0.3 * static_cast<double>(d);
    x(i, 1) = random.normal() - 0.5 * k;
  }
  data.x = Features::dense(std::move(x), {"a", "b"});
  data.y = std::move(y);
  data.schema = Schema{{{"a", ColumnKind::numeric, {}}, {"b", ColumnKind::numeric, {}}}, "label", "site", ""};
  return data;
}

inline Dataset tiny_regression(Index domains, Index n) {
  Dataset data = tiny(domains, n);
  Labels y;
  y.task = Task::regress;
  y.value.resize(data.rows());
  Random random(5, "evaluate-test-values");
  for (Index i = 0; i < data.rows(); ++i)
    y.value[i] = 10 + random.normal() + data.domain.index[static_cast<std::size_t>(i)];
  data.y = y;
  return data;
}

inline std::vector<Pipeline> pipelines(const std::vector<std::string>& texts) {
  std::vector<Pipeline> result;
  for (const auto& text : texts) result.push_back(Pipeline::parse(text));
  return result;
}

inline EvaluateOptions with(Protocol protocol) {
  EvaluateOptions options;
  options.protocol = protocol;
  return options;
}

inline Context on(int threads, std::uint64_t seed = 0) { return Context({.threads = threads, .seed = seed}); }

inline std::optional<double> get(const Metrics& metrics, const std::string& name) {
  for (const auto& [key, value] : metrics)
    if (key == name) return value;
  throw std::runtime_error("no metric " + name);
}

class Recorder : public Observer {
 public:
  void warning(std::string_view code, std::string_view message) override {
    const std::lock_guard lock(mutex);
    warnings.push_back(std::string(code) + ": " + std::string(message));
  }
  void note(std::string_view message) override {
    const std::lock_guard lock(mutex);
    notes.emplace_back(message);
  }
  void progress(std::string_view what, Index done, Index total) override {
    const std::lock_guard lock(mutex);
    if (what == "evaluate" && done == total) finished = total;
    if (what != "evaluate") others.emplace_back(what);
  }
  std::mutex mutex;
  std::vector<std::string> warnings, notes, others;
  Index finished = 0;
};

template <class F>
Error error_of(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorKind::internal, "no error", "no error");
}

}  // namespace ecotone::test
