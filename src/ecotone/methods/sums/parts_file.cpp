#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "ecotone/base/digest.h"
#include "ecotone/base/error.h"
#include "ecotone/methods/sums/parts.h"
#include "ecotone/solve/moments/moments_file.h"
#include "ecotone/version.h"

/// Parts in files (`.eco`, safetensors): the metadata say what each part is of, under `part.` and its hash; its arrays
/// have names that begin with that hash.
namespace ecotone {
namespace {

constexpr const char* format_name = "ecotone-sums";
constexpr const char* part_key = "part.";

Json about(const SumsPart& part) {
  Json class_groups = Json::array();
  for (const Moments& own : part.sums.of_class) class_groups.push_back(own.groups);
  return {{"pipeline", part.pipeline},
          {"seed", part.seed},
          {"behind", part.behind},
          {"schema", part.schema.to_json()},
          {"task", task_name(part.sums.task)},
          {"classes", part.sums.classes},
          {"domains", part.sums.moments.groups},
          {"domains_of_classes", std::move(class_groups)},
          {"features", part.sums.moments.features},
          {"row_columns", part.sums.row_cols}};
}

void add_part(TensorWriter& writer, const std::string& id, const SumsPart& part) {
  try {
    writer.set_meta(part_key + id, about(part).dump());
  } catch (const Json::exception& error) {
    data_error("bad_encoding", "partial: a name of a column, class or domain is not UTF-8 text ({})", error.what());
  }
  add_moments(writer, id + ".", part.sums.moments);
  for (std::size_t c = 0; c < part.sums.of_class.size(); ++c)
    add_moments(writer, fmt::format("{}.class.{}.", id, c), part.sums.of_class[c]);
}

/// Reads one part of a file that may have been written by anyone.
class PartReader {
 public:
  PartReader(const TensorFile& file, std::string id) : file_(file), id_(std::move(id)) {
    about_ = Json::parse(file.meta(part_key + id_), nullptr, false);
    if (!about_.is_object()) bad("its description is not an object");
  }

  SumsPart read() const {
    SumsPart part{
        text("pipeline"), count("seed"), text("behind"), Schema::from_json(member("schema"), file_.origin()), {}};
    RowSums& sums = part.sums;
    sums.task = task();
    sums.classes = names(member("classes"));
    const std::vector<std::string> features = names(member("features")), domains = names(member("domains"));
    if (features.empty() || domains.empty()) bad("it has no columns or no domains");
    sums.row_cols = static_cast<Index>(count("row_columns"));
    sums.moments = read_moments(file_, id_ + ".", {features, domains}, GramKind::double_precision);
    if (std::ranges::count(sums.moments.labelled, 0) > 0) bad("a domain has no labels");
    const Json& of_classes = member("domains_of_classes");
    if (!of_classes.is_array() || of_classes.size() != sums.classes.size())
      bad("'domains_of_classes' must be a list for every class");
    for (std::size_t c = 0; c < sums.classes.size(); ++c)
      sums.of_class.push_back(
          read_moments(file_, fmt::format("{}.class.{}.", id_, c), {features, names(of_classes[c])}, GramKind::none));
    check(sums);
    if (part.id() != id_) bad("its content does not match its name");
    return part;
  }

 private:
  const TensorFile& file_;
  std::string id_;
  Json about_;

  [[noreturn]] void bad(const std::string& what) const {
    file_error("bad_sums", "{}: part {}: {}", file_.origin(), id_.substr(0, 8), what);
  }
  const Json& member(const char* key) const {
    const auto found = about_.find(key);
    if (found == about_.end()) bad(fmt::format("'{}' is missing", key));
    return *found;
  }
  std::string text(const char* key) const {
    if (!member(key).is_string()) bad(fmt::format("'{}' must be text", key));
    return member(key).get<std::string>();
  }
  std::uint64_t count(const char* key) const {
    if (!member(key).is_number_unsigned()) bad(fmt::format("'{}' must be a whole number", key));
    return member(key).get<std::uint64_t>();
  }
  std::vector<std::string> names(const Json& list) const {
    if (!list.is_array() || !std::ranges::all_of(list, [](const Json& item) { return item.is_string(); }))
      bad("names must be a list of text");
    auto result = list.get<std::vector<std::string>>();
    if (std::set<std::string>(result.begin(), result.end()).size() != result.size()) bad("a name is there twice");
    return result;
  }
  Task task() const {
    for (const Task each : {Task::classify, Task::regress})
      if (text("task") == task_name(each)) return each;
    bad(fmt::format("unknown task '{}'", text("task")));
  }

  /// The rows of classes must be those of the domains.
  void check(const RowSums& sums) const {
    if ((sums.moments.rows.array() < 1).any()) bad("a domain has no rows");
    if (sums.moments.weight != sums.moments.rows) bad("weights must be numbers of rows");
    if (sums.task == Task::regress && !sums.classes.empty()) bad("numbers have no classes");
    if (sums.classes.empty()) return;
    Vector rows = Vector::Zero(sums.moments.group_count());
    for (const Moments& own : sums.of_class)
      for (Index g = 0; g < own.group_count(); ++g) {
        const auto found = std::ranges::find(sums.moments.groups, own.groups[at(g)]);
        if (found == sums.moments.groups.end()) bad("a class has rows in an unknown domain");
        rows[found - sums.moments.groups.begin()] += own.rows[g];
      }
    if (rows != sums.moments.rows) bad("the rows of classes are not those of the domains");
  }
};

}  // namespace

std::string SumsPart::id() const {
  TensorWriter writer;
  add_part(writer, "part", *this);
  const auto words = Digest().add(std::string_view(writer.bytes())).words();
  return fmt::format("{:016x}{:016x}", words[0], words[1]);
}

TensorWriter parts_tensors(const std::vector<SumsPart>& parts) {
  TensorWriter writer;
  writer.set_meta("format", format_name);
  writer.set_meta("format_version", "1");
  writer.set_meta("version", std::string(version));
  for (const SumsPart& part : parts) add_part(writer, part.id(), part);
  return writer;
}

bool holds_parts(const std::filesystem::path& path) {
  if (path.extension() != ".eco") return false;
  const TensorFile file = TensorFile::map(path);
  const auto format = file.metadata().find("format");
  return format != file.metadata().end() && format->second == format_name;
}

std::vector<SumsPart> parts_from(const TensorFile& file) {
  if (file.meta("format") != format_name)
    file_error("bad_sums", "{}: holds '{}', not sums of `ecotone partial`", file.origin(), file.meta("format"));
  if (file.meta("format_version") != "1")
    file_error("newer_format", "{}: sums of format {} are newer than this program, which knows 1", file.origin(),
               file.meta("format_version"));
  std::vector<SumsPart> parts;
  std::size_t arrays = 0;
  constexpr std::size_t linear = 8;  // arrays of moments without Gram matrices
  for (const auto& [key, text] : file.metadata()) {
    if (!key.starts_with(part_key)) continue;
    parts.push_back(PartReader(file, key.substr(std::string_view(part_key).size())).read());
    arrays += linear * (1 + parts.back().sums.of_class.size()) + parts.back().sums.moments.gram.size();
  }
  if (parts.empty()) file_error("bad_sums", "{}: holds no part", file.origin());
  if (file.names().size() != arrays) file_error("bad_sums", "{}: unexpected arrays", file.origin());
  return parts;
}

std::vector<SumsPart> load_parts(const std::vector<std::filesystem::path>& paths) {
  std::vector<SumsPart> parts;
  for (const std::filesystem::path& path : paths)
    for (SumsPart& part : parts_from(TensorFile::map(path))) parts.push_back(std::move(part));
  return in_order(std::move(parts));
}

}  // namespace ecotone
