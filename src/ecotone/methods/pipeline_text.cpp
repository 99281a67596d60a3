#include "ecotone/methods/pipeline_text.h"

#include "ecotone/methods/registry.h"

namespace ecotone {

namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'; }

/// A word of pipeline text without its quotes.
struct Word {
  std::string text;
  std::size_t position = 0;                ///< of its first character, counted from 1
  std::size_t equals = std::string::npos;  ///< position of the first unquoted = in text
  bool opens_braces = false;               ///< it ended at a { that follows the =
};

/// Reads pipeline text from left to right. Positions in messages count bytes from 1.
class Parser {
 public:
  Parser(std::string_view text, Braces braces) : text_(text), braces_(braces) {}

  std::vector<StageGiven> stages() {
    skip_space();
    if (at_end()) option_error("empty_pipeline", "the pipeline is empty; write stages such as 'scale | logistic'");
    std::vector<StageGiven> stages;
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
  Braces braces_;
  std::size_t at_ = 0;

  bool at_end() const { return at_ == text_.size(); }

  void skip_space() {
    while (!at_end() && is_space(text_[at_])) ++at_;
  }

  bool at_quote() const { return text_[at_] == '\'' || text_[at_] == '"'; }

  /// Appends the text inside the quotes that open here; a doubled quote stands for one.
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

  /// Up to white space or a bar outside quotes, or to the brace that a value opens with.
  Word word() {
    Word word{.text = {}, .position = at_ + 1};
    while (!at_end() && !is_space(text_[at_]) && text_[at_] != '|') {
      const char c = text_[at_];
      if (at_quote()) {
        quoted(word.text);
        continue;
      }
      if (c == '{' && at_ > 0 && text_[at_ - 1] == '=' && word.equals + 1 == word.text.size()) {
        word.opens_braces = true;
        return word;
      }
      if (c == '=' && word.equals == std::string::npos) word.equals = word.text.size();
      word.text += c;
      ++at_;
    }
    return word;
  }

  /// One value in braces that open at `open`: up to a comma or the closing brace outside quotes.
  std::string braced_value(std::size_t open, bool& has_quotes) {
    std::string value;
    bool quotes = false;
    skip_space();
    const std::size_t begin = at_;
    for (; !at_end() && text_[at_] != ',' && text_[at_] != '}' && !is_space(text_[at_]);) {
      if (at_quote()) {
        quoted(value);
        quotes = true;
      } else {
        value += text_[at_++];
      }
    }
    const std::size_t end = at_;
    skip_space();
    if (at_end()) option_error("bad_pipeline", "a brace {{ is not closed (position {})", open + 1);
    if (text_[at_] != ',' && text_[at_] != '}') {
      option_error("bad_pipeline", "values in braces are separated by commas (position {}); quote one with spaces",
                   at_ + 1);
    }
    if (begin == end) option_error("bad_pipeline", "a value in braces is empty (position {})", begin + 1);
    has_quotes = has_quotes || quotes;
    return value;
  }

  /// The values of the braces that open here.
  void braced(OptionGiven& option) {
    const std::size_t open = at_;
    option.braced = true;
    do {
      ++at_;  // the { or the comma
      option.values.push_back(braced_value(open, option.quoted));
    } while (text_[at_] == ',');
    ++at_;
    if (!at_end() && !is_space(text_[at_]) && text_[at_] != '|') {
      option_error("bad_pipeline", "nothing may follow a closing brace directly (position {})", at_ + 1);
    }
  }

  OptionGiven option(const Method& method) {
    const Word word = this->word();
    if (word.equals == std::string::npos || word.equals == 0) {
      option_error(
          "bad_pipeline",
          "{}: options are written key=value without spaces, got '{}' (position {}); stages are separated by |",
          method.name, word.text, word.position);
    }
    OptionGiven option{.name = word.text.substr(0, word.equals), .position = word.position, .values = {}};
    if (!word.opens_braces) {
      option.values.push_back(word.text.substr(word.equals + 1));
    } else if (braces_ == Braces::read) {
      braced(option);
    } else {
      option_error("unexpected_grid",
                   "{}: {}={{...}} is a grid, which works only with tune and evaluate (position {}); quote a value "
                   "that begins with {{",
                   method.name, option.name, option.position);
    }
    return option;
  }

  StageGiven stage() {
    const Word name = word();
    if (name.equals != std::string::npos) {
      option_error("bad_pipeline", "a stage begins with the name of a method, got '{}' (position {})", name.text,
                   name.position);
    }
    StageGiven stage{.method = &method(name.text), .options = {}};
    for (skip_space(); !at_end() && text_[at_] != '|'; skip_space()) stage.options.push_back(option(*stage.method));
    return stage;
  }
};

}  // namespace

std::vector<StageGiven> read_pipeline_text(std::string_view text, Braces braces) {
  return Parser(text, braces).stages();
}

}  // namespace ecotone
