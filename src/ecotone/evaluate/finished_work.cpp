#include "ecotone/evaluate/finished_work.h"

#include <span>

#include "ecotone/base/simd.h"
#include "ecotone/data/dataset_digest.h"
#include "ecotone/version.h"

namespace ecotone {

FinishedWork::FinishedWork(Journal* journal, std::string_view kind) : journal_(journal) {
  // Other kernels, or a C library that uses other instructions, may give other last digits.
  common_.add(version).add(build_commit).add(build_type).add(build_compiler).add(kind);
  common_.add(kernel_choice().kernels.name).add(instructions_name(processor_instructions()));
}

FinishedWork::FinishedWork(Journal* journal, std::string_view kind, const Dataset& data, const Context& context)
    : FinishedWork(journal, kind) {
  if (journal_) common_.add(digest_of(data, context));
}

void add_split(Digest& key, const Split& split) {
  key.add(split.name).add(split.repetition);
  for (const auto* rows : {&split.source, &split.target, &split.held_out}) key.add(std::span<const Index>(*rows));
}

}  // namespace ecotone
