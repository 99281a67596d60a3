#include "ecotone/methods/multiclass/class_weights.h"

#include <cmath>
#include <string_view>
#include <vector>

#include "ecotone/base/options.h"
#include "ecotone/data/formats/number.h"

namespace ecotone {

namespace {

/// w_r = W / (R W_r)
Vector balanced(const std::string& who, const TrainView& view) {
  const auto classes = static_cast<Index>(view.y.classes.size());
  Vector weight = Vector::Zero(classes);
  for (Index i = 0; i < view.labelled(); ++i) weight[view.y.index[at(i)]] += view.weight_of(i);
  const double total = weight.sum();
  for (Index r = 0; r < classes; ++r) {
    if (weight[r] <= 0) {
      data_error("zero_weights", "{}: class_weight=balanced needs rows of every class; all weights of class '{}' are 0",
                 who, view.y.classes[at(r)]);
    }
    weight[r] = total / (static_cast<double>(classes) * weight[r]);
  }
  return weight;
}

/// Reads `name:weight,name:weight`. Names of classes are matched whole, so they may hold commas and colons.
class WeightList {
 public:
  WeightList(const std::string& who, const std::vector<std::string>& classes, std::string_view text)
      : who_(who), classes_(classes), text_(text) {}

  Vector read() {
    Vector weight = Vector::Ones(static_cast<Index>(classes_.size()));
    std::vector<char> named(classes_.size(), 0);
    for (std::size_t at = 0; at <= text_.size();) {
      const std::size_t cls = class_at(at);
      if (named[cls] != 0) option_error("bad_option", "{}: class_weight names class '{}' twice", who_, classes_[cls]);
      named[cls] = 1;
      const std::size_t begin = at + classes_[cls].size() + 1;
      const std::size_t end = std::min(text_.find(',', begin), text_.size());
      weight[static_cast<Index>(cls)] = weight_of(classes_[cls], text_.substr(begin, end - begin));
      at = end + 1;
    }
    return weight;
  }

 private:
  const std::string& who_;
  const std::vector<std::string>& classes_;
  std::string_view text_;

  /// The class whose name and colon are found here; the longest if there are several.
  std::size_t class_at(std::size_t at) const {
    const std::string_view rest = text_.substr(at);
    std::size_t best = classes_.size();
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      const std::string& name = classes_[c];
      if (!rest.starts_with(name) || rest.substr(name.size(), 1) != ":") continue;
      if (best == classes_.size() || name.size() > classes_[best].size()) best = c;
    }
    if (best == classes_.size()) refuse(rest.substr(0, rest.find(',')));
    return best;
  }

  [[noreturn]] void refuse(std::string_view item) const {
    const std::size_t colon = item.rfind(':');
    if (colon == std::string_view::npos) {
      option_error("bad_option", "{}: class_weight must be none, balanced or name:weight,name:weight, got '{}'", who_,
                   text_);
    }
    const std::string_view name = item.substr(0, colon);
    const std::string near = did_you_mean(name, classes_);
    option_error("unknown_class", "{}: class_weight names class '{}', which no labelled row has; {}", who_, name,
                 near.empty() ? fmt::format("the classes are {}", fmt::join(classes_, ", "))
                              : fmt::format("did you mean '{}'?", near));
  }

  double weight_of(const std::string& name, std::string_view text) const {
    double weight = 0;
    if (!parse_number(text, weight) || !std::isfinite(weight) || weight < 0) {
      option_error("bad_option", "{}: class_weight of class '{}' must be a number >= 0, got '{}'", who_, name, text);
    }
    return weight;
  }
};

}  // namespace

Vector class_weights(const std::string& who, const TrainView& view, const std::string& text) {
  if (text == "none") return Vector::Ones(static_cast<Index>(view.y.classes.size()));
  if (text == "balanced") return balanced(who, view);
  return WeightList(who, view.y.classes, text).read();
}

Vector class_weighted_rows(const std::string& who, const TrainView& view, const std::string& text) {
  const Vector weight = class_weights(who, view, text);
  Vector rows(view.labelled());
  for (Index i = 0; i < rows.size(); ++i) {
    // a_n <- a_n w_r
    rows[i] = view.weight_of(i) * weight[view.y.index[at(i)]];
    if (!std::isfinite(rows[i])) data_error("bad_weight", "{}: the weight of row {} is not finite", who, i + 1);
  }
  return rows;
}

}  // namespace ecotone
