#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Pictures inside a page: their colours come from the page's style sheet, by class.
namespace ecotone::report {

/// An SVG element under construction. All words are escaped.
class Svg {
 public:
  /// `description` is for those who do not see the picture.
  Svg(double width, double height, const std::string& description);

  void line(double x1, double y1, double x2, double y2, std::string_view look);
  void rect(double x, double y, double width, double height, std::string_view look, const std::string& title = "");
  void circle(double x, double y, double radius, std::string_view look, const std::string& title = "");
  /// `anchor`: start, middle or end.
  void text(double x, double y, std::string_view anchor, const std::string& words, std::string_view look = "");
  /// The same, read upward from this point.
  void upward_text(double x, double y, std::string_view anchor, const std::string& words, std::string_view look = "");

  std::string done() &&;

 private:
  std::string svg_;
};

/// A text that is at most this wide in a picture, with an ellipsis if something was cut off.
std::string fitted(const std::string& text, double width);
/// About how wide a text is in a picture.
double drawn_width(const std::string& text);

/// A picture with what everybody may take of it: its data as CSV and itself as SVG, each by a button.
struct Figure {
  std::string name;                             ///< of the files that are saved, and of the element
  std::string caption;                          ///< HTML; may be empty
  std::string wide;                             ///< the picture
  std::string narrow;                           ///< the same for a phone; empty: `wide` is scrolled there
  std::vector<std::vector<std::string>> table;  ///< the data, the head first
  std::string csv = {};                         ///< the same, if it is CSV already
};
std::string figure(const Figure& figure);

/// A number as CSV has it; empty if there is none.
std::string plain_number(double value);

}  // namespace ecotone::report
