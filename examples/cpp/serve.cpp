// A model that is loaded once and answers as long as there are questions: CSV rows on standard input, header first, and
// one line of CSV for each on standard output. A batch ends at an empty line, after 1,000 rows and at the end of the
// input; its answers are written at once. All rows of a batch that name one domain are that domain's sample, so for a
// model that looks at whole samples only an empty line ends one.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <iostream>
#include <limits>
#include <string>

#include "ecotone/ecotone.h"

using namespace ecotone;

namespace {

/// What the library has to say goes to standard error, beside the answers.
class Messages : public Observer {
 public:
  void warning(std::string_view, std::string_view message) override { fmt::print(stderr, "warning: {}\n", message); }
  void note(std::string_view message) override { fmt::print(stderr, "note: {}\n", message); }
  void progress(std::string_view, Index, Index) override {}
};

/// Text as a field of CSV.
std::string field(std::string text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2) text.insert(at, 1, '"');
  return '"' + text + '"';
}

void print_header(const Model& model) {
  fmt::print("prediction");
  for (const std::string& name : model.classes()) fmt::print(",{}", field("p_" + name));
  fmt::print("\n");
}

void print_rows(const Model& model, const Prediction& answer, Index rows) {
  for (Index row = 0; row < rows; ++row) {
    if (answer.task == Task::regress) {
      fmt::print("{}", answer.value[row]);
    } else {
      fmt::print("{}", field(model.classes()[static_cast<std::size_t>(answer.index[static_cast<std::size_t>(row)])]));
    }
    for (Index c = 0; c < answer.probability.cols(); ++c) fmt::print(",{}", answer.probability(row, c));
    fmt::print("\n");
  }
  std::fflush(stdout);
}

/// The next rows, one a line, behind the header; empty when the input has ended.
std::string next_batch(const std::string& header, std::size_t most) {
  std::string text, line;
  for (std::size_t rows = 0; rows < most && std::getline(std::cin, line);) {
    if (!line.empty() && line != "\r") {
      text += line + '\n';
      ++rows;
    } else if (rows > 0) {
      break;
    }
  }
  return text.empty() ? text : header + '\n' + text;
}

void serve(const std::string& path) {
  Messages messages;
  const Context context({.observer = &messages});
  const Model model = Model::load(path);
  const std::size_t most = model.needs_domain_sample() ? std::numeric_limits<std::size_t>::max() : 1000;
  std::string header;
  std::getline(std::cin, header);
  print_header(model);
  for (int number = 1;; ++number) {
    std::string text = next_batch(header, most);
    if (text.empty()) return;
    const Dataset data = parse_for_model(std::move(text), fmt::format("batch {}", number), model.schema(),
                                         {.task = model.task()}, context);
    const bool has_domains = !data.schema.domain.empty();
    const Batch batch{data.x, has_domains ? std::optional(data.domain) : std::nullopt};
    print_rows(model, model.predict(batch, context), data.rows());
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    fmt::print(stderr, "usage: serve MODEL < rows.csv\n");
    return exit_code(ErrorKind::option);
  }
  try {
    serve(arguments[1]);
  } catch (const Error& error) {
    fmt::print(stderr, "serve: {}\n", error.what());
    return exit_code(error.kind());
  }
}
