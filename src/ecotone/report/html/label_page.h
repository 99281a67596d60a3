#pragma once

#include <string>
#include <string_view>

namespace ecotone {

/// The page of `ecotone label`: one document with its style and script inside. A policy that allows scripts and styles
/// with this nonce alone lets it work.
std::string label_page(std::string_view nonce);

/// The files of label_page/ that it is made of (cmake/HtmlPages.cmake).
std::string_view label_page_html();
std::string_view label_page_css();
std::string_view label_page_js();

}  // namespace ecotone
