#include "ecotone/base/files/tensor_header.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/base/json.h"

namespace ecotone {

namespace {

constexpr std::array<std::pair<DType, std::string_view>, 5> dtype_names{
    {{DType::f64, "F64"}, {DType::f32, "F32"}, {DType::i64, "I64"}, {DType::i32, "I32"}, {DType::u8, "U8"}}};

constexpr std::uint64_t most_header_bytes = 100'000'000;

/// Text from a file for use in a message: short, and without control characters.
std::string shown(std::string_view text) {
  std::string result;
  for (const char c : text.substr(0, 80)) result += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? '?' : c;
  return text.size() > 80 ? result + "..." : result;
}

/// Takes the events of the JSON parser and accepts only what a safetensors header may contain, so that the depth is at
/// most three whatever the file holds. The entry of a tensor: {"NAME": {"dtype": "F64", "shape": [..], "data_offsets":
/// [begin, end]}}.
class HeaderHandler : public nlohmann::json_sax<Json> {
 public:
  explicit HeaderHandler(TensorHeader& header) : header_(header) {}

  const std::string& problem() const { return problem_; }

  bool null() override { return unexpected("null"); }
  bool boolean(bool) override { return unexpected("true or false"); }
  bool number_integer(number_integer_t value) override { return unexpected(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { return unexpected(shown(text)); }
  bool binary(binary_t&) override { return unexpected("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (place_ != Place::shape && place_ != Place::offsets) return unexpected(std::to_string(value));
    if (value > static_cast<std::uint64_t>(std::numeric_limits<Index>::max()))
      return fail(fmt::format("tensor '{}' has the number {}, which is too large", shown(name_), value));
    if (place_ == Place::shape) tensor_.shape.push_back(static_cast<Index>(value));
    if (place_ == Place::offsets && offsets_ < 2) (offsets_ == 0 ? tensor_.begin : tensor_.end) = value;
    if (place_ == Place::offsets) ++offsets_;
    return true;
  }

  bool string(string_t& value) override {
    if (place_ == Place::metadata) {
      header_.metadata[key_] = std::move(value);
      return true;
    }
    if (place_ != Place::tensor || key_ != "dtype") return unexpected("text");
    const auto type = dtype_of(value);
    if (!type) return fail(fmt::format("tensor '{}' has the unknown type '{}'", shown(name_), shown(value)));
    tensor_.type = *type;
    return true;
  }

  bool start_object(std::size_t) override {
    if (place_ == Place::outside) {
      place_ = Place::top;
    } else if (place_ == Place::top) {
      place_ = key_ == "__metadata__" ? Place::metadata : Place::tensor;
      name_ = key_;
      tensor_ = {};
      seen_ = {};
    } else {
      return unexpected("an object");
    }
    return true;
  }

  bool key(string_t& value) override {
    key_ = std::move(value);
    if (place_ == Place::metadata) return !header_.metadata.contains(key_) || repeated("metadata key");
    if (place_ == Place::top) {
      if (key_ == "__metadata__") return !std::exchange(metadata_seen_, true) || repeated("key");
      return !header_.tensors.contains(key_) || repeated("tensor");
    }
    const auto field = std::find(fields.begin(), fields.end(), key_);
    if (field == fields.end())
      return fail(fmt::format("tensor '{}' has the unknown field '{}'", shown(name_), shown(key_)));
    return !std::exchange(seen_[at(field - fields.begin())], true) || repeated("field");
  }

  bool end_object() override {
    if (place_ == Place::tensor) {
      for (std::size_t i = 0; i < fields.size(); ++i)
        if (!seen_[i]) return fail(fmt::format("tensor '{}' has no {}", shown(name_), fields[i]));
      header_.tensors[name_] = std::move(tensor_);
    }
    place_ = place_ == Place::top ? Place::outside : Place::top;
    return true;
  }

  bool start_array(std::size_t) override {
    if (place_ == Place::tensor && key_ == "shape") {
      place_ = Place::shape;
    } else if (place_ == Place::tensor && key_ == "data_offsets") {
      place_ = Place::offsets;
      offsets_ = 0;
    } else {
      return unexpected("a list");
    }
    return true;
  }

  bool end_array() override {
    if (place_ == Place::offsets && offsets_ != 2)
      return fail(fmt::format("tensor '{}' has {} data_offsets, needs 2", shown(name_), offsets_));
    place_ = Place::tensor;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    return fail(fmt::format("the header is not valid JSON at byte {}", position));
  }

 private:
  enum class Place { outside, top, metadata, tensor, shape, offsets };
  static constexpr std::array<std::string_view, 3> fields{"dtype", "shape", "data_offsets"};

  TensorHeader& header_;
  Place place_ = Place::outside;
  std::string key_, name_, problem_;
  TensorInfo tensor_;
  std::array<bool, 3> seen_{};
  bool metadata_seen_ = false;
  std::size_t offsets_ = 0;

  bool fail(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
    return false;
  }
  bool unexpected(const std::string& what) {
    switch (place_) {
      case Place::outside:
        return fail("the header is not a JSON object");
      case Place::top:
        return fail(fmt::format("header entry '{}' is {}, must be an object", shown(key_), what));
      case Place::metadata:
        return fail(fmt::format("metadata key '{}' is {}, must be text", shown(key_), what));
      case Place::tensor:
      case Place::shape:
      case Place::offsets:
        break;
    }
    return fail(fmt::format("{} of tensor '{}' cannot be {}", shown(key_), shown(name_), what));
  }
  bool repeated(std::string_view what) { return fail(fmt::format("{} '{}' occurs twice", what, shown(key_))); }
};

/// The arrays must fill the data from start to end, without gaps or overlaps.
std::string layout_problem(const TensorHeader& header, std::size_t data_size) {
  std::vector<std::pair<const std::string*, const TensorInfo*>> order;
  for (const auto& [name, info] : header.tensors) {
    if (info.begin > info.end || info.end > data_size)
      return fmt::format("tensor '{}' lies at bytes {} to {}, but there are {} bytes of data", shown(name), info.begin,
                         info.end, data_size);
    const auto needed = tensor_bytes(info.type, info.shape);
    if (!needed)
      return fmt::format("tensor '{}' has the shape {}, which is too large", shown(name), shape_text(info.shape));
    if (*needed != info.end - info.begin)
      return fmt::format("tensor '{}' has {} bytes, but shape {} of {} needs {}", shown(name), info.end - info.begin,
                         shape_text(info.shape), dtype_name(info.type), *needed);
    order.emplace_back(&name, &info);
  }
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second->begin, a.second->end) < std::pair(b.second->begin, b.second->end);
  });
  std::size_t at = 0;
  for (const auto& [name, info] : order) {
    if (info->begin != at)
      return fmt::format("tensor '{}' begins at byte {}, must begin at {}", shown(*name), info->begin, at);
    at = info->end;
  }
  if (at != data_size) return fmt::format("the tensors have {} bytes, but the file has {}", at, data_size);
  return "";
}

}  // namespace

std::size_t element_size(DType type) {
  switch (type) {
    case DType::f64:
    case DType::i64:
      return 8;
    case DType::f32:
    case DType::i32:
      return 4;
    case DType::u8:
      break;
  }
  return 1;
}

std::string_view dtype_name(DType type) {
  for (const auto& [known, name] : dtype_names)
    if (known == type) return name;
  internal_error("dtype {} has no name", static_cast<int>(type));
}

std::optional<DType> dtype_of(std::string_view name) {
  for (const auto& [type, known] : dtype_names)
    if (known == name) return type;
  return std::nullopt;
}

std::string shape_text(const std::vector<Index>& shape) {
  // A damaged file may list a million sizes; the message shows the first few.
  constexpr std::size_t most = 8;
  std::string text = "[";
  for (std::size_t i = 0; i < std::min(shape.size(), most); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + (shape.size() > most ? ", ...]" : "]");
}

std::optional<std::size_t> tensor_bytes(DType type, const std::vector<Index>& shape) {
  auto bytes = static_cast<Index>(element_size(type));
  for (const Index size : shape)
    if (size < 0 || __builtin_mul_overflow(bytes, size, &bytes)) return std::nullopt;
  return static_cast<std::size_t>(bytes);
}

TensorHeader parse_tensor_file(std::span<const std::byte> bytes, const std::string& origin) {
  const auto check = [&](const std::string& problem) {
    if (!problem.empty()) file_error("bad_model", "{}: {}", origin, problem);
  };
  std::uint64_t size = 0;
  if (bytes.size() < sizeof(size))
    check(fmt::format("has {} bytes, too few for an ecotone file (safetensors)", bytes.size()));
  std::memcpy(&size, bytes.data(), sizeof(size));
  if (size > most_header_bytes || size > bytes.size() - sizeof(size))
    check(
        fmt::format("is not an ecotone file (safetensors), or is truncated: it announces a header of {} bytes and has "
                    "{} bytes in all",
                    size, bytes.size()));
  TensorHeader header;
  header.data_begin = sizeof(size) + size;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + sizeof(size), size);
  // The parser would take a zero byte for the end of its input.
  if (!text.starts_with('{') || text.find('\0') != std::string_view::npos)
    check("is not an ecotone file (safetensors): the header is not a JSON object");
  HeaderHandler handler(header);
  if (!Json::sax_parse(text.begin(), text.end(), &handler))
    check(handler.problem().empty() ? "the header is not valid JSON" : handler.problem());
  check(layout_problem(header, bytes.size() - header.data_begin));
  return header;
}

}  // namespace ecotone
