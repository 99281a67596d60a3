#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "ecotone/data/generate/generate.h"

namespace ecotone {
namespace generate_clinics_test {

Dataset clinics(std::uint64_t seed, const OptionTexts& options = {}) {
  return generate("clinics", options, Context(Context::Settings{.threads = 2, .seed = seed}));
}

Index column(const Dataset& data, const std::string& name) {
  const auto names = data.x.names();
  return std::find(names.begin(), names.end(), name) - names.begin();
}

/// Values of a column in a hospital, and the labels beside them; rows without a value are left out.
struct Pairs {
  std::vector<double> value;
  std::vector<int> ill;
};

Pairs pairs(const Dataset& data, const std::string& name, Index hospital) {
  const auto rows = data.domain.rows_of(hospital);
  const Matrix x = data.x.take(rows).to_matrix();
  const Index j = column(data, name);
  Pairs result;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double value = x(static_cast<Index>(i), j);
    if (std::isnan(value)) continue;
    result.value.push_back(value);
    result.ill.push_back(data.y->index[static_cast<std::size_t>(rows[i])]);
  }
  return result;
}

double mean(const std::vector<double>& v) {
  double sum = 0;
  for (const double value : v) sum += value;
  return sum / static_cast<double>(v.size());
}

double sd(const std::vector<double>& v) {
  double sum = 0;
  for (const double value : v) sum += (value - mean(v)) * (value - mean(v));
  return std::sqrt(sum / static_cast<double>(v.size()));
}

/// Difference of the class means, in standard deviations.
double effect(const Pairs& p) {
  double sum[2] = {0, 0}, count[2] = {0, 0};
  for (std::size_t i = 0; i < p.value.size(); ++i) {
    sum[p.ill[i]] += p.value[i];
    ++count[p.ill[i]];
  }
  return (sum[1] / count[1] - sum[0] / count[0]) / sd(p.value);
}

TEST(Clinics, EightHospitalsTwelveColumnsOneText) {
  const Dataset data = clinics(1);
  EXPECT_EQ(data.domain.count(), 8);
  EXPECT_EQ(data.schema.label, "disease");
  EXPECT_EQ(data.schema.domain, "hospital");
  EXPECT_EQ(data.y->classes, (std::vector<std::string>{"0", "1"}));
  ASSERT_EQ(data.schema.columns.size(), 12U);
  EXPECT_EQ(std::ranges::count(data.schema.columns, ColumnKind::categorical, &Column::kind), 1);
  for (Index h = 0; h < 8; ++h) {
    EXPECT_GE(data.domain.rows_of(h).size(), 150U);
    EXPECT_LE(data.domain.rows_of(h).size(), 800U);
  }
}

TEST(Clinics, PrevalenceGoesFrom15To55Percent) {
  const Dataset data = clinics(1, {{"size", "10"}});
  std::vector<double> shares;
  for (Index h = 0; h < 8; ++h) {
    const Pairs p = pairs(data, "age", h);
    shares.push_back(static_cast<double>(std::ranges::count(p.ill, 1)) / static_cast<double>(p.ill.size()));
  }
  EXPECT_NEAR(*std::ranges::min_element(shares), 0.15, 0.02);
  EXPECT_NEAR(*std::ranges::max_element(shares), 0.55, 0.03);
}

TEST(Clinics, AgeAndTwoLabValuesShiftByUpToOneSd) {
  const Dataset data = clinics(1, {{"size", "10"}});
  const std::map<std::string, bool> shifted{
      {"age", true},        {"cholesterol", true},     {"hemoglobin", true},
      {"bmi", false},       {"systolic_bp", false},    {"heart_rate", false},
      {"wait_days", false}, {"wall_thickness", false}, {"pulse_wave_velocity", false}};
  for (const auto& [name, moves] : shifted) {
    std::vector<double> means;
    double spread = 0;
    for (Index h = 0; h < 8; ++h) {
      means.push_back(mean(pairs(data, name, h).value));
      spread += sd(pairs(data, name, h).value) / 8;
    }
    const auto [low, high] = std::ranges::minmax_element(means);
    const double range = (*high - *low) / spread;
    if (moves) {
      EXPECT_GT(range, 1.2) << name;
      EXPECT_LT(range, 2.1) << name;
    } else {
      EXPECT_LT(range, 0.2) << name;
    }
  }
}

TEST(Clinics, ThreePredictorsHoldEverywhereAndOneIsReversedInTwo) {
  const Dataset data = clinics(1, {{"size", "10"}});
  int positive = 0, negative = 0;
  for (Index h = 0; h < 8; ++h) {
    for (const char* name : {"systolic_bp", "pulse_wave_velocity", "wall_thickness"})
      EXPECT_GT(effect(pairs(data, name, h)), 0.25) << name << " " << h;
    for (const char* name : {"bmi", "heart_rate", "hemoglobin"})
      EXPECT_LT(std::abs(effect(pairs(data, name, h))), 0.15) << name << " " << h;
    const double wait = effect(pairs(data, "wait_days", h));
    EXPECT_GT(std::abs(wait), 0.5);
    ++(wait > 0 ? positive : negative);
  }
  EXPECT_EQ(positive, 2);
  EXPECT_EQ(negative, 6);
}

TEST(Clinics, CreatinineHasAnotherUnitInOneHospital) {
  const Dataset data = clinics(1);
  int other = 0;
  for (Index h = 0; h < 8; ++h) {
    const double level = mean(pairs(data, "creatinine", h).value);
    if (level > 10) {
      ++other;
      EXPECT_NEAR(level / 88.4, 0.98, 0.05);
    } else {
      EXPECT_NEAR(level, 0.98, 0.06);
    }
  }
  EXPECT_EQ(other, 1);
}

TEST(Clinics, MissingSharesAreFrom5To25Percent) {
  const Dataset data = clinics(1, {{"size", "10"}});
  const auto names = data.x.names();
  for (Index h = 0; h < 8; ++h) {
    const auto rows = static_cast<double>(data.domain.rows_of(h).size());
    for (const std::string& name : names) {
      if (name.find('=') != std::string::npos) continue;
      const double missing = 1 - static_cast<double>(pairs(data, name, h).value.size()) / rows;
      if (name == "age" || name == "male") {
        EXPECT_EQ(missing, 0.0);
      } else {
        EXPECT_GT(missing, 0.03) << name << " " << h;
        EXPECT_LT(missing, 0.27) << name << " " << h;
      }
    }
  }
  // One level of chest pain per patient, or none where it is missing.
  const Matrix pain = data.x.to_matrix().middleCols(column(data, "chest_pain=atypical"), 4);
  const Vector levels = pain.rowwise().sum();
  EXPECT_EQ(levels.maxCoeff(), 1.0);
  EXPECT_NEAR(1 - levels.mean(), 0.15, 0.07);
}

TEST(Clinics, CompleteDataAndOtherSizesOnRequest) {
  const Dataset data = clinics(1, {{"missing", "0"}, {"size", "0.5"}});
  EXPECT_EQ(find_non_finite(data.x, Context()).row, -1);
  EXPECT_NEAR(static_cast<double>(data.rows()), 0.5 * static_cast<double>(clinics(1).rows()), 8);
}

TEST(Clinics, ValuesAreAsADevicePrintsThem) {
  const Dataset data = clinics(1);
  const std::map<std::string, double> per_unit{{"age", 1}, {"bmi", 10}, {"creatinine", 100}, {"wait_days", 1}};
  for (const auto& [name, unit] : per_unit)
    for (const double value : pairs(data, name, 0).value) {
      EXPECT_EQ(std::round(value * unit) / unit, value) << name;
      EXPECT_GE(value, 0.0);
    }
}

}  // namespace generate_clinics_test
}  // namespace ecotone
