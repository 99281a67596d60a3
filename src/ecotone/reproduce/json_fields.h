#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ecotone/base/json.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// Reads a JSON object field by field and refuses unknown fields. All errors are file errors (`bad_experiment`) that
/// name the object's location and the wrong field.
class JsonFields {
 public:
  /// `where` begins every message: "sayed2022/experiment.json: example '59.1'".
  JsonFields(const Json& object, std::string where);

  const std::string& where() const { return where_; }
  bool has(const std::string& name) const { return object_.contains(name); }
  /// Text that is not empty.
  std::string text(const std::string& name);
  std::string text(const std::string& name, std::string_view otherwise);
  double number(const std::string& name);
  bool flag(const std::string& name);
  double positive(const std::string& name);
  int whole(const std::string& name, int low, int high);
  /// Lists of at least one number, all above 0 or whole and in range.
  std::vector<double> positives(const std::string& name);
  std::vector<int> wholes(const std::string& name, int low, int high);
  /// A list of lists of numbers, all of one length.
  Matrix table(const std::string& name);
  const Json& object(const std::string& name);
  /// A list of at least one value.
  const Json& list(const std::string& name);
  std::vector<std::string> texts(const std::string& name);
  /// An object of names and strings, in order.
  std::vector<std::pair<std::string, std::string>> named_texts(const std::string& name);
  /// Refuses fields that were not read.
  void finish() const;

 private:
  const Json& object_;
  std::string where_;
  std::set<std::string> read_;

  const Json& field(const std::string& name);
};

}  // namespace ecotone
