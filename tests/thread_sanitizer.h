#pragma once

#include <gtest/gtest.h>

/// For tests of numbers that take long under the thread sanitizer: what they run on several threads is run there by the
/// tests of equal bytes for any number of threads.
#if defined(__SANITIZE_THREAD__)
#define ECOTONE_SKIP_UNDER_THREAD_SANITIZER() GTEST_SKIP() << "it checks numbers, not threads"
#else
#define ECOTONE_SKIP_UNDER_THREAD_SANITIZER() static_assert(true)
#endif
