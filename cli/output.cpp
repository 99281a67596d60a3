#include "cli/output.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "ecotone/base/error.h"
#include "ecotone/data/ordered.h"

namespace ecotone::cli {
namespace {

/// errno of the failure, or 0.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

bool plain(const Json& value) { return !value.is_structured() || value.empty(); }

std::string scalar_text(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

void append_json(std::string& text, const Json& value, std::size_t depth) {
  const std::string indent(2 * depth + 2, ' ');
  if (plain(value)) {
    text += scalar_text(value);
  } else if (value.is_array() && std::all_of(value.begin(), value.end(), plain)) {
    text += '[';
    for (std::size_t i = 0; i < value.size(); ++i) text += (i ? ", " : "") + scalar_text(value[i]);
    text += ']';
  } else {
    text += value.is_array() ? '[' : '{';
    bool first = true;
    for (const auto& [key, item] : value.items()) {
      text += (first ? "\n" : ",\n") + indent;
      first = false;
      if (value.is_object()) text += scalar_text(key) + ": ";
      append_json(text, item, depth + 1);
    }
    text += '\n' + indent.substr(2) + (value.is_array() ? ']' : '}');
  }
}

}  // namespace

void write_standard_output(std::string_view text) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error == EPIPE) throw ClosedPipe{};
  if (error != 0) file_error("cannot_write", "standard output: {}", std::strerror(error));
}

void write_standard_error(std::string_view text) { write_all(STDERR_FILENO, text); }

std::string json_text(const Json& value) {
  std::string text;
  append_json(text, value, 0);
  return text + '\n';
}

Output::Output(const std::string& path)
    : file_(path.empty() || path == "-" ? nullptr : std::make_unique<AtomicFile>(path)) {}

void Output::write(std::string_view text) {
  if (file_) {
    file_->write(text);
  } else {
    write_standard_output(text);
  }
}

void Output::commit() {
  if (file_) file_->commit();
}

void write_rows(Output& output, Index rows, Index rows_at_once, const AppendRows& append, const Context& context) {
  in_order((rows + rows_at_once - 1) / rows_at_once, context,
           [&](Index piece, std::string& text) {
             const Index first = piece * rows_at_once;
             append(first, std::min(rows, first + rows_at_once), text);
           },
           [&](std::string_view text) { output.write(text); });
}

}  // namespace ecotone::cli
