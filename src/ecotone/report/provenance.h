#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ecotone/base/index.h"
#include "ecotone/base/json.h"

namespace ecotone {

/// Where a result comes from: all that is needed to check it or make it again.
struct Provenance {
  std::string version, commit;
  std::string command;  ///< without flags that change no result: outputs, threads, what is printed
  std::uint64_t seed = 0;
  std::string data_hash;  ///< of the data as they were read, 32 digits; empty, as all below: no data
  std::vector<std::pair<std::string, std::string>> files;     ///< name and size in words
  Index rows = 0;                                             ///< that were used
  std::vector<std::pair<std::string, std::string>> roles;     ///< columns with a meaning: "label", "domain", ..
  std::vector<std::string> columns;                           ///< that features were made of
  std::vector<std::pair<std::string, std::string>> left_out;  ///< columns that were not used, and why
  std::vector<std::pair<Index, std::string>> dropped;         ///< numbers of rows that were not used, and why
};

Json to_json(const Provenance& provenance);
/// File error `bad_result`, which names `origin`.
Provenance provenance_from_json(const Json& json, const std::string& origin);

}  // namespace ecotone
