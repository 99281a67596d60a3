// CSV of arbitrary bytes: the result, or the error, does not depend on how the file is cut; reading for a model gives
// the same features.
#include <cstring>

#include "ecotone/data/formats/csv/csv.h"
#include "reader.h"

namespace {

using namespace ecotone;

/// Roles chosen by the first byte, with names that fuzzing finds easily.
ReadOptions options_of(std::uint8_t choice) {
  ReadOptions options;
  if (choice & 1) options.label = "y";
  if (choice & 2) options.domain = "d";
  if (choice & 4) options.weight = "w";
  if (choice & 8) options.where = {"a>1"};
  if (choice & 16) options.where = {"y!="};
  return options;
}

void compare(const Dataset& a, const Dataset& b) {
  const Matrix x = a.x.to_matrix();
  const Matrix z = b.x.to_matrix();
  if (x.rows() != z.rows() || x.cols() != z.cols()) fuzz::fail("sizes differ");
  if (x.size() > 0 && std::memcmp(x.data(), z.data(), static_cast<std::size_t>(x.size()) * sizeof(double)) != 0)
    fuzz::fail("features differ");
  if (a.domain.index != b.domain.index || a.domain.names != b.domain.names) fuzz::fail("domains differ");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const ReadOptions options = options_of(data[0]);
  const ByteSource source = ByteSource::memory(fuzz::text_of(data + 2, size - 2), "f.csv");
  const CsvTuning small{.segment_bytes = 1 + data[1] % 64U};
  Dataset whole;
  Dataset parts;
  const std::string first = fuzz::code_of([&] { whole = read_csv({source}, options, {}, fuzz::one_thread()); });
  const std::string second = fuzz::code_of([&] { parts = read_csv({source}, options, small, fuzz::one_thread()); });
  if (first != second) fuzz::fail(("errors differ: '" + first + "' and '" + second + "'").c_str());
  if (!first.empty()) return 0;
  compare(whole, parts);
  Dataset again;
  const std::string third =
      fuzz::code_of([&] { again = read_csv_for_model({source}, whole.schema, options, small, fuzz::one_thread()); });
  if (!third.empty()) fuzz::fail(("the model's reader: " + third).c_str());
  compare(whole, again);
  return 0;
}
