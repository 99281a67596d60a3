#pragma once

#include <chrono>

/// How long a body takes, by the clock.
template <class Body>
double seconds(const Body& body) {
  const auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}
