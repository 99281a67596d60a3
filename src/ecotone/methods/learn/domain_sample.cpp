#include "ecotone/methods/learn/domain_sample.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/kernels/cross_sums.h"

namespace ecotone {
namespace {

/// A domain whose k1 with every training domain is below this resembles none of them.
constexpr double like_none = 0.01;

/// Names for a message, the first few of many.
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i)
    text += fmt::format("{}'{}'", i == 0 ? "" : ", ", names[i]);
  if (names.size() > most) text += fmt::format(" and {} more", names.size() - most);
  return text;
}

}  // namespace

DomainNumbers domains_of_labelled(const TrainView& view) {
  DomainNumbers result;
  std::vector<std::int32_t> number(view.domain.names.size(), -1);
  result.domain.reserve(static_cast<std::size_t>(view.labelled()));
  for (std::size_t i = 0; i < static_cast<std::size_t>(view.labelled()); ++i) {
    const auto d = static_cast<std::size_t>(view.domain.index[i]);
    if (number[d] < 0) {
      number[d] = static_cast<std::int32_t>(result.names.size());
      result.names.push_back(view.domain.names[d]);
    }
    result.domain.push_back(number[d]);
  }
  return result;
}

DomainNumbers batch_domains(const Batch& batch) {
  if (batch.domain) return {batch.domain->index, batch.domain->names};
  return {std::vector<std::int32_t>(static_cast<std::size_t>(batch.x.rows()), 0), {"the file"}};
}

DomainSample labelled_sample(const TrainView& view) {
  DomainNumbers found = domains_of_labelled(view);
  return {view.labelled_x().to_matrix(), std::move(found.domain), std::move(found.names)};
}

DomainSample batch_sample(const Batch& batch) {
  DomainNumbers found = batch_domains(batch);
  return {batch.x.to_matrix(), std::move(found.domain), std::move(found.names)};
}

void warn_of_training_domains(const char* who, const std::vector<std::string>& names, const DomainWidth& width,
                              const Context& context) {
  if (names.size() == 1)
    context.warn(
        "one_domain",
        "{}: distributional=true with only one training domain, '{}': nothing is learned about domains, and their "
        "kernel only measures how different a new one is",
        who, names[0]);
  else if (width.fallback)
    context.warn("domain_width_fallback", "{}: the domains do not differ, sigma1 is {:g}", who, width.sigma);
  else if (width.floored && width.share > width.sampling)
    context.warn(
        "domain_width_floored",
        "{}: the training domains are close to each other (median distance {:.3g}); sigma1 is a quarter of the "
        "spread within them, {:.3g}, so that new domains still resemble them",
        who, width.median, width.sigma);
  else if (width.floored)
    context.warn("domain_width_floored",
                 "{}: the training domains are closer to each other (median distance {:.3g}) than samples of one "
                 "distribution would be; sigma1 is {:.3g}, so that new domains still resemble them",
                 who, width.median, width.sigma);
}

DistributionFit fit_domain_kernel(const char* who, const Kernel& kernel, const DomainSample& sample,
                                  const AutoNumber& sigma1, const Context& context, double sigma1_factor) {
  DistributionFit fit =
      fit_distribution_kernel(kernel, sample.rows(), sigma1.value.value_or(0), context, sigma1_factor);
  warn_of_training_domains(who, sample.names, fit.width, context);
  return fit;
}

void warn_of_batch_domains(const char* who, ConstMatrixView k1, const Vector& rows,
                           const std::vector<std::string>& names, const Context& context) {
  std::vector<std::string> single, unlike;
  double nearest = 0;
  for (Index p = 0; p < k1.rows(); ++p) {
    const std::string& name = names[at(p)];
    if (rows[p] == 1) single.push_back(name);
    const double most = k1.cols() == 0 ? 0 : k1.row(p).maxCoeff();
    if (rows[p] == 0 || !(most < like_none)) continue;
    unlike.push_back(name);
    nearest = std::max(nearest, most);
  }
  if (!single.empty())
    context.warn("one_row_domain",
                 "{}: {} {} only one row, which is the whole sample of its domain; pass the rows of a domain together",
                 who, listed(single), single.size() == 1 ? "has" : "each have");
  if (!unlike.empty())
    context.warn(
        "unlike_any_domain",
        "{}: {} {} no training domain (k1 at most {:.2g}), so predictions there say little; use a larger sigma1, "
        "or distributional=false to compare rows alone",
        who, listed(unlike), unlike.size() == 1 ? "resembles" : "resemble", nearest);
}

Matrix batch_domain_kernel(const char* who, const DistributionKernel& kernel, const DomainSample& sample,
                           const Context& context) {
  Matrix k1 = kernel.domains_of(sample.rows(), context);
  warn_of_batch_domains(who, k1, domain_counts(sample.rows()), sample.names, context);
  return k1;
}

void save_domains(std::span<const std::int32_t> domain, const std::string& name, StageState& state) {
  Vector numbers(std::ssize(domain));
  for (Index i = 0; i < numbers.size(); ++i) numbers[i] = domain[at(i)];
  state.set(name, numbers);
}

void save_domain_kernel(const DistributionKernel& kernel, StageState& state) {
  state.set("domain_rows", kernel.x());
  save_domains(kernel.domain(), "domain_of_row", state);
  state.set("domain_norms", kernel.norms());
  state.info["sigma1"] = kernel.sigma1();
}

std::vector<std::int32_t> load_domains(const StageState& state, const std::string& name, Index size, Index count) {
  std::vector<std::int32_t> domain;
  for (const double d : state.vector(name, size)) {
    if (!(d >= 0 && d < static_cast<double>(count)) || d != std::floor(d))
      file_error("bad_model", "'{}' has {}, there are {} domains", name, d, count);
    domain.push_back(static_cast<std::int32_t>(d));
  }
  return domain;
}

DistributionKernel load_domain_kernel(const Kernel& kernel, const StageState& state, Index cols) {
  Matrix x = state.matrix("domain_rows", -1, cols);
  if (x.rows() == 0) file_error("bad_model", "'domain_rows' has no rows");
  Vector norms = state.vector("domain_norms", -1);
  std::vector<std::int32_t> domain = load_domains(state, "domain_of_row", x.rows(), norms.size());
  try {
    return {kernel, std::move(x), std::move(domain), std::move(norms), state.number("sigma1")};
  } catch (const Error& error) {
    file_error("bad_model", "{}", error.what());
  }
}

}  // namespace ecotone
