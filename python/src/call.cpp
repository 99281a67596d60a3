#include "call.h"

#include <nanobind/stl/string.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/base/progress.h"

namespace nb = nanobind;

namespace ecotone::python {

namespace {

/// How often signals are looked at and progress is shown.
constexpr auto glance = std::chrono::milliseconds(50);

/// Keeps the messages of a run until the calling thread, which may hold the interpreter lock, passes them on.
class Messages final : public Observer {
 public:
  void warning(std::string_view code, std::string_view message) override { add({std::string(code)}, message); }
  void note(std::string_view message) override { add(std::nullopt, message); }
  void progress(std::string_view what, Index done, Index total) override {
    const std::lock_guard lock(mutex_);
    if (bars_.empty() || bars_.back().what != what) bars_.push_back({.what = std::string(what)});
    bars_.back().done = done;
    bars_.back().total = total;
  }

  /// Calls of the listener need the interpreter lock, and not this object's: the listener may take its time.
  void show_progress(const nb::object& listener) {
    std::vector<Bar> bars;
    {
      const std::lock_guard lock(mutex_);
      bars.swap(bars_);
    }
    for (const Bar& bar : bars) listener.attr("progress")(bar.what, bar.done, bar.total);
  }
  void pass_on(const nb::object& listener) {
    for (const Message& message : messages_) {
      if (message.code)
        listener.attr("warning")(*message.code, message.text);
      else
        listener.attr("note")(message.text);
    }
  }

 private:
  struct Message {
    std::optional<std::string> code;
    std::string text;
  };
  struct Bar {
    std::string what;
    Index done = 0;
    Index total = 0;
  };
  std::mutex mutex_;
  std::vector<Message> messages_;
  /// How far each bar came since the last glance, in the order of their beginnings: a short one is not lost to the
  /// next.
  std::vector<Bar> bars_;

  void add(std::optional<std::string> code, std::string_view message) {
    const std::lock_guard lock(mutex_);
    messages_.push_back({std::move(code), std::string(message)});
  }
};

/// Work on a thread of its own.
class Background {
 public:
  explicit Background(std::function<void()> work) {
    thread_ = std::thread([this, work = std::move(work)] {
      try {
        work();
      } catch (...) {
        error_ = std::current_exception();
      }
      const std::lock_guard lock(mutex_);
      done_ = true;
      changed_.notify_one();
    });
  }
  ~Background() { thread_.join(); }

  bool wait(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, time, [&] { return done_; });
  }
  std::exception_ptr error() const { return error_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::exception_ptr error_;
  std::thread thread_;
};

/// Ranks that a Python object speaks for.
class PythonRanks final : public GatheringCommunicator {
 public:
  explicit PythonRanks(const nb::object& ranks)
      : ranks_(ranks), rank_(nb::cast<int>(ranks.attr("rank"))), size_(nb::cast<int>(ranks.attr("size"))) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void sum(std::span<double> numbers) override { add(numbers); }
  void sum(std::span<std::int64_t> numbers) override { add(numbers); }
  void broadcast(std::string& text, int from) override { text = gather(text)[static_cast<std::size_t>(from)]; }

  std::vector<std::string> gather(std::string_view mine) override {
    const nb::gil_scoped_acquire lock;
    const nb::object all = ranks_.attr("gather")(nb::bytes(mine.data(), mine.size()));
    std::vector<std::string> texts;
    for (const nb::handle text : all) {
      const auto bytes = nb::cast<nb::bytes>(text);
      texts.emplace_back(bytes.c_str(), bytes.size());
    }
    if (static_cast<int>(texts.size()) != size_)
      internal_error("gather gave {} texts for {} ranks", texts.size(), size_);
    return texts;
  }

  /// The exception that this rank raises reaches the others by way of the object.
  void end_all(int) override {}

 private:
  template <class Number>
  void add(std::span<Number> numbers) {
    const std::string mine(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes());
    const std::vector<std::string> all = gather(mine);
    std::ranges::fill(numbers, Number{0});
    for (const std::string& text : all)
      for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] += reinterpret_cast<const Number*>(text.data())[i];
  }

  const nb::object& ranks_;
  int rank_, size_;
};

/// Progress and signals; the exception that either raised.
std::exception_ptr look_up(Messages& messages, const Settings& settings) {
  const nb::gil_scoped_acquire lock;
  try {
    messages.show_progress(settings.listener);
    if (PyErr_CheckSignals() != 0) nb::raise_python_error();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

void run_in_background(const Settings& settings, Messages& messages, const std::function<void(const Context&)>& work) {
  std::optional<PythonRanks> ranks;
  if (!settings.ranks.is_none()) ranks.emplace(settings.ranks);
  CancelFlag cancel;
  std::exception_ptr raised;
  std::exception_ptr thrown;
  {
    const nb::gil_scoped_release unlock;
    Background background([&] {
      work(Context({.threads = settings.threads,
                    .seed = settings.seed,
                    .observer = &messages,
                    .cancel = &cancel,
                    .ranks = ranks ? &*ranks : nullptr}));
    });
    while (!background.wait(glance)) {
      if (raised) continue;
      raised = look_up(messages, settings);
      if (raised) cancel.request();
    }
    thrown = background.error();
  }
  if (raised) std::rethrow_exception(raised);
  if (thrown) std::rethrow_exception(thrown);
}

PyObject* type_of(const Error& error) {
  if (error.code() == "not_enough_memory") return PyExc_MemoryError;
  switch (error.kind()) {
    case ErrorKind::option:
    case ErrorKind::data:
      return PyExc_ValueError;
    case ErrorKind::file:
      return error.code() == "no_such_file" ? PyExc_FileNotFoundError : PyExc_OSError;
    case ErrorKind::cancelled:
      return PyExc_KeyboardInterrupt;
    case ErrorKind::internal:
      break;
  }
  return PyExc_RuntimeError;
}

void raise(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    const nb::object type = nb::borrow(type_of(error));
    const nb::object raised = type(error.what());
    raised.attr("code") = error.code();
    PyErr_SetObject(type.ptr(), raised.ptr());
  }
}

}  // namespace

void run_call(const Settings& settings, Size size, const std::function<void(const Context&)>& work) {
  Messages messages;
  if (size == Size::small) {
    const nb::gil_scoped_release unlock;
    work(Context({.threads = 1, .seed = settings.seed, .observer = &messages, .cancel = nullptr}));
  } else {
    run_in_background(settings, messages, work);
  }
  messages.show_progress(settings.listener);
  messages.pass_on(settings.listener);
}

void translate_errors() { nb::register_exception_translator(raise); }

}  // namespace ecotone::python
