#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/base/error.h"
#include "ecotone/data/formats/csv/csv.h"
#include "ecotone/data/read.h"

namespace ecotone::test {

/// A folder that goes with the test.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "ecotone-read-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("mkdtemp");
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::filesystem::path path(const std::string& name) const { return path_ / name; }
  std::filesystem::path write(const std::string& name, std::string_view bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

 private:
  std::filesystem::path path_;
};

/// Keeps notes and warnings.
class Recorder : public Observer {
 public:
  void warning(std::string_view code, std::string_view message) override {
    const std::lock_guard lock(mutex);
    warnings.emplace_back(code, message);
  }
  void note(std::string_view message) override {
    const std::lock_guard lock(mutex);
    notes.emplace_back(message);
  }
  void progress(std::string_view, Index, Index) override {}

  bool warned(std::string_view code) const {
    for (const auto& [known, text] : warnings)
      if (known == code) return true;
    return false;
  }

  std::mutex mutex;
  std::vector<std::pair<std::string, std::string>> warnings;
  std::vector<std::string> notes;
};

inline Context context_of(int threads, Observer* observer = nullptr) {
  Context::Settings settings;
  settings.threads = threads;
  settings.observer = observer;
  return Context(settings);
}

/// CSV text as a data set.
inline Dataset csv(std::string text, const ReadOptions& options = {}, const CsvTuning& tuning = {},
                   const Context& context = context_of(1)) {
  return read_csv({ByteSource::memory(std::move(text), "data.csv")}, options, tuning, context);
}

/// Runs and expects an error of this code; returns its message.
template <class Run>
std::string message_of(const std::string& code, ErrorKind kind, Run&& run) {
  try {
    run();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error, expected " << code;
  return {};
}

/// Same bytes, NaN included.
inline bool same_bytes(const Matrix& a, const Matrix& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         std::equal(a.data(), a.data() + a.size(), b.data(),
                    [](double x, double y) { return std::memcmp(&x, &y, sizeof x) == 0; });
}

inline void expect_same(const Dataset& a, const Dataset& b) {
  EXPECT_TRUE(same_bytes(a.x.to_matrix(), b.x.to_matrix()));
  EXPECT_EQ(a.x.names(), b.x.names());
  EXPECT_EQ(a.schema, b.schema);
  EXPECT_EQ(a.domain.names, b.domain.names);
  EXPECT_EQ(a.domain.index, b.domain.index);
  EXPECT_EQ(a.role, b.role);
  EXPECT_TRUE(same_bytes(a.weight, b.weight));
  ASSERT_EQ(a.y.has_value(), b.y.has_value());
  if (!a.y) return;
  EXPECT_EQ(a.y->task, b.y->task);
  EXPECT_EQ(a.y->classes, b.y->classes);
  EXPECT_EQ(a.y->index, b.y->index);
  EXPECT_TRUE(same_bytes(a.y->value, b.y->value));
}

}  // namespace ecotone::test
