#include "ecotone/solve/moments/moments_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "ecotone/base/digest.h"
#include "ecotone/base/error.h"
#include "ecotone/base/json.h"

namespace ecotone {
namespace {

constexpr const char* format_name = "ecotone-moments";

std::vector<double> flat(const Matrix& m) { return {m.data(), m.data() + m.size()}; }
std::vector<double> flat(const Vector& v) { return {v.data(), v.data() + v.size()}; }

std::string dumped(const Json& json) {
  try {
    return json.dump();
  } catch (const Json::exception& error) {
    data_error("bad_encoding", "moments: a name of a column, class or domain is not UTF-8 text ({})", error.what());
  }
}

template <class Scalar>
void add_grams(TensorWriter& writer, const std::string& prefix, const std::vector<SymmetricTiles<Scalar>>& grams,
               DType type) {
  for (std::size_t g = 0; g < grams.size(); ++g) {
    const auto values = std::make_shared<const std::vector<Scalar>>(grams[g].values().begin(), grams[g].values().end());
    writer.add_stream(fmt::format("{}gram.{}", prefix, g), type, {static_cast<Index>(values->size())},
                      [values](const TensorWriter::Sink& sink) { sink(std::as_bytes(std::span(*values))); });
  }
}

/// A hash of all that a file holds.
Digest digest_of(const TensorFile& file) {
  Digest digest;
  for (const auto& [key, text] : file.metadata()) digest.add(key).add(text);
  for (const std::string& name : file.names()) {
    const auto bytes = file.tensor(name).bytes;
    digest.add(name).add(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  return digest;
}

/// Reads a file that may have been written by anyone.
class Reader {
 public:
  explicit Reader(const TensorFile& file, std::string prefix = "") : file_(file), prefix_(std::move(prefix)) {}

  /// A file that holds moments and nothing else.
  Moments read() const {
    check_format();
    MomentNames own{names("features"), names("groups"), names("classes")};
    if (own.features.empty() || own.groups.empty()) bad("no features or no domains");
    if (!own.classes.empty() && own.classes.size() != 2) bad("'classes' must hold two names or none");
    Moments m = read(std::move(own), kind_of(meta("gram")));
    if (file_.names().size() != 8 + m.gram.size() + m.single_gram.size()) bad("unexpected arrays");
    return m;
  }

  /// The arrays under the prefix.
  Moments read(MomentNames own, GramKind kind) const {
    Moments m;
    m.features = std::move(own.features);
    m.groups = std::move(own.groups);
    m.classes = std::move(own.classes);
    const auto p = static_cast<Index>(m.features.size());
    const auto g = static_cast<Index>(m.groups.size());
    for (const std::int64_t has : integers("labelled", g)) {
      if (has != 0 && has != 1) bad("'labelled' must be 0 or 1");
      m.labelled.push_back(static_cast<std::uint8_t>(has));
    }
    m.rows = vector("rows", g);
    check_rows(m.rows);
    m.weight = vector("weight", g);
    m.y1 = vector("y1", g);
    m.yy = vector("yy", g);
    m.x1 = matrix("x1", g, p);
    m.xy = matrix("xy", g, p);
    m.xx = matrix("xx", g, p);
    if ((m.rows.array() < 0).any() || (m.weight.array() < 0).any() || (m.yy.array() < 0).any() ||
        (m.xx.array() < 0).any())
      bad("a count, weight or sum of squares is negative");
    check_sums(m);
    if (kind == GramKind::double_precision) read_grams(m, m.gram, DType::f64);
    if (kind == GramKind::single_precision) read_grams(m, m.single_gram, DType::f32);
    return m;
  }

 private:
  const TensorFile& file_;
  std::string prefix_;

  [[noreturn]] void bad(const std::string& what) const { file_error("bad_moments", "{}: {}", file_.origin(), what); }

  const std::string& meta(const std::string& key) const {
    const auto found = file_.metadata().find(key);
    if (found == file_.metadata().end()) bad(fmt::format("'{}' is missing from the metadata", key));
    return found->second;
  }

  void check_format() const {
    if (meta("format") != format_name) bad(fmt::format("holds '{}', not moments", meta("format")));
    if (meta("format_version") != "1")
      file_error("newer_format", "{}: moments of format {} are newer than this program, which knows 1", file_.origin(),
                 meta("format_version"));
  }

  /// A list of distinct names.
  std::vector<std::string> names(const std::string& key) const {
    const Json list = Json::parse(meta(key), nullptr, false);
    if (!list.is_array()) bad(fmt::format("'{}' must be a list", key));
    std::vector<std::string> result;
    for (const Json& item : list) {
      if (!item.is_string()) bad(fmt::format("'{}' must be a list of text", key));
      result.push_back(item.get<std::string>());
    }
    if (std::set<std::string>(result.begin(), result.end()).size() != result.size())
      bad(fmt::format("'{}' holds duplicates", key));
    return result;
  }

  TensorView array(const std::string& own, DType type, const std::vector<Index>& shape) const {
    const std::string name = prefix_ + own;
    if (!file_.has(name)) bad(fmt::format("array '{}' is missing", name));
    TensorView view = file_.tensor(name);
    if (view.type != type || view.shape != shape) bad(fmt::format("array '{}' has the wrong type or shape", name));
    return view;
  }

  void require_finite(std::span<const double> values, const std::string& name) const {
    for (const double v : values)
      if (!std::isfinite(v)) bad(fmt::format("array '{}' holds a value that is not finite", name));
  }

  Vector vector(const std::string& name, Index size) const {
    const TensorView view = array(name, DType::f64, {size});
    Vector v(size);
    std::memcpy(v.data(), view.bytes.data(), view.bytes.size());
    require_finite({v.data(), static_cast<std::size_t>(v.size())}, name);
    return v;
  }

  Matrix matrix(const std::string& name, Index rows, Index cols) const {
    const TensorView view = array(name, DType::f64, {rows, cols});
    Matrix m(rows, cols);
    std::memcpy(m.data(), view.bytes.data(), view.bytes.size());
    require_finite({m.data(), static_cast<std::size_t>(m.size())}, name);
    return m;
  }

  /// Counts must fit a whole number, so that callers may convert them.
  void check_rows(const Vector& rows) const {
    constexpr double largest = 9007199254740992.0;  // 2^53
    if ((rows.array().floor() != rows.array()).any() || !(rows.sum() <= largest))
      bad("array 'rows' holds values that are not whole numbers or are too large");
  }

  /// (sum w a b)^2 <= (sum w a^2) (sum w b^2), up to rounding and to squares that vanish.
  static bool possible(double product, double a, double b) {
    constexpr double vanished = 1e-150;
    return std::abs(product) <= (1 + 1e-6) * (std::sqrt(a) + vanished) * (std::sqrt(b) + vanished);
  }

  /// Sums that no rows have would end in a computation that makes no sense.
  void check_sums(const Moments& m) const {
    for (Index g = 0; g < m.group_count(); ++g) {
      const auto impossible = [&](const char* sum, const char* squares) {
        bad(fmt::format("'{}' of group '{}' is not possible with {}", sum, m.groups[at(g)], squares));
      };
      if (!possible(m.y1[g], m.weight[g], m.yy[g])) impossible("y1", "'yy' and 'weight'");
      for (Index j = 0; j < m.cols(); ++j) {
        if (!possible(m.x1(g, j), m.weight[g], m.xx(g, j))) impossible("x1", "'xx' and 'weight'");
        if (!possible(m.xy(g, j), m.xx(g, j), m.yy[g])) impossible("xy", "'xx' and 'yy'");
      }
    }
  }

  std::vector<std::int64_t> integers(const std::string& name, Index size) const {
    const TensorView view = array(name, DType::i64, {size});
    std::vector<std::int64_t> values(static_cast<std::size_t>(size));
    std::memcpy(values.data(), view.bytes.data(), view.bytes.size());
    return values;
  }

  GramKind kind_of(const std::string& name) const {
    for (const GramKind kind : {GramKind::none, GramKind::double_precision, GramKind::single_precision})
      if (name == gram_name(kind)) return kind;
    bad(fmt::format("unknown kind of Gram matrix '{}'", name));
  }

  template <class Scalar>
  void read_grams(const Moments& m, std::vector<SymmetricTiles<Scalar>>& grams, DType type) const {
    for (std::size_t g = 0; g < m.groups.size(); ++g) {
      const Index size = m.labelled[g] != 0 ? m.cols() : 0;
      const std::string name = fmt::format("gram.{}", g);
      // Its length is checked before memory is allocated.
      const auto length = static_cast<Index>(SymmetricTiles<Scalar>::bytes(size) / sizeof(Scalar));
      const TensorView view = array(name, type, {length});
      grams.emplace_back(size);
      if (!view.bytes.empty()) std::memcpy(grams.back().values().data(), view.bytes.data(), view.bytes.size());
      for (const Scalar v : grams.back().values())
        if (!std::isfinite(v)) bad(fmt::format("array '{}' holds a value that is not finite", name));
    }
  }
};

}  // namespace

std::string_view gram_name(GramKind kind) {
  switch (kind) {
    case GramKind::none:
      return "none";
    case GramKind::double_precision:
      return "double";
    case GramKind::single_precision:
      return "single";
  }
  internal_error("kind of Gram matrix {} has no name", static_cast<int>(kind));
}

void add_moments(TensorWriter& writer, const std::string& prefix, const Moments& m) {
  const Index g = m.group_count();
  const Index p = m.cols();
  writer.add(prefix + "labelled", std::vector<std::int64_t>(m.labelled.begin(), m.labelled.end()), {g});
  writer.add(prefix + "rows", flat(m.rows), {g});
  writer.add(prefix + "weight", flat(m.weight), {g});
  writer.add(prefix + "y1", flat(m.y1), {g});
  writer.add(prefix + "yy", flat(m.yy), {g});
  writer.add(prefix + "x1", flat(m.x1), {g, p});
  writer.add(prefix + "xy", flat(m.xy), {g, p});
  writer.add(prefix + "xx", flat(m.xx), {g, p});
  add_grams(writer, prefix, m.gram, DType::f64);
  add_grams(writer, prefix, m.single_gram, DType::f32);
}

Moments read_moments(const TensorFile& file, const std::string& prefix, MomentNames names, GramKind kind) {
  return Reader(file, prefix).read(std::move(names), kind);
}

TensorWriter moments_tensors(const Moments& m) {
  TensorWriter writer;
  writer.set_meta("format", format_name);
  writer.set_meta("format_version", "1");
  writer.set_meta("features", dumped(m.features));
  writer.set_meta("groups", dumped(m.groups));
  writer.set_meta("classes", dumped(m.classes));
  writer.set_meta("gram", std::string(gram_name(m.gram_kind())));
  add_moments(writer, "", m);
  return writer;
}

bool holds_moments(const std::filesystem::path& path) {
  if (path.extension() != ".eco") return false;
  const TensorFile file = TensorFile::map(path);
  const auto& meta = file.metadata();
  const auto format = meta.find("format");
  return format != meta.end() && format->second == format_name;
}

Moments load_moments(const std::filesystem::path& path) { return moments_from(TensorFile::map(path)); }

Moments load_moments(const std::vector<std::filesystem::path>& paths) {
  std::map<Digest, std::filesystem::path> seen;
  Moments sum;
  for (const std::filesystem::path& path : paths) {
    const TensorFile file = TensorFile::map(path);
    Moments own = moments_from(file);
    if (const auto [first, is_new] = seen.emplace(digest_of(file), path); !is_new)
      data_error("same_part", "moments: {} and {} hold the same sums, and the same rows must not count twice",
                 first->second.string(), path.string());
    if (seen.size() == 1)
      sum = std::move(own);
    else
      sum.merge(own);
  }
  return sum;
}

Moments moments_from(const TensorFile& file) { return Reader(file).read(); }

}  // namespace ecotone
