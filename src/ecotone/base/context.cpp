#include "ecotone/base/context.h"

#include "ecotone/base/error.h"
#include "ecotone/base/simd.h"

namespace ecotone {

Context::Context() : Context(Settings{}) {}

Context::Context(const Settings& settings)
    : ranks_(std::make_shared<Ranks>(settings.ranks)),
      seed_(settings.seed),
      observer_(settings.observer),
      cancel_(settings.cancel) {
  require_kernels();
  constexpr int most = 4096;
  if (settings.threads < 0 || settings.threads > most)
    option_error("bad_option", "threads must be in [0, {}], got {}", most, settings.threads);
  pool_ = std::make_shared<ThreadPool>(settings.threads == 0 ? available_threads() : settings.threads);
}

Context Context::derived(std::string_view purpose, std::uint64_t number) const {
  Context context = *this;
  context.seed_ = Random(seed_, purpose, number).bits();
  return context;
}

Context Context::seeded(std::uint64_t seed) const {
  Context context = *this;
  context.seed_ = seed;
  return context;
}

Context Context::observed_by(Observer* observer) const {
  Context copy = *this;
  copy.observer_ = observer;
  return copy;
}

void Context::check_cancelled() const {
  if (cancel_ && cancel_->requested()) cancelled_error();
}

}  // namespace ecotone
