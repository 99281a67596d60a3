#include "ecotone/data/formats/roles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/base/options.h"
#include "ecotone/data/formats/dictionary.h"

namespace ecotone {

namespace {

constexpr const char* model_feature = "a feature of the model";

[[noreturn]] void refuse_twice(const std::string& name, const char* old, const char* use) {
  option_error("column_twice", "column '{}' is given both as {} and as {}", name, old, use);
}

/// Marks the role of each column and rejects a second one.
class Marks {
 public:
  Marks(const std::vector<std::string>& names, const std::string& origin)
      : names_(names), origin_(origin), use_(names.size()) {
    for (std::size_t j = 0; j < names.size(); ++j) places_.emplace(names[j], static_cast<Index>(j));
  }

  Index mark(const std::string& name, const char* use) {
    const auto found = places_.find(name);
    const Index j = found != places_.end() ? found->second : find_column(names_, name, origin_);
    const char*& old = use_[at(j)];
    if (old && std::string_view(old) != use) refuse_twice(name, old, use);
    old = use;
    return j;
  }

  /// The column that is given for a role, otherwise the known one if it is there; -1: none.
  Index mark_optional(const std::string& given, const std::string& known, const char* use) {
    if (!given.empty()) return mark(given, use);
    return known.empty() || !places_.contains(known) ? -1 : mark(known, use);
  }

  bool free(std::size_t j) const { return !use_[j]; }

 private:
  const std::vector<std::string>& names_;
  const std::string& origin_;
  std::vector<const char*> use_;
  TextMap<Index> places_;
};

}  // namespace

std::string some_names(const std::vector<std::string>& names) {
  constexpr std::size_t most = 8;
  const std::size_t shown = std::min(names.size(), most);
  return fmt::format("{}{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                     names.size() > most ? ", ..." : "");
}

std::string quoted_names(std::vector<std::string> names) {
  for (std::string& name : names) name = fmt::format("'{}'", name);
  return some_names(names);
}

Index find_column(const std::vector<std::string>& names, const std::string& name, const std::string& origin) {
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return found - names.begin();
  const std::string guess = did_you_mean(name, names);
  data_error("unknown_column", "{}: no column '{}'{}; the columns are {}", origin, name,
             guess.empty() ? "" : fmt::format(", did you mean '{}'?", guess), some_names(names));
}

ColumnRoles resolve_roles(const std::vector<std::string>& names, const ReadOptions& options,
                          const std::string& origin) {
  Marks marks(names, origin);
  ColumnRoles roles;
  if (!options.label.empty()) roles.label = marks.mark(options.label, "the label");
  if (!options.domain.empty()) roles.domain = marks.mark(options.domain, "the domain");
  if (!options.weight.empty()) roles.weight = marks.mark(options.weight, "the weight");
  if (!options.group.empty()) roles.group = marks.mark(options.group, "the group");
  if (!options.time.empty()) roles.time = marks.mark(options.time, "the time");
  if (!options.id.empty()) marks.mark(options.id, "the id");
  for (const std::string& name : options.ignore) marks.mark(name, "ignored");
  for (const std::string& name : options.features) roles.features.push_back(marks.mark(name, "a feature"));
  if (options.features.empty()) {
    for (std::size_t j = 0; j < names.size(); ++j)
      if (marks.free(j) && std::ranges::find(labelling_columns, names[j]) == std::end(labelling_columns))
        roles.features.push_back(static_cast<Index>(j));
  }
  std::ranges::sort(roles.features);
  roles.features.erase(std::unique(roles.features.begin(), roles.features.end()), roles.features.end());
  return roles;
}

ColumnRoles resolve_model_roles(const std::vector<std::string>& names, const Schema& schema, const ReadOptions& options,
                                const std::string& origin) {
  Marks marks(names, origin);
  ColumnRoles roles;
  for (const Column& column : schema.columns) roles.features.push_back(marks.mark(column.name, model_feature));
  roles.label = marks.mark_optional(options.label, schema.label, "the label");
  if (!options.domain_from_file) roles.domain = marks.mark_optional(options.domain, schema.domain, "the domain");
  roles.weight = marks.mark_optional(options.weight, schema.weight, "the weight");
  return roles;
}

void refuse_features_as_roles(const Schema& schema, const ReadOptions& options) {
  for (const auto& [name, use] : {std::pair(&options.label, "the label"), std::pair(&options.domain, "the domain"),
                                  std::pair(&options.weight, "the weight")})
    if (!name->empty() && std::ranges::find(schema.columns, *name, &Column::name) != schema.columns.end())
      refuse_twice(*name, model_feature, use);
}

}  // namespace ecotone
