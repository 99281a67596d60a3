#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/linalg/single.h"

/// Restricted Boltzmann machines and their training by contrastive divergence (hinton2006), in single precision: the
/// engine of deep belief nets. A training step is three kinds of matrix product and one sigmoid loop. Products are cut
/// into fixed tiles of 128 units, each with its own random stream, so the bytes of the result do not depend on the
/// number of threads. Written by hand because no library offers that.
namespace ecotone {

enum class VisibleUnits { binary, gaussian };

/// p(v, h) is proportional to exp(-E), h in {0, 1}:
///   binary v in {0, 1}: E = -v'Wh - a'v - b'h
///   Gaussian v:         E = |v - a|^2 / 2 - v'Wh - b'h
struct Rbm {
  VisibleUnits units = VisibleUnits::binary;
  SingleMatrix weights;       ///< W, visible x hidden
  SingleVector visible_bias;  ///< a
  SingleVector hidden_bias;   ///< b

  Index visible() const { return weights.rows(); }
  Index hidden() const { return weights.cols(); }
};

/// E[h | v] = sigmoid(v W + b) of each row of v, on the calling thread: for use inside a block.
void hidden_means(const Rbm& rbm, ConstSingleView v, SingleView h);

struct RbmOptions {
  Index hidden = 500;
  int epochs = 15;
  Index batch = 100;  ///< rows per step, at most; the steps of an epoch differ by at most one row
  int cd = 1;         ///< steps of the chain
  double rate = 0.05;
  double momentum = 0.9;  ///< from the sixth epoch on; before that 1/2, or this if it is smaller
  double weight_decay = 2e-4;
  std::string name = "rbm";  ///< name of the progress bar and of the random streams
};

/// Steps of contrastive divergence, starting from a given machine.
class ContrastiveDivergence {
 public:
  ContrastiveDivergence(Rbm start, RbmOptions options, const Context& context);

  /// One step on these rows of the data; `number` is the key of its random draws, so that steps with equal numbers draw
  /// the same values. Returns the sum of squared differences between the rows and the means of their first
  /// reconstruction.
  ///
  /// W <- W + u,  u <- momentum u + rate (<v h'> of the data - <v h'> of the chain - weight_decay W), and likewise for
  /// the biases, without decay; <> are means over the rows. With cd = 1 the v of the chain are means, which is less
  /// noisy; a longer chain samples them too, so that it converges to the distribution of the machine.
  double step(ConstSingleView data, std::span<const Index> rows, double momentum, std::uint64_t number);

  const Rbm& rbm() const { return rbm_; }
  /// Bytes that training needs in addition to the data.
  static double memory(Index visible, const RbmOptions& options);

 private:
  /// Whether a pass over the hidden units also samples them.
  enum class Draw { no, yes };

  void gather(ConstSingleView data, std::span<const Index> rows);
  void up(ConstSingleView v, SingleView h, Draw draw, std::uint64_t key);
  /// The reconstruction v from the sampled hidden units; returns its squared distance from the data.
  double down(SingleView v, Draw draw, std::uint64_t key);
  void update(Index rows, double momentum);
  void move_weights(Index tile, Index rows, float momentum);
  void move_hidden_bias(Index tile, Index rows, float momentum);

  Rbm rbm_;
  RbmOptions options_;
  Context context_;
  SingleMatrix weight_velocity_;
  SingleVector visible_velocity_;
  SingleVector hidden_velocity_;
  SingleMatrix v_;      ///< rows of the data, then as many of the chain
  SingleMatrix h_;      ///< E[h | v] of them
  SingleMatrix drawn_;  ///< hidden units drawn from the means
  std::string hidden_stream_;
  std::string visible_stream_;
};

/// The result of training.
struct RbmFit {
  Rbm rbm;
  Vector reconstruction;  ///< per epoch: mean over rows and visible units of (v - reconstruction)^2
  bool finite = true;     ///< false: the weights overflowed because the rate is too large; training stopped there
};

/// Trains a machine on the rows of v (at least one), shuffled in each epoch. Weights start from N(0, 0.01^2), biases of
/// binary visible units at the log odds of their means, others at 0.
RbmFit fit_rbm(ConstSingleView v, VisibleUnits units, const RbmOptions& options, const Context& context);

}  // namespace ecotone
