#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "ecotone/base/context.h"
#include "ecotone/base/files/file.h"
#include "ecotone/base/json.h"

namespace ecotone::cli {

/// The reader of standard output has closed it: the run ends quietly.
struct ClosedPipe {};

/// Writes all of it; throws ClosedPipe, or a `file` error (`cannot_write`) when the device is full.
void write_standard_output(std::string_view text);
/// Writes what can be written and ignores failures.
void write_standard_error(std::string_view text);

/// JSON for people and programs: objects indented, arrays of plain values on one line, invalid UTF-8 replaced, with a
/// final newline.
std::string json_text(const Json& value);

/// A file that is written whole or not at all, or standard output if the path is empty or `-`.
class Output {
 public:
  explicit Output(const std::string& path);
  bool to_file() const { return file_ != nullptr; }
  void write(std::string_view text);
  /// Makes the file appear.
  void commit();

 private:
  std::unique_ptr<AtomicFile> file_;
};

/// Writes the rows [0, rows) in order; `append(first, last, text)` formats some of them, on any thread.
using AppendRows = std::function<void(Index first, Index last, std::string& text)>;
void write_rows(Output& output, Index rows, Index rows_at_once, const AppendRows& append, const Context& context);

}  // namespace ecotone::cli
