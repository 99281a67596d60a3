#include "ecotone/linalg/blas.h"

#include <cblas.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string_view>

#include "ecotone/base/error.h"
#include "ecotone/base/simd.h"

// OpenBLAS functions that its header omits and that not every build has.
extern "C" {
// An OpenBLAS with kernels for several processors picks some when it is loaded; these two make it pick again.
[[gnu::weak]] void gotoblas_dynamic_init();
[[gnu::weak]] void gotoblas_dynamic_quit();
// Ends its threads; a product on several threads would start them again.
[[gnu::weak]] int blas_thread_shutdown_();
}

namespace ecotone {
namespace {

/// Whether two names mean the same kernels: an OpenBLAS built for one processor writes them in capitals.
bool same_core(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// The instructions that OpenBLAS kernels need; kernels not listed need no more than SSE.
Instructions instructions_of(std::string_view core) {
  for (const std::string_view name : {"SkylakeX", "Cooperlake", "SapphireRapids"})
    if (same_core(core, name)) return Instructions::avx512;
  for (const std::string_view name : {"Haswell", "Zen", "Excavator"})
    if (same_core(core, name)) return Instructions::avx2;
  for (const std::string_view name : {"Sandybridge", "Bulldozer", "Piledriver", "Steamroller"})
    if (same_core(core, name)) return Instructions::avx;
  return Instructions::sse2;
}

std::string core_in_use() { return openblas_get_corename(); }

/// Whether the user named these kernels in OPENBLAS_CORETYPE. OpenBLAS ignores a name that it does not know.
bool asked_of_openblas(std::string_view core) {
  const char* const asked = std::getenv("OPENBLAS_CORETYPE");
  return asked != nullptr && same_core(asked, core);
}

/// Temporarily sets an environment variable to another value.
class Setting {
 public:
  Setting(const char* name, const char* value) : name_(name) {
    if (const char* now = std::getenv(name)) before_ = now;
    setenv(name, value, 1);
  }
  ~Setting() {
    if (before_) {
      setenv(name_, before_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

/// Whether kernels with these needs are far below the processor's capabilities. A library that knows the processor may
/// prefer AVX2 to AVX-512.
bool is_fallback(Instructions kernels, Instructions processor) {
  return kernels < Instructions::avx2 && processor >= Instructions::avx2;
}

/// The kernels that the library chose when it was loaded. A library that does not know a processor takes its oldest
/// kernels; it is then made to take those that the processor has the instructions for.
std::string correct_kernels() {
  std::string chosen = core_in_use();
  const KernelChoice& choice = kernel_choice();
  const bool wanted =
      choice.by == KernelsBy::ecotone_kernels
          ? choice.problem.empty() && !same_core(choice.kernels.blas_core, chosen)
          : !asked_of_openblas(chosen) && is_fallback(instructions_of(chosen), processor_instructions());
  if (wanted && gotoblas_dynamic_init != nullptr && gotoblas_dynamic_quit != nullptr) {
    const Setting core("OPENBLAS_CORETYPE", choice.kernels.blas_core);
    gotoblas_dynamic_quit();
    gotoblas_dynamic_init();
  }
  return chosen;
}

/// OpenBLAS starts a thread per processor, each of which spins for a tenth of a second, at the expense of our own
/// threads.
void end_idle_threads() {
  if (blas_thread_shutdown_ != nullptr) blas_thread_shutdown_();
}

/// Initialised while the program is loaded, when no thread multiplies matrices yet. A Python extension that shares
/// OpenBLAS with NumPy is loaded by an import, during which no NumPy product may run on another thread.
const std::string chosen_by_library = (end_idle_threads(), correct_kernels());

/// OpenBLAS maps 128 MB at its first product and retries forever if the system refuses: under an address space limit we
/// try once before it does.
void require_address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  constexpr std::size_t bytes = std::size_t{144} << 20;
  void* const probe = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (probe == MAP_FAILED) {
    data_error("not_enough_memory",
               "linear algebra: the address space limit of {} MB does not leave the {} MB needed; raise it (ulimit -v)",
               limit.rlim_cur >> 20, bytes >> 20);
  }
  munmap(probe, bytes);
}

/// If kernels were requested, they are in use, or nothing is computed.
void require_kernels_in_use() {
  require_kernels();
  const KernelChoice& choice = kernel_choice();
  const std::string core = core_in_use();
  if (choice.by == KernelsBy::ecotone_kernels && !same_core(core, choice.kernels.blas_core))
    option_error("bad_kernels", "ECOTONE_KERNELS: this OpenBLAS has only its {} kernels, not {}", core,
                 choice.kernels.name);
  // OpenBLAS does not check this; its first product would end the process.
  if (instructions_of(core) > processor_instructions())
    option_error("bad_kernels", "OPENBLAS_CORETYPE: {} needs {}, which this processor does not have", core,
                 instructions_name(instructions_of(core)));
}

}  // namespace

void prepare_blas() {
  static std::once_flag once;
  std::call_once(once, [] {
    require_kernels_in_use();
    require_address_space();
    openblas_set_num_threads(1);
    end_idle_threads();  // setting their number has started them
  });
}

BlasState blas_state() {
  BlasState state;
  state.library = openblas_get_config();
  state.kernels = core_in_use();
  while (state.library.ends_with(' ')) state.library.pop_back();
  if (state.kernels != chosen_by_library) state.replaced = chosen_by_library;
  state.fell_back = kernel_choice().by == KernelsBy::processor && !asked_of_openblas(state.kernels) &&
                    is_fallback(instructions_of(state.kernels), processor_instructions());
  return state;
}

}  // namespace ecotone
