#include "ecotone/methods/pipeline.h"

#include <algorithm>
#include <utility>

#include "ecotone/methods/registry.h"

namespace ecotone {

namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'; }

/// A word of pipeline text without its quotes.
struct Word {
  std::string text;
  std::size_t position = 0;                ///< of its first character, counted from 1
  std::size_t equals = std::string::npos;  ///< where the first unquoted = stands in text
};

/// Reads pipeline text from left to right. Positions in messages count bytes from 1.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::vector<Stage> stages() {
    skip_space();
    if (at_end()) option_error("empty_pipeline", "the pipeline is empty; write stages such as 'scale | logistic'");
    std::vector<Stage> stages;
    for (std::size_t bar = 0;;) {
      skip_space();
      if (at_end() || text_[at_] == '|') {
        option_error("bad_pipeline", "a pipeline stage is empty (position {})", bar == 0 ? at_ + 1 : bar);
      }
      stages.push_back(stage());
      if (at_end()) return stages;
      bar = ++at_;
    }
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;

  bool at_end() const { return at_ == text_.size(); }

  void skip_space() {
    while (!at_end() && is_space(text_[at_])) ++at_;
  }

  /// Appends what stands in the quotes that open here; a doubled quote stands for one.
  void quoted(std::string& into) {
    const std::size_t open = at_;
    const char quote = text_[at_++];
    for (;;) {
      const std::size_t close = text_.find(quote, at_);
      if (close == std::string_view::npos) {
        option_error("bad_pipeline", "a quote {} is not closed (position {})", quote, open + 1);
      }
      into += text_.substr(at_, close - at_);
      at_ = close + 1;
      if (at_end() || text_[at_] != quote) return;
      into += quote;
      ++at_;
    }
  }

  /// Up to white space or a bar outside quotes.
  Word word() {
    Word word{.text = {}, .position = at_ + 1};
    while (!at_end() && !is_space(text_[at_]) && text_[at_] != '|') {
      const char c = text_[at_];
      if (c == '\'' || c == '"') {
        quoted(word.text);
        continue;
      }
      if (c == '=' && word.equals == std::string::npos) word.equals = word.text.size();
      word.text += c;
      ++at_;
    }
    return word;
  }

  Stage stage() {
    const Word name = word();
    if (name.equals != std::string::npos) {
      option_error("bad_pipeline", "a stage begins with the name of a method, got '{}' (position {})", name.text,
                   name.position);
    }
    const Method& found = method(name.text);
    OptionTexts given;
    for (skip_space(); !at_end() && text_[at_] != '|'; skip_space()) {
      const Word option = word();
      if (option.equals == std::string::npos || option.equals == 0) {
        option_error(
            "bad_pipeline",
            "{}: options are written key=value without spaces, got '{}' (position {}); stages are separated by |",
            found.name, option.text, option.position);
      }
      given.emplace_back(option.text.substr(0, option.equals), option.text.substr(option.equals + 1));
    }
    return {&found, complete_options(found.name, found.options, given)};
  }
};

}  // namespace

Pipeline Pipeline::parse(std::string_view text) { return Pipeline(Parser(text).stages()); }

Pipeline::Pipeline(std::vector<Stage> stages) : stages_(std::move(stages)) {
  if (stages_.empty()) option_error("empty_pipeline", "a pipeline needs at least one stage");
  bool learner_before = false;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const Method& method = *stages_[i].method;
    if (method.reads_scores() && !learner_before) {
      option_error("needs_learner",
                   "{} reads the decision values of a learner, so one must stand before it, as in 'logistic | {}'",
                   method.name, method.name);
    }
    learner_before = method.predicts() && !method.reads_scores();
    const bool last = i + 1 == stages_.size() || (learner_before && stages_[i + 1].method->reads_scores());
    if (method.predicts() && !last) {
      option_error("learner_not_last", "{} predicts, so it must be the last stage; it is stage {} of {}", method.name,
                   i + 1, stages_.size());
    }
  }
}

bool Pipeline::predicts() const { return stages_.back().method->predicts(); }

std::string Pipeline::text() const {
  std::string text;
  for (const Stage& stage : stages_) {
    if (!text.empty()) text += " | ";
    text += stage.method->name;
    for (const OptionInfo& option : stage.method->options) {
      const Json& value = stage.options.at(option.name);
      if (value != option.default_value) text += fmt::format(" {}={}", option.name, option_text(value));
    }
  }
  return text;
}

}  // namespace ecotone
