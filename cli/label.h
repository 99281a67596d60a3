#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "cli/flags.h"
#include "cli/session.h"
#include "ecotone/base/options.h"
#include "ecotone/data/formats/csv/texts.h"
#include "ecotone/data/formats/read_options.h"
#include "ecotone/label/desk.h"
#include "ecotone/label/simulate.h"
#include "ecotone/methods/pipeline.h"
#include "ecotone/report/json/labelling.h"

/// The verb `label`: a person, or a simulation, says what rows of a new domain are.
namespace ecotone::cli {

/// Options of this verb alone.
struct LabelOptions {
  std::vector<std::string> target;
  std::vector<std::string> classes;

  static constexpr auto fields() {
    return std::tuple{
        field("target", &LabelOptions::target,
              "Domains whose rows without a label are asked; labels that they have are learned from. Default: all",
              shown_as("NAME,..")),
        field("classes", &LabelOptions::classes, "Classes that may be answered beside those of the data",
              shown_as("CLASS,.."))};
  }
};

struct LabelFlags {
  std::vector<std::string> arguments;
  ReadOptions read;
  SimulateOptions simulation;  ///< its budget and audit serve people, too
  LabelOptions options;
  std::vector<std::string> strategies;  ///< as texts
  std::string folder;
  bool strict = false;
  bool terminal = false;
  bool export_only = false;
  bool simulate = false;
  std::string queries;
  std::string answers;
  int count = 20;
  std::string host;
  int port = 0;
  std::string token;
  std::string images;
  std::string report;
  std::string title;
  const Flags* flags = nullptr;
};

/// What all interactive modes share: the data, the journal in its folder and the desk.
struct LabelWork {
  const Dataset& data;
  const std::optional<CsvTexts>& texts;  ///< of CSV files
  const LabelTask& task;
  const std::filesystem::path& folder;
  LabelStore& store;
  Desk& desk;
  Session& session;
  const Context& context;  ///< not cancelled by signals
};

/// `--simulate`: hides labels and counts what they are worth.
void simulate_labels(const LabelFlags& flags, const Dataset& data, const Pipeline& pipeline, Session& session);

}  // namespace ecotone::cli
