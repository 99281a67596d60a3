#include "ecotone/base/files/tensor_file.h"

#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/base/files/tensor_header.h"
#include "ecotone/base/memory.h"

namespace ecotone {

static_assert(std::endian::native == std::endian::little, "tensor files are little-endian");

namespace {

[[noreturn]] void bad_model(const std::string& origin, const std::string& what) {
  file_error("bad_model", "{}: {}", origin, what);
}

bool shape_matches(const std::vector<Index>& shape, const std::vector<Index>& expected) {
  if (shape.size() != expected.size()) return false;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (expected[i] != -1 && expected[i] != shape[i]) return false;
  return true;
}

std::string expected_text(std::vector<Index> shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i)
    text += (i == 0 ? "" : ", ") + (shape[i] == -1 ? std::string("any") : std::to_string(shape[i]));
  return text + "]";
}

template <class T>
std::vector<T> typed(const TensorFile& file, const std::string& name, DType type, const std::vector<Index>& shape) {
  const TensorView view = file.tensor(name);
  if (view.type != type)
    bad_model(file.origin(),
              fmt::format("tensor '{}' is {}, must be {}", name, dtype_name(view.type), dtype_name(type)));
  if (!shape_matches(view.shape, shape))
    bad_model(file.origin(), fmt::format("tensor '{}' has the shape {}, must be {}", name, shape_text(view.shape),
                                         expected_text(shape)));
  std::vector<T> values(view.bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), view.bytes.data(), view.bytes.size());
  return values;
}

}  // namespace

Index TensorView::elements() const { return static_cast<Index>(bytes.size() / element_size(type)); }

struct TensorFile::State {
  std::string origin;
  std::string owned;
  std::optional<MappedFile> mapped;
  std::span<const std::byte> data;  // after the header
  TensorHeader header;

  void open(std::span<const std::byte> bytes) {
    header = parse_tensor_file(bytes, origin);
    data = bytes.subspan(header.data_begin);
  }
};

TensorFile TensorFile::parse(std::string bytes, const std::string& name) {
  auto state = std::make_shared<State>();
  state->origin = name;
  state->owned = std::move(bytes);
  state->open(std::as_bytes(std::span<const char>(state->owned)));
  TensorFile file;
  file.state_ = std::move(state);
  return file;
}

TensorFile TensorFile::read(const std::filesystem::path& path) {
  const InputFile input(path);
  require_memory(input.size(), path.string(), "reading the file", "close other programs or use a larger machine");
  std::string bytes(input.size(), '\0');
  bytes.resize(input.read(0, bytes));
  return parse(std::move(bytes), path.string());
}

TensorFile TensorFile::map(const std::filesystem::path& path) {
  auto state = std::make_shared<State>();
  state->origin = path.string();
  state->mapped.emplace(path);
  state->open(state->mapped->bytes());
  TensorFile file;
  file.state_ = std::move(state);
  return file;
}

const std::map<std::string, std::string>& TensorFile::metadata() const { return state_->header.metadata; }

const std::string& TensorFile::meta(const std::string& key) const {
  const auto found = metadata().find(key);
  if (found == metadata().end()) bad_model(origin(), fmt::format("the metadata have no '{}'", key));
  return found->second;
}

bool TensorFile::has(const std::string& tensor) const { return state_->header.tensors.contains(tensor); }

std::vector<std::string> TensorFile::names() const {
  std::vector<std::string> names;
  for (const auto& [name, info] : state_->header.tensors) names.push_back(name);
  return names;
}

TensorView TensorFile::tensor(const std::string& name) const {
  const auto found = state_->header.tensors.find(name);
  if (found == state_->header.tensors.end()) bad_model(origin(), fmt::format("there is no tensor '{}'", name));
  const TensorInfo& info = found->second;
  return {info.type, info.shape, state_->data.subspan(info.begin, info.end - info.begin)};
}

std::vector<double> TensorFile::doubles(const std::string& name, const std::vector<Index>& shape) const {
  return typed<double>(*this, name, DType::f64, shape);
}

std::vector<std::int64_t> TensorFile::integers(const std::string& name, const std::vector<Index>& shape) const {
  return typed<std::int64_t>(*this, name, DType::i64, shape);
}

std::vector<double> TensorFile::numbers(const std::string& name, const std::vector<Index>& shape) const {
  switch (tensor(name).type) {
    case DType::i32: {
      const auto values = typed<std::int32_t>(*this, name, DType::i32, shape);
      return {values.begin(), values.end()};
    }
    case DType::u8: {
      const auto values = typed<std::uint8_t>(*this, name, DType::u8, shape);
      return {values.begin(), values.end()};
    }
    default:
      return doubles(name, shape);
  }
}

const std::string& TensorFile::origin() const { return state_->origin; }

}  // namespace ecotone
