#pragma once

#include <string_view>

namespace ecotone {

/// The files of report_page/, and their SHA-256 in hexadecimal (cmake/HtmlPages.cmake): a page allows these alone.
std::string_view report_page_css();
std::string_view report_page_css_hash();
std::string_view report_page_js();
std::string_view report_page_js_hash();

}  // namespace ecotone
