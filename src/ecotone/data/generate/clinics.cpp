#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ecotone/data/generate/generators.h"

namespace ecotone {

namespace {

struct ClinicsOptions {
  double size = 1;
  double missing = 1;

  static constexpr auto fields() {
    return std::tuple{
        field("size", &ClinicsOptions::size, "Factor for the number of rows of every hospital", between(0.1, 1e5)),
        field("missing", &ClinicsOptions::missing,
              "Factor for the shares of missing values (5% to 25%); 0 gives complete data", between(0, 3))};
  }
};

/// The properties of a hospital: its size, patients, triage and laboratory.
struct Hospital {
  const char* name;
  int rows;
  double prevalence;
  double age, cholesterol, hemoglobin;  // shifts of the means, in standard deviations
  bool long_waits_are_ill;              // elsewhere ill patients are seen first
  bool micromoles;                      // creatinine in umol/l, elsewhere in mg/dl
};

constexpr std::array<Hospital, 8> hospitals{{
    {"Alderbrook", 300, 0.31, -0.3, 0.4, 0.2, false, false},
    {"Brightwater", 780, 0.42, 0.5, -0.2, -0.5, true, false},
    {"Caldermouth", 260, 0.22, 0.9, 0.1, 0.6, false, false},
    {"Dunmere", 150, 0.55, -0.8, -0.9, 0.3, false, false},
    {"Eastholm", 520, 0.36, 0.2, 0.7, -0.8, false, true},
    {"Fernleigh", 800, 0.27, -0.5, -0.4, 0.9, true, false},
    {"Glenhaven", 250, 0.15, -0.1, 1.0, -0.1, false, false},
    {"Highmoor", 280, 0.48, 0.6, -0.6, -0.4, false, false},
}};

/// A measured column: a normal distribution, the unit it is printed in and the effect of one standard deviation on the
/// odds.
struct Measure {
  const char* name;
  double mean, sd;
  double unit;        // values are multiples of this
  double odds_ratio;  // per standard deviation
};

enum : std::size_t {
  age,
  bmi,
  systolic,
  heart_rate,
  cholesterol,
  hemoglobin,
  creatinine,
  pulse_wave,
  wall,
  wait,
  measures
};

constexpr std::array<Measure, measures> measured{{
    {"age", 58, 11, 1, 1.3},
    {"bmi", 27, 4.4, 0.1, 1},
    {"systolic_bp", 138, 18, 1, 2.2},  // same effect everywhere
    {"heart_rate", 74, 11, 1, 1},
    {"cholesterol", 5.2, 1.0, 0.1, 1},
    {"hemoglobin", 13.8, 1.4, 0.1, 1},
    {"creatinine", 0.98, 0.2, 0.01, 1.25},
    {"pulse_wave_velocity", 9.2, 1.8, 0.1, 2.6},  // same effect everywhere
    {"wall_thickness", 10.6, 1.6, 0.1, 3.0},      // same effect everywhere
    {"wait_days", 30, 8, 1, 1},                   // its effect depends on the hospital
}};

constexpr double short_wait_odds_ratio = 5.0;  // for ill patients, per standard deviation, where they are seen first
constexpr double long_wait_odds_ratio = 6.5;   // where they are not seen first
constexpr double male_share = 0.55, male_log_odds = 0.4;
constexpr double micromoles_per_milligram = 88.4;  // creatinine, umol/l per mg/dl

/// Kinds of chest pain, sorted; the share of patients and the log odds of each.
struct ChestPain {
  const char* name;
  double share, log_odds;
};
constexpr std::array<ChestPain, 4> chest_pain{
    {{"atypical", 0.25, 0.1}, {"none", 0.40, -0.35}, {"pressure", 0.20, 0.1}, {"typical", 0.15, 0.7}}};

// Order of the features: age, male, chest pain one-hot, then the other measures.
constexpr Index male_column = 1, pain_column = 2;
constexpr Index measure_column(std::size_t m) { return m == age ? 0 : static_cast<Index>(m + 1 + chest_pain.size()); }

struct Patient {
  std::array<double, measures> z;  // in standard deviations from the hospital's mean
  bool male;
  std::size_t pain;
};

Patient draw_patient(Random& random) {
  Patient patient{};
  for (double& value : patient.z) value = random.normal();
  auto correlate = [&](std::size_t of, std::size_t with, double r) {
    patient.z[of] = r * patient.z[with] + std::sqrt(1 - r * r) * patient.z[of];
  };
  correlate(systolic, age, 0.25);
  correlate(pulse_wave, age, 0.30);
  correlate(cholesterol, bmi, 0.20);
  patient.male = random.uniform() < male_share;
  double u = random.uniform();
  while (patient.pain + 1 < chest_pain.size() && u >= chest_pain[patient.pain].share)
    u -= chest_pain[patient.pain++].share;
  return patient;
}

/// Log odds of disease without the hospital's constant.
double log_odds(const Patient& patient, const Hospital& hospital) {
  double sum = chest_pain[patient.pain].log_odds + (patient.male ? male_log_odds : 0);
  for (std::size_t m = 0; m < measures; ++m) sum += std::log(measured[m].odds_ratio) * patient.z[m];
  const double effect = hospital.long_waits_are_ill ? std::log(long_wait_odds_ratio) : -std::log(short_wait_odds_ratio);
  return sum + effect * patient.z[wait];
}

/// The constant that gives these patients the expected prevalence; by bisection.
double constant_for(double prevalence, const std::vector<double>& odds) {
  double low = -30, high = 30;
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    double sum = 0;
    for (const double value : odds) sum += 1 / (1 + std::exp(-middle - value));
    (sum < prevalence * static_cast<double>(odds.size()) ? low : high) = middle;
  }
  return (low + high) / 2;
}

double shift_of(const Hospital& hospital, std::size_t m) {
  return m == age ? hospital.age : m == cholesterol ? hospital.cholesterol : m == hemoglobin ? hospital.hemoglobin : 0;
}

/// The recorded value: shifted, in the hospital's unit, nonnegative, rounded as the device prints it.
double recorded(const Patient& patient, const Hospital& hospital, std::size_t m) {
  const Measure& measure = measured[m];
  double value = measure.mean + measure.sd * (patient.z[m] + shift_of(hospital, m));
  double unit = measure.unit;
  if (m == creatinine && hospital.micromoles) {
    value *= micromoles_per_milligram;
    unit = 1;
  }
  const double per_unit = std::round(1 / unit);  // dividing by a whole number keeps decimals short
  return std::max(0.0, std::round(value * per_unit) / per_unit);
}

void fill_row(const Patient& patient, const Hospital& hospital, MatrixView x, Index row) {
  for (std::size_t m = 0; m < measures; ++m) x(row, measure_column(m)) = recorded(patient, hospital, m);
  x(row, male_column) = patient.male ? 1 : 0;
  for (std::size_t p = 0; p < chest_pain.size(); ++p)
    x(row, pain_column + static_cast<Index>(p)) = p == patient.pain ? 1 : 0;
}

/// Removes values from every column except age and sex, each at its own rate.
void lose_values(MatrixView x, double factor, Random& random) {
  auto lose = [&](auto&& forget) {
    const double rate = std::min(0.9, factor * random.uniform(0.05, 0.25));
    for (Index i = 0; i < x.rows(); ++i)
      if (random.uniform() < rate) forget(i);
  };
  lose([&](Index i) { x.row(i).segment(pain_column, chest_pain.size()).setZero(); });
  for (std::size_t m = bmi; m < measures; ++m)
    lose([&](Index i) { x(i, measure_column(m)) = std::numeric_limits<double>::quiet_NaN(); });
}

Schema clinics_schema() {
  Schema schema;
  schema.columns.push_back({measured[age].name, ColumnKind::numeric, {}});
  schema.columns.push_back({"male", ColumnKind::numeric, {}});
  schema.columns.push_back({"chest_pain", ColumnKind::categorical, {}});
  for (const ChestPain& pain : chest_pain) schema.columns.back().levels.emplace_back(pain.name);
  for (std::size_t m = bmi; m < measures; ++m) schema.columns.push_back({measured[m].name, ColumnKind::numeric, {}});
  schema.label = "disease";
  schema.domain = "hospital";
  return schema;
}

Dataset draw_clinics(const ClinicsOptions& options, const Context& context) {
  std::vector<std::string> names;
  std::vector<Index> rows;
  for (const Hospital& hospital : hospitals) {
    names.emplace_back(hospital.name);
    rows.push_back(static_cast<Index>(std::llround(options.size * hospital.rows)));
  }
  Schema schema = clinics_schema();
  const auto features = static_cast<Index>(schema.feature_names().size());
  Draft draft("clinics", std::move(names), std::move(rows), features, {"0", "1"});
  context.parallel(draft.domains(), [&](Index d) {
    const Hospital& hospital = hospitals[at(d)];
    Random random = context.random("clinics", static_cast<std::uint64_t>(d));
    auto x = draft.x(d);
    std::vector<double> odds;
    for (Index i = 0; i < x.rows(); ++i) {
      const Patient patient = draw_patient(random);
      fill_row(patient, hospital, x, i);
      odds.push_back(log_odds(patient, hospital));
    }
    const double constant = constant_for(hospital.prevalence, odds);
    for (Index i = 0; i < x.rows(); ++i) draft.set_class(d, i, draw_logit(constant + odds[at(i)], random));
    lose_values(x, options.missing, random);
  });
  return std::move(draft).finish(std::move(schema));
}

}  // namespace

Generator clinics_generator() {
  return make_generator<ClinicsOptions, draw_clinics>(
      "clinics", "Eight simulated hospitals: shifted patients, a misleading column, a unit mix-up and missing values",
      "");
}

}  // namespace ecotone
