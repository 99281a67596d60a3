#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/dataset.h"

namespace ecotone {

/// The most categories that a column of text may have.
inline constexpr std::size_t most_levels = 100;

/// Says which task the labels were taken for and how to change it. For data whose task nobody gave.
void note_task(const Labels& labels, const std::string& column, const Context& context);

/// Labels from numbers (NaN: missing). Task: as given; otherwise classification if all are integers with at most 20
/// distinct values, reported as a note. Class names are canonical: 1 and 1.0 are "1".
Labels numeric_labels(Vector values, std::optional<Task> task, const std::string& column, const Context& context);

/// Labels from text given by codes (-1: missing). Regression on text is the data error `text_label`.
Labels text_labels(std::vector<std::int32_t> codes, const std::vector<std::string>& words, std::optional<Task> task,
                   const std::string& column, const Context& context);

/// Puts every row in the one domain "all".
Domains one_domain(Index rows);

/// Rejects data without rows: data error `empty_data`.
void require_rows(Index rows, const std::string& origin);

}  // namespace ecotone
