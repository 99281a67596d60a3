#include "cli/label_terminal.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/keys.h"
#include "cli/output.h"
#include "cli/random_text.h"
#include "cli/signals.h"
#include "ecotone/base/error.h"
#include "ecotone/data/formats/number.h"
#include "ecotone/report/text/line.h"
#include "ecotone/report/text/text.h"

namespace ecotone::cli {
namespace {

constexpr const char* terminal_page = "terminal";
/// The class, or number, that the model believes in; empty without a belief.
std::string believed(const Question& question, const std::vector<std::string>& classes) {
  if (!question.belief || question.why == Why::audit) return {};
  if (question.belief->value) return fmt::format("{:.4g}", *question.belief->value);  // as it is shown
  const auto& probability = question.belief->probability;
  if (probability.empty()) return {};
  return classes[at(std::ranges::max_element(probability) - probability.begin())];
}

/// The label that was typed, by its key or in full; empty if it is none. Keys come first: a class may be called 2.
std::string typed_label(const std::string& typed, const LabelTask& task) {
  if (task.task() == Task::regress) return typed;
  const std::vector<std::string> keys = class_keys(task.classes);
  if (const auto key = std::ranges::find(keys, typed); !typed.empty() && key != keys.end())
    return task.classes[at(key - keys.begin())];
  return std::ranges::find(task.classes, typed) != task.classes.end() ? typed : std::string();
}

bool all_have_keys(const std::vector<std::string>& classes) {
  return std::ranges::none_of(class_keys(classes), [](const std::string& key) { return key.empty(); });
}

/// The conversation: shows a question, reads a key, does what it says.
class Conversation {
 public:
  explicit Conversation(const LabelWork& work)
      : work_(work),
        keys_(work.task.task() == Task::classify && all_have_keys(work.task.classes) ? Keys::Mode::single
                                                                                     : Keys::Mode::lines),
        state_(work.desk.state(terminal_page)) {}

  void hold() {
    show();
    while (const std::optional<std::string> typed = keys_.next(cancel_flag())) {
      const std::string command(keys_.single() ? *typed : trim(*typed));
      // Without a question one may still take the last answer back, or quit.
      if (command == "q" || (!state_.question && command != "z")) break;
      try {
        if (act(command)) show();
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::data) throw;
        say(fmt::format("{}\n", error.what()));
        state_ = work_.desk.state(terminal_page);
      }
      if (!state_.question && !keys_.single()) break;
    }
  }

 private:
  /// Whether there is something new to show.
  bool act(const std::string& command) {
    if (command == "z") {
      state_ = work_.desk.undo(terminal_page, random_text());
      return true;
    }
    if (command == "u" || command == "s") {
      answer(command == "u" ? AnswerKind::unsure : AnswerKind::skip, {});
      return true;
    }
    const bool by_belief = command.empty() || command == " " || command == "\n";
    const std::string label =
        by_belief ? believed(*state_.question, work_.task.classes) : typed_label(command, work_.task);
    if (label.empty()) {
      say(by_belief
              ? "no belief is shown for this row; answer from its values\n"
              : fmt::format("'{}' is no answer; {}\n", one_line(command), keys_text(*state_.question, work_.task)));
      return false;
    }
    answer(AnswerKind::label, label);
    return true;
  }

  void answer(AnswerKind kind, const std::string& label) {
    state_ = work_.desk.answer({terminal_page, random_text(), state_.question->origin, kind, label});
  }

  void show() { say('\n' + question_text(state_, work_.task, output_width())); }

  /// With --json standard output is for programs.
  void say(const std::string& text) {
    if (work_.session.json()) return write_standard_error(printable(text));
    work_.session.say(text);
  }

  const LabelWork& work_;
  Keys keys_;
  DeskState state_;
};

}  // namespace

void ask_in_terminal(const LabelWork& work) { Conversation(work).hold(); }

}  // namespace ecotone::cli
