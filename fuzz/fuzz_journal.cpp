// Journals of arbitrary bytes: what is found lies within them, without overlap, and everything that is refused is an
// Error. Records of arbitrary bytes: what can be read can be written and read again.
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ecotone/base/files/archive.h"
#include "ecotone/base/files/file.h"
#include "ecotone/base/files/journal.h"
#include "reader.h"

namespace {

using namespace ecotone;

using Record = std::pair<std::vector<std::pair<std::string, std::optional<double>>>, std::vector<std::int32_t>>;

/// Writes a valid journal to start from into the corpus folder, the first one on the command line.
void write_seed(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "seed-journal";
  std::filesystem::remove(path);
  Journal journal(path);
  Record record{{{"auroc", 0.5}, {"r2", std::nullopt}}, {1, 2, 3}};
  journal.add(Digest().add("one"), archived(record));
  journal.add(Digest().add("two"), "");
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  for (int i = 1; i < *argc; ++i) {
    if (!std::filesystem::is_directory((*argv)[i])) continue;
    write_seed((*argv)[i]);
    break;
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes = fuzz::text_of(data, size);
  fuzz::code_of([&] {
    const JournalScan scan = scan_journal(bytes, "f.journal");
    std::size_t end = 0;
    for (const JournalPlace& place : scan.records) {
      if (place.offset < end || place.length > bytes.size() - place.offset) fuzz::fail("a record lies outside");
      end = place.offset + place.length;
    }
    if (end > scan.end || scan.damaged > bytes.size()) fuzz::fail("a scan counts more bytes than there are");
  });
  if (std::optional<Record> record = unarchived<Record>(bytes); record && !unarchived<Record>(archived(*record)))
    fuzz::fail("a record that was read cannot be read again");
  return 0;
}
