#include "ecotone/methods/multiclass/multiclass.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "ecotone/methods/multiclass/class_weights.h"
#include "ecotone/methods/multiclass/code_matrix.h"
#include "ecotone/methods/multiclass/combined.h"
#include "ecotone/methods/refits.h"
#include "ecotone/methods/select/feature_selection.h"

namespace ecotone {

namespace {

/// A learner with the folds in which it chooses options; null: it makes its own.
struct ChoosingMethod {
  const Method& method;
  const Refits* refits = nullptr;

  StageResult fit(const TrainView& view, const OptionValues& values, const Context& context, FitCache& cache) const {
    return refits == nullptr ? method.fit(view, values, context, cache)
                             : method.fit_with_refits(view, *refits, values, context, cache);
  }
};

/// The labelled rows of one binary problem: those of the classes that it tells apart.
std::vector<Index> binary_rows(const TrainView& view, const Problems& problems, Index k) {
  const std::vector<int> side = problems.sides(k);
  std::vector<Index> rows;
  for (Index i = 0; i < view.labelled(); ++i)
    if (side[at(view.y.index[at(i)])] != 0) rows.push_back(i);
  return rows;
}

/// These rows with the labels of one binary problem, and the target rows.
TrainView binary_view(const TrainView& view, const Problems& problems, Index k, std::vector<Index> rows) {
  const std::vector<int> side = problems.sides(k);
  Labels y{Task::classify, problems.labels(k), {}, {}};
  for (const Index i : rows) y.index.push_back(side[at(view.y.index[at(i)])] > 0 ? 1 : 0);
  TrainView result = view;
  result.y = std::move(y);
  if (static_cast<Index>(rows.size()) == view.labelled()) return result;
  if (view.weight.size() > 0) {
    result.weight.resize(static_cast<Index>(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) result.weight[static_cast<Index>(i)] = view.weight[rows[i]];
  }
  for (Index i = view.labelled(); i < view.x.rows(); ++i) rows.push_back(i);
  result.x = view.x.take(rows);
  result.origin = take_origin(view.origin, rows);
  result.group = take_groups(view.group, rows);
  result.domain = view.domain.take(rows);
  result.role.assign(result.domain.names.size(), Role::source);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto old = static_cast<std::size_t>(view.domain.index[static_cast<std::size_t>(rows[i])]);
    result.role[static_cast<std::size_t>(result.domain.index[i])] = view.role[old];
  }
  return result;
}

void warn_of(const CodeDiagnosis& found, const std::string& who, Index classes, const Context& context) {
  if (!found.equivalent_columns.empty()) {
    std::vector<std::string> pairs;
    for (const auto& pair : found.equivalent_columns) {
      if (pairs.size() == 5) break;
      pairs.push_back(fmt::format("{} and {}", pair.first + 1, pair.second + 1));
    }
    context.warn(
        "equivalent_code_columns",
        "{}: {} pairs of code columns are equal or complementary, so each trains the same classifier twice: {}{}", who,
        found.equivalent_columns.size(), fmt::join(pairs, ", "),
        found.equivalent_columns.size() > pairs.size() ? ", ..." : "");
  }
  if (found.min_row_distance < 3) {
    context.warn("weak_code", "{}: rows of the code differ in only {} places, so it cannot correct a wrong bit; {}",
                 who, found.min_row_distance,
                 classes == 3 ? "three classes have no better code without repeated columns, so use ova or ovo"
                              : "3 places are needed");
  }
}

/// The code to use, checked.
Matrix chosen_code(const std::string& who, const std::vector<std::string>& classes, const MulticlassOptions& options,
                   const Context& context) {
  const auto count = static_cast<Index>(classes.size());
  const bool random =
      options.codes == Codes::random || (options.codes == Codes::automatic && (count > 7 || options.code_length > 0));
  if (options.codes == Codes::exhaustive && count > 12) {
    option_error("bad_option", "{}: codes=exhaustive is for up to 12 classes, got {}; use codes=random", who, count);
  }
  Matrix code = !options.code.path.empty() ? read_code(options.code.path, classes)
                : random                   ? random_code(who, count, options.code_length, context)
                                           : exhaustive_code(count);
  const CodeDiagnosis found = ecoc_diagnose(code);
  if (!found.constant_columns.empty()) {
    data_error("constant_code_column",
               "{}: column {} of the code is the same for all classes, so there is nothing to learn", who,
               found.constant_columns.front() + 1);
  }
  if (found.min_row_distance == 0) {
    data_error("equal_code_rows", "{}: two classes have the same row of the code, so they cannot be told apart", who);
  }
  warn_of(found, who, count, context);
  return code;
}

bool knows_domains(const OptionValues& values) {
  return values.has("distributional") && values.at("distributional") == true;
}

/// The options, with `auto` decided: problems of two classes are smaller, but the sample of a domain is all of its
/// rows, whatever their class.
MulticlassOptions multiclass_options(const Method& method, const OptionValues& values) {
  auto options = method.has_class_options() ? read_options<MulticlassOptions>(values) : MulticlassOptions();
  if (!method.has_class_options()) options.multiclass = Decomposition::ova;
  if (options.multiclass == Decomposition::automatic)
    options.multiclass = knows_domains(values) ? Decomposition::ova : Decomposition::ovo;
  return options;
}

/// Whether the learner handles the classes itself.
bool goes_straight(Task task, std::size_t classes, const MulticlassOptions& options) {
  return task != Task::classify || classes <= 2 || options.multiclass == Decomposition::softmax;
}

/// The first few of a list.
std::string first_of(const std::vector<std::string>& list, std::string_view between) {
  constexpr std::size_t most = 5;
  const auto end = list.begin() + static_cast<std::ptrdiff_t>(std::min(list.size(), most));
  return fmt::format("{}{}", fmt::join(list.begin(), end, between),
                     list.size() > most ? fmt::format("{}...", between) : "");
}

/// Collects the warnings of binary fits and passes them on after the last one: each text once, with the problems that
/// it concerns unless these are all.
class ProblemWarnings : public Observer {
 public:
  explicit ProblemWarnings(Observer* next) : next_(next) {}

  void begin(std::string problem) { problem_ = std::move(problem); }
  void warning(std::string_view code, std::string_view message) override {
    const std::lock_guard lock(mutex_);
    const auto same = [&](const Told& told) { return told.code == code && told.text == message; };
    auto told = std::find_if(told_.begin(), told_.end(), same);
    if (told == told_.end()) told = told_.insert(told_.end(), {std::string(code), std::string(message), {}});
    if (told->problems.empty() || told->problems.back() != problem_) told->problems.push_back(problem_);
  }
  void note(std::string_view message) override {
    if (next_) next_->note(message);
  }
  void progress(std::string_view what, Index done, Index total) override {
    if (next_) next_->progress(what, done, total);
  }
  void tell(Index problems, const Context& context) const {
    for (const Told& told : told_) {
      if (static_cast<Index>(told.problems.size()) == problems) {
        context.warn(told.code, "{}", told.text);
      } else {
        context.warn(told.code, "{} ({})", told.text, first_of(told.problems, ", "));
      }
    }
  }

 private:
  struct Told {
    std::string code, text;
    std::vector<std::string> problems;
  };
  Observer* next_;
  std::string problem_;
  std::mutex mutex_;
  std::vector<Told> told_;
};

/// Joins one text per problem: the text if all are equal, otherwise each problem with its text.
std::string combined_text(const Problems& problems, const std::vector<std::string>& texts) {
  if (std::adjacent_find(texts.begin(), texts.end(), std::not_equal_to<>()) == texts.end()) return texts.front();
  std::vector<std::string> list;
  for (std::size_t k = 0; k < texts.size(); ++k)
    list.push_back(fmt::format("{}: {}", problems.name(static_cast<Index>(k)), texts[k]));
  return first_of(list, "; ");
}

/// The cache of one pair of classes: other rows need other Gram matrices. In a grid it is kept for the next point,
/// unless the Gram matrices of all pairs, together twice that of all rows, would take more than a gigabyte.
std::shared_ptr<FitCache> pair_cache(FitCache& cache, Index rows, Index k) {
  constexpr Index most_rows = 8000;
  if (!cache.in_order() || rows > most_rows) return std::make_shared<FitCache>();
  const auto made = [] { return std::make_shared<FitCache>(FitCache::Order::in_order); };
  return *cache.get<std::shared_ptr<FitCache>>(fmt::format("multiclass/pair/{}", k), made);
}

/// What `call` gives; errors say which problem they are of.
template <class Call>
auto in_problem(const Problems& problems, Index k, const Call& call) {
  try {
    return call();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::internal || error.kind() == ErrorKind::cancelled) throw;
    throw Error(error.kind(), error.code(), fmt::format("{} ({})", error.what(), problems.name(k)));
  }
}

/// The folds of each of several problems.
Refits refits_of_problems(const Refits& refits, const Problems& problems) {
  Refits result = refits;
  result.problems = problems.count();
  return result;
}

StageResult fit_problem(const ChoosingMethod& chooser, const TrainView& view, const Problems& problems, Index k,
                        const OptionValues& values, const Context& context, FitCache& cache) {
  const bool pair = problems.kind() == Decomposition::ovo;
  const std::shared_ptr<FitCache> own = pair ? pair_cache(cache, view.labelled(), k) : nullptr;
  const std::vector<Index> rows = binary_rows(view, problems, k);
  const TrainView binary = binary_view(view, problems, k, rows);
  return in_problem(problems, k, [&] {
    if (std::ssize(rows) == view.labelled() || chooser.refits == nullptr)
      return chooser.fit(binary, values, context, pair ? *own : cache);
    // Other rows have other folds, too; where the pair lives in one domain, these are of rows.
    const Refits refits = chooser.refits->of_rows(rows);
    const bool several = std::ranges::count_if(refits.rows(), [](const InnerFold& f) { return !f.held.empty(); }) > 1;
    FitCache folds;
    return ChoosingMethod{chooser.method, several ? &refits : nullptr}.fit(binary, values, context,
                                                                           pair ? *own : folds);
  });
}

StageResult fit_problems(const ChoosingMethod& chooser, const TrainView& view, const MulticlassOptions& options,
                         const OptionValues& values, const Context& context, FitCache& cache) {
  const Method& method = chooser.method;
  const Problems problems(options.multiclass, view.y.classes,
                          options.multiclass == Decomposition::ecoc
                              ? chosen_code(method.name, view.y.classes, options, context)
                              : Matrix());
  std::vector<std::shared_ptr<const Fitted>> binary;
  std::vector<std::string> unsolved, texts;
  std::string first;
  ProblemWarnings warnings(context.observer());
  const Context watched = context.observed_by(&warnings);
  std::optional<Refits> refits;
  if (chooser.refits != nullptr) refits = refits_of_problems(*chooser.refits, problems);
  const ChoosingMethod of_problem{method, refits ? &*refits : nullptr};
  FitCache of_selections(FitCache::Order::of_problems);
  FitCache& shared = method.family == Family::select ? of_selections : cache;
  for (Index k = 0; k < problems.count(); ++k) {
    context.check_cancelled();
    warnings.begin(problems.name(k));
    StageResult result = fit_problem(of_problem, view, problems, k, values, watched, shared);
    if (!result.status.converged) {
      if (unsolved.empty()) first = result.status.text;
      unsolved.push_back(problems.name(k));
    }
    texts.push_back(std::move(result.status.text));
    binary.push_back(std::move(result.fitted));
  }
  warnings.tell(problems.count(), context);
  Status status{unsolved.empty(), combined_text(problems, texts)};
  if (!unsolved.empty())
    status.text = fmt::format("{} of {} binary problems not solved ({}): {}", unsolved.size(), problems.count(),
                              fmt::join(unsolved, ", "), first);
  auto combined = std::make_shared<Combined>(method.name, problems, options.decode, options.ties, std::move(binary));
  if (combined->selected()) return pass_on(std::move(combined), view, context, std::move(status));
  return {std::move(combined), view, std::move(status)};
}

StageResult fit_combined(const ChoosingMethod& chooser, const TrainView& view, const OptionValues& values,
                         const Context& context, FitCache& cache) {
  const Method& method = chooser.method;
  const MulticlassOptions options = multiclass_options(method, values);
  if (!options.code.path.empty() && options.multiclass != Decomposition::ecoc) {
    context.warn("unused_option", "{}: code applies only with multiclass=ecoc", method.name);
  }
  if (options.multiclass == Decomposition::ovo && knows_domains(values))
    option_error(
        "bad_option",
        "{}: distributional=true needs all rows of a domain, and multiclass=ovo fits on two classes at a time; "
        "use multiclass=ova",
        method.name);
  const bool straight = goes_straight(view.y.task, view.y.classes.size(), options);
  if (!straight && values.has("monotone") && !values.at("monotone").empty())
    option_error("bad_option",
                 "{}: monotone is for two classes: the scores of {} classes cannot all rise with a column", method.name,
                 view.y.classes.size());
  // Two classes need no code, but a file that is wrong or not there is an error all the same.
  if (straight && !options.code.path.empty() && options.multiclass == Decomposition::ecoc &&
      view.y.task == Task::classify)
    read_code(options.code.path, view.y.classes);
  TrainView weighted = view;
  ChoosingMethod weighting{method, chooser.refits};
  Refits refits;
  if (options.class_weight != "none") {
    if (view.y.task != Task::classify) {
      data_error("needs_classes", "{}: class_weight is for classification, but the label is a number to predict",
                 method.name);
    }
    weighted.weight = class_weighted_rows(method.name, view, options.class_weight);
    if (chooser.refits != nullptr) {
      const Vector of_class = class_weights(method.name, view, options.class_weight);
      Vector factor(view.labelled());
      for (Index i = 0; i < factor.size(); ++i) factor[i] = of_class[view.y.index[at(i)]];
      refits = chooser.refits->times(factor);
      weighting.refits = &refits;
    }
  }
  StageResult result = straight ? weighting.fit(weighted, values, context, cache)
                                : fit_problems(weighting, weighted, options, values, context, cache);
  if (options.class_weight != "none") result.next = view;
  return result;
}

/// What `select` shows: the path of each class against the rest.
FeatureSelection select_combined(const Method& method, const SelectionInput& input, const OptionValues& values,
                                 const Context& context) {
  const TrainView* view = input.view;
  if (view == nullptr || goes_straight(view->y.task, view->y.classes.size(), multiclass_options(method, values)))
    return method.select(input, values, context);
  const Problems problems(Decomposition::ova, view->y.classes);
  ProblemWarnings warnings(context.observer());
  const Context watched = context.observed_by(&warnings);
  std::optional<Refits> refits;
  if (input.refits != nullptr) refits = refits_of_problems(*input.refits, problems);
  FitCache cache(FitCache::Order::of_problems);
  std::vector<FeatureSelection> of_class;
  for (Index k = 0; k < problems.count(); ++k) {
    context.check_cancelled();
    warnings.begin(problems.name(k));
    const TrainView binary = binary_view(*view, problems, k, binary_rows(*view, problems, k));
    const SelectionInput of_problem{.who = input.who,
                                    .view = &binary,
                                    .refits = refits ? &*refits : nullptr,
                                    .held_out = input.held_out,
                                    .cache = &cache};
    of_class.push_back(in_problem(problems, k, [&] { return method.select(of_problem, values, watched); }));
  }
  warnings.tell(problems.count(), context);
  return selection_of(problems.classes(), std::move(of_class));
}

/// The state of binary model k.
StageState binary_state(const StageState& state, Index k) {
  StageState result;
  result.info = state.info["binary"][static_cast<std::size_t>(k)];
  if (!result.info.is_object()) file_error("bad_model", "'binary' must be a list of objects");
  const std::string prefix = Combined::prefix(k);
  for (auto it = state.arrays().lower_bound(prefix); it != state.arrays().end() && it->first.starts_with(prefix); ++it)
    result.set(it->first.substr(prefix.size()), it->second);
  return result;
}

Matrix loaded_code(const StageState& state, Index classes) {
  Matrix code = state.matrix("code", classes, -1);
  if (!(code.array().abs() == 1).all()) file_error("bad_model", "array 'code' must hold -1 and 1 only");
  for (Index c = 0; c < code.cols(); ++c) {
    if ((code.col(c).array() == code(0, c)).all()) file_error("bad_model", "column {} of array 'code' is constant", c);
  }
  if (min_row_distance(code) == 0) file_error("bad_model", "two rows of array 'code' are equal");
  return code;
}

std::shared_ptr<const Fitted> load_combined(const Method& method, const StageState& state, const OptionValues& values,
                                            const StageInput& input) {
  const MulticlassOptions options = multiclass_options(method, values);
  if (goes_straight(input.task, input.classes.size(), options)) return method.load(state, values, input);
  const auto classes = static_cast<Index>(input.classes.size());
  Matrix code = options.multiclass == Decomposition::ecoc ? loaded_code(state, classes) : Matrix();
  const auto found = state.info.find("binary");
  // Checked before anything is allocated per problem: a file may claim any number of classes.
  const Index count = Problems::count(options.multiclass, classes, code.cols());
  if (found == state.info.end() || !found->is_array() || static_cast<Index>(found->size()) != count) {
    file_error("bad_model", "'binary' must be a list of {} objects", count);
  }
  Problems problems(options.multiclass, input.classes, std::move(code));
  std::vector<std::shared_ptr<const Fitted>> binary;
  for (Index k = 0; k < count; ++k) {
    binary.push_back(method.load(binary_state(state, k), values, {input.cols, Task::classify, problems.labels(k)}));
  }
  return std::make_shared<Combined>(method.name, std::move(problems), options.decode, options.ties, std::move(binary));
}

/// The strategies of learners that do not declare `multiclass` themselves.
void set_strategies(OptionInfo& option, bool softmax) {
  option.limits = softmax ? one_of("softmax", "ova", "ovo", "ecoc") : one_of("ova", "ovo", "ecoc");
  if (softmax) return;
  option.help = "Strategy for more than two classes: one versus all, one versus one, or error-correcting output codes";
  option.default_value = "ova";
}

void add_class_options(Method& learner) {
  for (OptionInfo& option : describe_options<MulticlassOptions>()) {
    const bool strategy = option.name == "multiclass";
    if (strategy) set_strategies(option, learner.learns == Learns::classes);
    const bool declared = std::ranges::find(learner.options, option.name, &OptionInfo::name) != learner.options.end();
    if (declared && !strategy) internal_error("{}: option {} is the combinator's", learner.name, option.name);
    if (!declared) learner.options.push_back(std::move(option));
  }
}

}  // namespace

Method with_multiclass(Method binary) {
  Method result = binary;
  if (binary.has_class_options()) add_class_options(result);
  result.fit = [binary](const TrainView& view, const OptionValues& values, const Context& context, FitCache& cache) {
    // A selector without stages before it makes folds of its own.
    if (!binary.fit_with_refits || binary.family == Family::select)
      return fit_combined({binary}, view, values, context, cache);
    const Refits refits = no_refits(view, context);
    return fit_combined({binary, &refits}, view, values, context, cache);
  };
  if (binary.fit_with_refits) {
    result.fit_with_refits = [binary](const TrainView& view, const Refits& refits, const OptionValues& values,
                                      const Context& context, FitCache& cache) {
      return fit_combined({binary, &refits}, view, values, context, cache);
    };
  }
  if (binary.select) {
    result.select = [binary](const SelectionInput& input, const OptionValues& values, const Context& context) {
      return select_combined(binary, input, values, context);
    };
  }
  result.load = [binary](const StageState& state, const OptionValues& values, const StageInput& input) {
    return load_combined(binary, state, values, input);
  };
  return result;
}

}  // namespace ecotone
