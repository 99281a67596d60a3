#include "ecotone/data/formats/csv/header.h"

#include "ecotone/base/error.h"
#include "ecotone/base/files/file.h"
#include "ecotone/base/files/gzip.h"
#include "ecotone/data/formats/csv/table.h"
#include "ecotone/data/formats/format.h"

namespace ecotone {

namespace {

constexpr std::size_t beginning = std::size_t{1} << 18;

std::string first_bytes(const std::filesystem::path& path) {
  std::string text(beginning, '\0');
  const InputFile file(path);
  text.resize(is_gzip(file) ? GzipReader(path).read(text) : file.read(0, text));
  return text;
}

/// The names of columns at the beginning of a file. A header without an end gives none, as its last name may be cut.
std::vector<std::string> names_in(std::string text, const std::string& name, const Context& context) {
  if (text.size() == beginning && text.find('\n') == std::string::npos) return {};
  const ByteSource source = ByteSource::memory(std::move(text), name);
  const Format* by_name = format_by_ending(name);
  if ((by_name ? *by_name : format_by_content(source)).name != "csv") return {};
  return CsvTable::open({source}, context).names();
}

}  // namespace

std::vector<std::string> csv_columns(const std::filesystem::path& path, const Context& context) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};  // a pipe would be emptied
  try {
    return names_in(first_bytes(path), path.string(), context);
  } catch (const Error&) {
    return {};
  }
}

}  // namespace ecotone
