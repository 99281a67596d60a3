// svmlight text of arbitrary bytes: the result, or the error, does not depend on how the file is cut.
#include <algorithm>
#include <cmath>

#include "ecotone/data/formats/format.h"
#include "ecotone/data/formats/svmlight.h"
#include "reader.h"

namespace {

using namespace ecotone;

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const int base = static_cast<int>(data[0] % 3) - 1;
  const ByteSource source = ByteSource::memory(fuzz::text_of(data + 2, size - 2), "f.svm");
  SvmlightRows whole;
  SvmlightRows parts;
  const std::string first =
      fuzz::code_of([&] { whole = read_svmlight({source}, base, std::size_t{1} << 20, fuzz::one_thread()); });
  const std::string second =
      fuzz::code_of([&] { parts = read_svmlight({source}, base, 1 + data[1] % 64U, fuzz::one_thread()); });
  if (first != second) fuzz::fail(("errors differ: '" + first + "' and '" + second + "'").c_str());
  if (!first.empty()) return 0;
  if (whole.x.row_start != parts.x.row_start || whole.x.column != parts.x.column || whole.x.cols != parts.x.cols)
    fuzz::fail("rows differ");
  if (!std::ranges::equal(whole.x.value, parts.x.value, same)) fuzz::fail("values differ");
  // Two billion column names are rejected elsewhere, slowly.
  if (whole.x.cols > 10'000) return 0;
  ReadOptions options;
  options.base = base;
  fuzz::code_of([&] { read_files(format_by_name("svmlight"), {{}, {source}}, options, fuzz::one_thread()); });
  return 0;
}
