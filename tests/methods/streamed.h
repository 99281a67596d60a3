#pragma once

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>

#include "ecotone/data/read.h"
#include "methods/each_method.h"
#include "methods/support.h"

/// Rows that stay in a file, and what a method says about them.
namespace ecotone::test {

/// The same features in a mapped file, which has no name any more.
inline Features mapped(const Features& x) {
  static int files = 0;
  const auto path =
      std::filesystem::temp_directory_path() / fmt::format("ecotone_mapped_{}_{}.eco", ::getpid(), files++);
  Dataset data;
  data.x = x;
  data.domain = dealt_domains(x.rows(), 1);
  data.role = {Role::source};
  for (const std::string& name : x.names()) data.schema.columns.emplace_back().name = name;
  write_eco(data, path, context());
  const Dataset read = read_dataset({path}, {}, context());
  std::filesystem::remove(path);
  return x.with_storage(read.x.shared_storage());
}

/// The options with which the method has this route; nothing: it has not.
inline std::optional<std::string> options_of_route(const Method& method, Route route) {
  for (const MethodRoute& one : method.all_routes())
    if (one.route == route) return one.options;
  return std::nullopt;
}

/// The pipeline that fits use, with these options where they are not in it.
inline std::string alone_with(const Method& method, const std::string& options) {
  const std::string text = alone(method);
  return options.empty() || text.find(options) != std::string::npos ? text : text + " " + options;
}

}  // namespace ecotone::test
