#pragma once

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "ecotone/methods/adapt/prior/shares.h"
#include "ecotone/methods/method.h"

namespace ecotone {

enum class PriorRule { replay, always, never };

struct PriorOptions {
  PriorMethod method = PriorMethod::em;
  PriorRule correct = PriorRule::replay;

  static constexpr auto fields() {
    return std::tuple{
        field("method", &PriorOptions::method,
              "How shares are estimated: em (calibrated maximum likelihood), bbse (from predicted classes), rlls (the "
              "same with a penalty)",
              one_of("em", "bbse", "rlls")),
        field("correct", &PriorOptions::correct,
              "replay: correct predictions only if that gained when each source domain played the target, and did not "
              "make the log loss worse; always; never: only estimate the shares",
              one_of("replay", "always", "never"))};
  }
};

/// Why predictions are corrected, or not.
enum class PriorReason { gain, no_gain, log_loss, unverified, reversed, always, never };
std::string_view reason_name(PriorReason reason);
/// In words.
std::string_view reason_words(PriorReason reason);

/// What the sources taught about predictions and labels.
struct PriorState {
  double a = 1;
  Vector bias;
  Vector source_share;
  std::vector<TargetShares> targets;
  std::optional<PriorReplay> replay;
  std::vector<std::string> domains;  ///< of the replay, by number
  PriorReason reason = PriorReason::unverified;

  bool corrects() const { return reason == PriorReason::gain || reason == PriorReason::always; }
};

/// The predictions of a learner corrected for other shares of classes in a target (label shift).
class Prior : public Fitted {
 public:
  explicit Prior(PriorState state);

  static StageResult fit(const Upstream& upstream, const PriorOptions& options, const Context& context);
  static std::shared_ptr<const Fitted> load(const StageState& state, const PriorOptions& options,
                                            const StageInput& input);

  const PriorState& state() const { return state_; }
  /// Rows of a target are corrected, or all rows if there is one target and the batch names no domains.
  Prediction revised(Prediction before, const Batch& batch, const Context& context) const override;
  StageState save() const override;

 private:
  PriorState state_;
  bool loaded_ = false;

  /// Of rows of domains without shares, for models from files: fitting and scoring predict other domains on purpose.
  void warn_of_uncorrected(const Batch& batch, const std::vector<Index>& target_of, const Context& context) const;
};

}  // namespace ecotone
