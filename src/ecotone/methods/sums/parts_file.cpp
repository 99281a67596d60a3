#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "ecotone/base/digest.h"
#include "ecotone/base/error.h"
#include "ecotone/methods/sums/parts.h"
#include "ecotone/methods/sums/sums_route.h"
#include "ecotone/solve/moments/moments_file.h"
#include "ecotone/version.h"

/// Parts in files (`.eco`, safetensors): the metadata say what each part is of, under `part.` and its hash; its arrays
/// have names that begin with that hash.
namespace ecotone {
namespace {

constexpr const char* format_name = "ecotone-sums";
constexpr const char* part_key = "part.";
constexpr const char* target_prefix = ".target.";
constexpr std::uint64_t countable_rows = 9'000'000'000'000'000;  // a double counts them

Json about(const SumsPart& part) {
  Json class_groups = Json::array();
  for (const Moments& own : part.sums.of_class) class_groups.push_back(own.groups);
  Json json = {{"pipeline", part.pipeline},
               {"seed", part.seed},
               {"behind", part.behind},
               {"schema", part.schema.to_json()},
               {"task", task_name(part.sums.task)},
               {"classes", part.sums.classes},
               {"domains", part.sums.moments.groups},
               {"domains_of_classes", std::move(class_groups)},
               {"features", part.sums.moments.features},
               {"row_columns", part.sums.row_cols}};
  if (part.sums.has_targets()) json["targets"] = part.sums.targets.groups;
  if (!part.source.empty()) json["source"] = part.source;
  if (part.rarest > 0) json["rarest"] = part.rarest;
  return json;
}

void add_part(TensorWriter& writer, const std::string& id, const SumsPart& part) {
  try {
    writer.set_meta(part_key + id, about(part).dump());
  } catch (const Json::exception& error) {
    data_error("bad_encoding", "partial: a name of a column, class or domain is not UTF-8 text ({})", error.what());
  }
  add_moments(writer, id + ".", part.sums.moments);
  if (part.sums.has_targets()) add_moments(writer, id + target_prefix, part.sums.targets);
  // Of classes only what models need: the fewer sums, the less they tell of single rows.
  for (std::size_t c = 0; c < part.sums.of_class.size(); ++c) {
    const Moments& own = part.sums.of_class[c];
    const std::string prefix = fmt::format("{}.class.{}.", id, c);
    writer.add(prefix + "rows", std::vector<double>(own.rows.begin(), own.rows.end()), {own.rows.size()});
    writer.add(prefix + "x1", std::vector<double>(own.x1.data(), own.x1.data() + own.x1.size()),
               {own.x1.rows(), own.x1.cols()});
  }
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
    const auto targets = about_.contains("targets") ? names(about_["targets"]) : std::vector<std::string>();
    if (features.empty() || (domains.empty() && targets.empty())) bad("it has no columns or no domains");
    sums.row_cols = static_cast<Index>(std::min<std::uint64_t>(count("row_columns"), 1'000'000'000));
    if (about_.contains("source")) part.source = text("source");
    if (about_.contains("rarest")) part.rarest = static_cast<Index>(std::min(count("rarest"), countable_rows));
    check_columns(part, features);
    sums.moments = read_moments(file_, id_ + ".", {features, domains}, GramKind::double_precision);
    if (!targets.empty())
      sums.targets = read_moments(file_, id_ + target_prefix, {features, targets}, GramKind::double_precision);
    const Json& of_classes = member("domains_of_classes");
    if (!of_classes.is_array() || of_classes.size() != sums.classes.size())
      bad("'domains_of_classes' must be a list for every class");
    for (std::size_t c = 0; c < sums.classes.size(); ++c)
      sums.of_class.push_back(read_class(c, features, names(of_classes[c])));
    check(sums);
    if (static_cast<double>(part.rarest) > sums.rows() + sums.targets.rows.sum()) bad("'rarest' is more than all rows");
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

  /// The pipeline is one that can be learned from sums, and these are of the columns that it says.
  void check_columns(const SumsPart& part, const std::vector<std::string>& features) const {
    bool drawn = false;
    try {
      const Pipeline pipeline = Pipeline::parse(part.pipeline);
      require_sums(pipeline);
      if (pipeline.text() != part.pipeline) bad("'pipeline' is not in its canonical form");
      drawn = pipeline.stages().front().method->sums.drawn != nullptr;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::option) throw;
      bad(error.what());
    }
    if (!drawn && part.sums.row_cols != std::ssize(features)) bad("'row_columns' must be the number of columns");
    if (!part.behind.empty()) return;
    if (part.schema.has_codes()) bad("columns of codes are numbers to no stage");
    if (static_cast<std::size_t>(part.sums.row_cols) != part.schema.first_features().back() ||
        (!drawn && features != part.schema.feature_names()))
      bad("its columns are not those of its schema");
  }

  Moments read_class(std::size_t c, const std::vector<std::string>& features, std::vector<std::string> domains) const {
    const std::string prefix = fmt::format("{}.class.{}.", id_, c);
    const Index groups = std::ssize(domains), cols = std::ssize(features);
    const std::vector<double> rows = file_.doubles(prefix + "rows", {groups});
    const std::vector<double> x1 = file_.doubles(prefix + "x1", {groups, cols});
    for (const double value : x1)
      if (!std::isfinite(value)) bad("a sum of a class is not finite");
    for (const double value : rows)
      if (!(value >= 1 && value <= 9e15 && value == std::floor(value))) bad("rows of a class must be whole numbers");
    return sums_of_class(features, std::move(domains), Eigen::Map<const Vector>(rows.data(), groups),
                         Eigen::Map<const Matrix>(x1.data(), groups, cols));
  }

  /// The rows of classes must be those of the domains.
  void check(const RowSums& sums) const {
    for (const Moments* own : {&sums.moments, &sums.targets}) {
      if (std::ranges::count(own->labelled, 0) > 0) bad("a domain has no labels");
      if ((own->rows.array() < 1).any()) bad("a domain has no rows");
      if (own->weight != own->rows) bad("weights must be numbers of rows");
    }
    for (const std::string& name : sums.targets.groups)
      if (std::ranges::find(sums.moments.groups, name) != sums.moments.groups.end())
        bad(fmt::format("domain '{}' is a target and has labels", name));
    if (sums.has_targets() && (sums.targets.yy.array() != 0).any()) bad("a target has labels");
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

std::vector<SumsPart> parts_as_named(const TensorFile& file) {
  if (file.meta("format") != format_name)
    file_error("bad_sums", "{}: holds '{}', not sums of `ecotone partial`", file.origin(), file.meta("format"));
  if (file.meta("format_version") != "1")
    file_error("newer_format", "{}: sums of format {} are newer than this program, which knows 1", file.origin(),
               file.meta("format_version"));
  std::vector<SumsPart> parts;
  std::size_t arrays = 0;
  constexpr std::size_t of_domains = 8, of_class = 2;  // arrays, without Gram matrices
  for (const auto& [key, text] : file.metadata()) {
    if (!key.starts_with(part_key)) continue;
    parts.push_back(PartReader(file, key.substr(std::string_view(part_key).size())).read());
    const RowSums& sums = parts.back().sums;
    arrays += of_domains + of_class * sums.of_class.size() + sums.moments.gram.size();
    if (sums.has_targets()) arrays += of_domains + sums.targets.gram.size();
  }
  if (parts.empty()) file_error("bad_sums", "{}: holds no part", file.origin());
  if (file.names().size() != arrays) file_error("bad_sums", "{}: unexpected arrays", file.origin());
  return parts;
}

std::vector<SumsPart> parts_from(const TensorFile& file) {
  std::vector<SumsPart> parts = parts_as_named(file);
  for (const SumsPart& part : parts)
    if (!file.metadata().contains(part_key + part.id()))
      file_error("bad_sums", "{}: the content of a part does not match its name", file.origin());
  return parts;
}

std::vector<SumsPart> load_parts(const std::vector<std::filesystem::path>& paths) {
  std::vector<SumsPart> parts;
  for (const std::filesystem::path& path : paths)
    for (SumsPart& part : parts_from(TensorFile::map(path))) parts.push_back(std::move(part));
  return in_order(std::move(parts));
}

}  // namespace ecotone
