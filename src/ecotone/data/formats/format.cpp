#include "ecotone/data/formats/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/base/options.h"
#include "ecotone/data/formats/arrays.h"
#include "ecotone/data/formats/number.h"
#include "ecotone/data/formats/roles.h"

namespace ecotone {

#define FORMAT(id) Format id##_format();
#include "ecotone/data/formats/formats.def"
#undef FORMAT

const std::vector<Format>& formats() {
  static const std::vector<Format> all = {
#define FORMAT(id) id##_format(),
#include "ecotone/data/formats/formats.def"
#undef FORMAT
  };
  return all;
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const Format& format : formats()) names.push_back(format.name);
  return names;
}

const Format& format_by_name(std::string_view name) {
  for (const Format& format : formats())
    if (format.name == name) return format;
  const std::string near = did_you_mean(name, format_names());
  option_error("bad_format", "--format must be one of {}, got '{}'{}", fmt::join(format_names(), ", "), name,
               near.empty() ? "" : fmt::format("; did you mean '{}'?", near));
}

const Format* format_by_ending(const std::filesystem::path& path) {
  std::string name = lower_case(path.filename().string());
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  for (const Format& format : formats())
    for (const std::string& ending : format.endings)
      if (name.ends_with(ending)) return &format;
  return nullptr;
}

namespace {

/// Files that people have and that are not read here.
struct ForeignFormat {
  const char* title;
  std::string_view magic;   ///< what they begin with
  std::string_view inside;  ///< what the first bytes contain; empty: nothing else
  const char* reader;       ///< of pandas
};

constexpr ForeignFormat foreign_formats[] = {
    {"a Parquet file", "PAR1", "", "read_parquet"},
    {"an Excel workbook", std::string_view("PK\x03\x04", 4), "[Content_Types].xml", "read_excel"},
    {"an old Excel workbook", "\xD0\xCF\x11\xE0", "", "read_excel"},
    {"a Feather file", "ARROW1", "", "read_feather"},
    {"a Stata file", "<stata_dta>", "", "read_stata"},
};

std::string first_bytes(const ByteSource& source) { return source.text(0, std::min<std::size_t>(source.size(), 4096)); }

}  // namespace

std::string shell_word(std::string_view text) {
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'')
      word += "'\\''";
    else
      word += c;
  }
  word += '\'';
  return word;
}

bool is_standard_input(const ByteSource& source) { return source.name() == "/dev/stdin"; }

void refuse_foreign(const ByteSource& source) {
  const std::string start = first_bytes(source);
  for (const ForeignFormat& each : foreign_formats) {
    if (!start.starts_with(each.magic) || start.find(each.inside) == std::string::npos) continue;
    const bool piped = is_standard_input(source);
    const std::filesystem::path name = source.name();
    std::string made = piped ? "data.csv" : source.stem() + ".csv";
    if (name.filename() == made) made = source.stem() + "-converted.csv";
    // The names are arguments, so that neither the shell nor Python reads anything into them.
    file_error("foreign_format",
               "{} is {}, which is not read here; {}this makes a CSV file of it: python3 -c 'import sys, pandas; "
               "pandas.{}(sys.argv[1]).to_csv(sys.argv[2], index=False)' {} {}",
               piped ? "standard input" : source.name(), each.title, piped ? "save it as a file, and " : "",
               each.reader, piped ? "FILE" : shell_word(source.name()), shell_word(made));
  }
}

const Format& format_by_content(const ByteSource& source) {
  const std::string start = first_bytes(source);
  for (const Format& format : formats())
    if (format.looks_like && format.looks_like(start)) return format;
  return format_by_name("csv");
}

Dataset read_files(const Format& format, InputFiles files, const ReadOptions& options, const Context& context) {
  if (!format.rows) return format.read(std::move(files), options, context);
  return arrays_dataset(read_arrays(format, files.sources, options, context), files.sources, options, context);
}

Dataset read_files_for_model(const Format& format, InputFiles files, const Schema& schema, const ReadOptions& options,
                             std::vector<TextColumn>& passed, const Context& context) {
  if (!format.passes_text && (!options.id.empty() || !options.keep.empty()))
    option_error("no_text_columns", "--id and --keep pass columns of CSV files through; {} is {}",
                 files.paths.front().string(), format.name);
  if (!format.rows) return format.read_for_model(std::move(files), schema, options, passed, context);
  refuse_features_as_roles(schema, options);
  return match_by_position(read_files(format, files, options, context), schema, files.sources.front().name(), context);
}

}  // namespace ecotone
