#include "ecotone/methods/grid.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>

#include "ecotone/methods/pipeline_text.h"

namespace ecotone {

namespace {

/// Rounds to 3 significant digits, or more if the range is narrow relative to its ends: `{100..101}` has 5.
double rounded(double x, double low, double high) {
  const double narrow = std::floor(std::log10(std::max(std::abs(low), std::abs(high)) / (high - low)));
  const int digits = 3 + static_cast<int>(std::clamp(narrow, 0.0, 14.0));
  const std::string text = fmt::format("{:.{}e}", x, digits - 1);
  double result = x;  // kept if the text is out of range
  std::from_chars(text.data(), text.data() + text.size(), result);
  return result;
}

/// The two ends of `{low..high}`, when a number's braces hold that and nothing else.
std::optional<std::pair<std::string, std::string>> range_ends(const OptionInfo& info, const OptionGiven& given) {
  const bool number = info.type == OptionType::integer || info.type == OptionType::real ||
                      info.type == OptionType::auto_real || info.type == OptionType::word_or_real;
  if (!number || !given.braced || given.quoted) return std::nullopt;
  for (const std::string& value : given.values) {
    const std::size_t dots = value.find("..");
    if (dots == std::string::npos) continue;
    if (given.values.size() > 1) {
      option_error("bad_pipeline", "{}: the range {} must be alone in its braces (position {})", info.name, value,
                   given.position);
    }
    return std::pair{value.substr(0, dots), value.substr(dots + 2)};
  }
  return std::nullopt;
}

}  // namespace

PipelineSpace::PipelineSpace(std::string_view text) {
  std::vector<Stage> stages;
  for (const StageGiven& stage : read_pipeline_text(text, Braces::read)) {
    OptionTexts first;
    for (const OptionGiven& option : stage.options) {
      first.emplace_back(option.name,
                         option.braced ? add_axis(stages.size(), *stage.method, option) : option.values.front());
    }
    given_.emplace_back();
    for (const auto& option : first) given_.back().push_back(option.first);
    stages.push_back({stage.method, complete_options(stage.method->name, stage.method->options, first)});
  }
  stages_ = Pipeline(std::move(stages)).stages();
}

std::string PipelineSpace::add_axis(std::size_t stage, const Method& method, const OptionGiven& given) {
  const auto checked = [&](const std::string& value) {
    return complete_options(method.name, method.options, OptionTexts{{given.name, value}}).at(given.name);
  };
  const auto info = std::find_if(method.options.begin(), method.options.end(),
                                 [&](const OptionInfo& option) { return option.name == given.name; });
  // An unknown name is refused before the braces are read.
  if (info == method.options.end()) (void)checked(given.values.front());
  Axis axis{.stage = stage, .method = &method, .option = &*info, .position = given.position, .values = {}};
  const auto ends = range_ends(*info, given);
  if (ends) {
    axis.is_range = true;
    axis.values = {checked(ends->first), checked(ends->second)};
    if (!axis.values[0].is_number() || !axis.values[1].is_number() ||
        !(axis.values[0].get<double>() < axis.values[1].get<double>())) {
      option_error("bad_pipeline", "{}: {}={{{}..{}}} must run from a number to a larger one (position {})",
                   method.name, given.name, ends->first, ends->second, given.position);
    }
  } else {
    for (const std::string& value : given.values) axis.values.push_back(checked(value));
  }
  axes_.push_back(std::move(axis));
  return ends ? ends->first : given.values.front();
}

bool PipelineSpace::has_range() const {
  return std::any_of(axes_.begin(), axes_.end(), [](const Axis& axis) { return axis.is_range; });
}

bool PipelineSpace::is_single() const {
  return std::all_of(axes_.begin(), axes_.end(), [](const Axis& axis) { return axis.values.size() == 1; });
}

std::size_t PipelineSpace::size() const {
  std::size_t size = 1;
  for (const Axis& axis : axes_) {
    if (axis.is_range) {
      option_error("range_in_grid",
                   "{}: {} has a range (position {}), which only a random search draws from; a grid lists its values",
                   axis.method->name, axis.option->name, axis.position);
    }
    size *= std::min(axis.values.size(), largest_grid + 1);
    if (size > largest_grid) {
      option_error("grid_too_large", "the grid has more than {} pipelines; list fewer values, or draw some at random",
                   largest_grid);
    }
  }
  return size;
}

Pipeline PipelineSpace::at(std::size_t i) const {
  if (i >= size()) internal_error("pipeline {} of a grid of {}", i, size());
  std::vector<Json> values(axes_.size());
  for (std::size_t a = axes_.size(); a-- > 0;) {
    values[a] = axes_[a].values[i % axes_[a].values.size()];
    i /= axes_[a].values.size();
  }
  return with(values);
}

Pipeline PipelineSpace::with(const std::vector<Json>& values) const {
  std::vector<Stage> stages = stages_;
  for (std::size_t a = 0; a < axes_.size(); ++a) stages[axes_[a].stage].options.set(axes_[a].option->name, values[a]);
  for (std::size_t s = 0; s < stages.size(); ++s) set_defaults_beside(*stages[s].method, given_[s], stages[s].options);
  return Pipeline(std::move(stages));
}

Pipeline PipelineSpace::first() const {
  std::vector<Json> values;
  for (const Axis& axis : axes_) values.push_back(axis.values.front());
  return with(values);
}

Json PipelineSpace::draw(const Axis& axis, Random& random) {
  if (!axis.is_range) return axis.values[random.below(axis.values.size())];
  if (axis.option->type == OptionType::integer) {
    const auto low = axis.values[0].get<std::int64_t>();
    const auto high = axis.values[1].get<std::int64_t>();
    return static_cast<int>(low + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(high - low) + 1)));
  }
  const auto low = axis.values[0].get<double>();
  const auto high = axis.values[1].get<double>();
  const double u = random.uniform();
  // ln x ~ U(ln low, ln high), or x ~ U(low, high); written so that ends of any size do not overflow.
  const double x = low > 0 ? std::exp((1 - u) * std::log(low) + u * std::log(high)) : (1 - u) * low + u * high;
  return std::clamp(rounded(x, low, high), low, high);
}

Pipeline PipelineSpace::draw(Random& random) const {
  std::vector<Json> values;
  for (const Axis& axis : axes_) values.push_back(draw(axis, random));
  return with(values);
}

std::vector<Pipeline> expand_grid(std::string_view text) {
  const PipelineSpace space(text);
  std::vector<Pipeline> pipelines;
  const std::size_t size = space.size();
  pipelines.reserve(size);
  for (std::size_t i = 0; i < size; ++i) pipelines.push_back(space.at(i));
  return pipelines;
}

}  // namespace ecotone
