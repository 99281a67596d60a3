#include "ecotone/solve/boost/codes.h"

#include <algorithm>
#include <array>
#include <limits>

#include "ecotone/base/numbers.h"

namespace ecotone {
namespace {

void set_ranges(const Features& x, std::vector<BinEdges>& edges, const Context& context) {
  const Index cols = x.cols();
  std::vector<double> low(static_cast<std::size_t>(x.blocks() * cols)), high(low.size());
  context.parallel(x.blocks(), [&](Index b) {
    Scratch scratch;
    const RowBlock block = x.block(b, scratch);
    Eigen::Map<Eigen::RowVectorXd>(low.data() + b * cols, cols) = block.x.colwise().minCoeff();
    Eigen::Map<Eigen::RowVectorXd>(high.data() + b * cols, cols) = block.x.colwise().maxCoeff();
  });
  for (std::size_t k = 0; k < low.size(); ++k) {
    BinEdges& e = edges[k % at(cols)];
    e.low = std::min(e.low, low[k]);
    e.high = std::max(e.high, high[k]);
  }
}

/// Values of rows spread evenly over the features, column by column.
class Sample {
 public:
  Sample(Index rows, Index cols)
      : step_(std::max<Index>(1, rows / std::clamp<Index>((Index{1} << 23) / cols, 2048, 65536))) {
    values_.resize(static_cast<std::size_t>(cols));
  }
  void read(const Features& x, const Context& context) {
    const Index count = (x.rows() + step_ - 1) / step_;
    std::vector<Index> rows;
    for (Index i = 0; i < count; ++i) rows.push_back(i * step_);
    if (rows.empty()) return;
    std::vector<std::size_t> old;
    for (auto& column : values_) {
      old.push_back(column.size());
      column.resize(column.size() + rows.size());
    }
    context.parallel(x.blocks(), [&](Index b) {
      const Index first = (x.first_row(b) + step_ - 1) / step_;
      const Index end = std::min(count, (x.first_row(b) + x.rows_in(b) + step_ - 1) / step_);
      if (first >= end) return;
      Scratch scratch;
      const RowBlock block = x.block(b, scratch);
      for (Index k = first; k < end; ++k) {
        for (Index j = 0; j < x.cols(); ++j) {
          const auto c = static_cast<std::size_t>(j);
          values_[c][old[c] + at(k)] = block.x(k * step_ - block.first, j);
        }
      }
    });
  }
  std::vector<double>& column(Index j) { return values_[at(j)]; }

 private:
  Index step_;
  std::vector<std::vector<double>> values_;
};

/// A threshold below `high`, at or above `low`.
double between(double low, double high) {
  const double middle = low + (high - low) / 2;
  return middle < high ? middle : low;
}

void uniform_edges(BinEdges& e) {
  for (int k = 1; k < boost_bin_count; ++k) {
    const double edge = e.low + (e.high - e.low) * (k / static_cast<double>(boost_bin_count));
    if (edge < e.high && (e.edge.empty() || edge > e.edge.back())) e.edge.push_back(edge);
  }
}

void quantile_edges(std::vector<double>& sample, BinEdges& e) {
  std::sort(sample.begin(), sample.end());
  std::vector<double> different = sample;
  different.erase(std::unique(different.begin(), different.end()), different.end());
  if (different.size() <= boost_bin_count) {
    for (std::size_t k = 1; k < different.size(); ++k) e.edge.push_back(between(different[k - 1], different[k]));
    return;
  }
  for (std::size_t k = 1; k < boost_bin_count; ++k) {
    const std::size_t at = k * sample.size() / boost_bin_count;
    if (at == 0 || sample[at - 1] == sample[at]) {
      // A value shared by many rows gets the edge below it.
      const auto here = std::lower_bound(different.begin(), different.end(), sample[at]);
      if (here == different.begin()) continue;
      const double edge = between(*(here - 1), *here);
      if (e.edge.empty() || edge > e.edge.back()) e.edge.push_back(edge);
      continue;
    }
    const double edge = between(sample[at - 1], sample[at]);
    if (e.edge.empty() || edge > e.edge.back()) e.edge.push_back(edge);
  }
}

void set_middles(BinEdges& e) {
  if (e.edge.empty() && e.low < e.high) e.edge.push_back(between(e.low, e.high));
  double below = e.low;
  for (const double edge : e.edge) {
    e.middle.push_back(below + (edge - below) / 2);
    below = edge;
  }
  e.middle.push_back(below + (e.high - below) / 2);
}

/// Edges padded to 255 with infinity, for a branch-free search in eight steps.
using Padded = std::array<double, boost_bin_count - 1>;

std::uint8_t code_of(const Padded& edges, double x) {
  unsigned c = 0;
  for (unsigned step = boost_bin_count / 2; step > 0; step /= 2) c += edges[c + step - 1] < x ? step : 0U;
  return static_cast<std::uint8_t>(c);
}

}  // namespace

std::vector<BinEdges> bin_edges(const Features& source, const Features& target, BoostBins kind,
                                const Context& context) {
  std::vector<BinEdges> edges(static_cast<std::size_t>(source.cols()));
  for (BinEdges& e : edges) {
    e.low = infinity;
    e.high = -infinity;
  }
  set_ranges(source, edges, context);
  set_ranges(target, edges, context);
  Sample sample(source.rows() + target.rows(), source.cols());
  if (kind == BoostBins::quantile) {
    sample.read(source, context);
    sample.read(target, context);
  }
  context.parallel(source.cols(), [&](Index j) {
    BinEdges& e = edges[at(j)];
    if (kind == BoostBins::uniform) {
      uniform_edges(e);
    } else {
      quantile_edges(sample.column(j), e);
    }
    set_middles(e);
  });
  return edges;
}

void bin_codes(const Features& x, const std::vector<BinEdges>& edges, const std::vector<bool>& label,
               std::vector<std::uint8_t>& plain, std::vector<std::uint8_t>& marked, const Context& context) {
  std::vector<Padded> padded(edges.size());
  for (std::size_t j = 0; j < edges.size(); ++j) {
    padded[j].fill(infinity);
    std::copy(edges[j].edge.begin(), edges[j].edge.end(), padded[j].begin());
  }
  // Number of labelled rows before each block.
  std::vector<Index> before(static_cast<std::size_t>(x.blocks()) + 1, 0);
  for (Index b = 0; b < x.blocks() && !label.empty(); ++b) {
    const auto begin = label.begin() + x.first_row(b);
    before[at(b) + 1] = before[at(b)] + std::count(begin, begin + x.rows_in(b), true);
  }
  const Index marks = before.back(), others = x.rows() - marks;
  plain.resize(static_cast<std::size_t>(others * x.cols()));
  marked.resize(static_cast<std::size_t>(marks * x.cols()));
  context.parallel(x.blocks(), [&](Index b) {
    Scratch scratch;
    const RowBlock block = x.block(b, scratch);
    const Index first = before[at(b)];
    for (Index j = 0; j < x.cols(); ++j) {
      const Padded& search = padded[at(j)];
      std::uint8_t* to = plain.data() + j * others + block.first - first;
      std::uint8_t* to_marked = marked.data() + j * marks + first;
      for (Index i = 0; i < block.x.rows(); ++i) {
        const bool mark = !label.empty() && label[at(block.first + i)];
        *(mark ? to_marked : to)++ = code_of(search, block.x(i, j));
      }
    }
  });
}

}  // namespace ecotone
