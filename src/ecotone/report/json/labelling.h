#pragma once

#include <string>
#include <vector>

#include "ecotone/data/dataset.h"

namespace ecotone {

/// What is labelled and by which names, beside the state of a desk.
struct LabelTask {
  const Dataset& data;
  std::vector<std::string> classes;  ///< of the answers; none for numbers
  std::vector<std::string> ids;      ///< what names each row of the files; none: rows have numbers only
  std::vector<std::string> images;   ///< the picture of each row of the files; none: no pictures
  std::string folder;                ///< of the journal and outputs

  Task task() const { return data.y ? data.y->task : Task::classify; }
  /// What a row of the files is called in `texts`, or empty.
  static const std::string& text_of(const std::vector<std::string>& texts, Index origin);
};

}  // namespace ecotone
