#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <type_traits>

#include "ecotone/base/context.h"

/// How Python calls into the library: without the global interpreter lock, so that other Python threads run; with
/// signals looked at, so that Ctrl-C stops the work; and with messages handed to a Python object.
namespace ecotone::python {

/// What a caller may set for any call.
struct Settings {
  int threads = 0;  ///< 0: all
  std::uint64_t seed = 0;
  nanobind::object listener;                  ///< has warning(code, text), note(text) and progress(what, done, total)
  nanobind::object ranks = nanobind::none();  ///< None, or has rank, size and gather(bytes) -> the bytes of all ranks
};

/// Small work is done on the calling thread, alone: starting threads would take longer than the work.
enum class Size { small, any };

void run_call(const Settings& settings, Size size, const std::function<void(const Context&)>& work);

/// Runs work(context) and returns its result. Messages arrive at the listener on the calling thread: progress during
/// the work, warnings and notes after it. Raises what the work throws, or what a signal handler raised (the work is
/// then cancelled first).
template <class Work>
auto call(const Settings& settings, Size size, Work&& work) {
  using Result = std::invoke_result_t<Work, const Context&>;
  if constexpr (std::is_void_v<Result>) {
    run_call(settings, size, [&](const Context& context) { work(context); });
  } else {
    std::optional<Result> result;
    run_call(settings, size, [&](const Context& context) { result.emplace(work(context)); });
    return std::move(*result);
  }
}

/// Makes errors of the library Python exceptions of the same text: ValueError for options and data, OSError for files,
/// MemoryError and RuntimeError. Their attribute `code` is the stable name.
void translate_errors();

}  // namespace ecotone::python
