#pragma once

#include <string>
#include <tuple>

#include "ecotone/methods/method.h"

/// Several classes for every binary learner. The registry wraps each method that learns two classes, so none parses
/// these options itself. The wrapper multiplies row weights by class weights and splits the classes into binary
/// problems: one versus all, one versus one, or the columns of a code matrix. The problems are fitted in order, each on
/// all threads, and decoded row by row. Their states are saved under `binary0/`, `binary1/`, ...; with two classes, or
/// if the learner treats all classes at once (`softmax`), nothing is nested.
namespace ecotone {

/// How a multiclass problem is split into binary problems. softmax: the learner handles it itself; automatic: ovo, but
/// ova where a kernel of domains needs all rows of a domain. A learner that wants `auto` declares the option itself.
enum class Decomposition { softmax, ova, ovo, ecoc, automatic };
/// Where the code of ecoc comes from. automatic: exhaustive for up to 7 classes, else random.
enum class Codes { automatic, exhaustive, random };
enum class Decode { hamming, loss };
enum class Ties { probability, random };

/// Options that the registry adds to every binary learner.
struct MulticlassOptions {
  Decomposition multiclass = Decomposition::softmax;
  Codes codes = Codes::automatic;
  int code_length = 0;
  FilePath code;
  Decode decode = Decode::loss;
  Ties ties = Ties::probability;
  std::string class_weight = "none";

  static constexpr auto fields() {
    return std::tuple{
        common_field(
            "multiclass", &MulticlassOptions::multiclass,
            "Strategy for more than two classes: all at once, one versus all, one versus one, or error-correcting "
            "output codes",
            one_of("softmax", "ova", "ovo", "ecoc", "auto")),
        common_field(
            "codes", &MulticlassOptions::codes,
            "Code of ecoc; auto: exhaustive (2^(R-1) - 1 columns) for up to 7 classes, else random with row distance "
            "at least 3",
            one_of("auto", "exhaustive", "random")),
        common_field("code_length", &MulticlassOptions::code_length,
                     "Columns of a random code; 0: 10 log2 R for R classes", between(0, 10000)),
        common_field("code", &MulticlassOptions::code,
                     "CSV file with your own code for ecoc: one row of -1 and 1 per class, in class order, no header"),
        common_field("decode", &MulticlassOptions::decode,
                     "How ecoc finds the nearest class: by Hamming distance or by summed logistic loss",
                     one_of("hamming", "loss")),
        common_field("ties", &MulticlassOptions::ties,
                     "How ovo breaks tied votes: by the larger sum of pairwise probabilities, or at random",
                     one_of("probability", "random")),
        common_field("class_weight", &MulticlassOptions::class_weight,
                     "Multiplies row weights: none, balanced (total / (classes x weight of the class)) or "
                     "name:weight,name:weight")};
  }
};

/// Adds multiclass problems and class weights to a binary learner. Class weights multiply the row weights first. Two
/// classes, and several with softmax, go to the learner as they are; otherwise one model per binary problem is fitted
/// in order:
/// - ova: class r against the rest, predicted by the largest score (59.28); probabilities normalised;
/// - ovo: each pair on its own rows, by votes; probabilities by pairwise coupling;
/// - ecoc: one problem per column of a code, by the nearest row; probabilities softmax of minus the losses over the
///   mean row distance.
/// A selector has no options for it: it takes each class against the rest (ova), and passes on the columns of all.
/// The state holds each binary state: arrays `binary0/weights`, ..., info `binary`; ecoc adds `code`,
/// `min_row_distance` and `corrects`. Errors of a binary problem keep their code and name the problem.
Method with_multiclass(Method binary);

}  // namespace ecotone
