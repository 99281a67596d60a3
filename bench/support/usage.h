#pragma once

#include <sys/resource.h>

/// Processor seconds of all threads, and the largest resident memory in MB, since the start of the process.
struct Usage {
  double seconds = 0;
  double peak_mb = 0;
};
inline Usage usage_now() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return {seconds(usage.ru_utime) + seconds(usage.ru_stime), static_cast<double>(usage.ru_maxrss) / 1024.0};
}
