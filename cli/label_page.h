#pragma once

#include <optional>
#include <string>

#include "cli/http_server.h"
#include "cli/label.h"
#include "cli/label_images.h"
#include "cli/label_outputs.h"

namespace ecotone::cli {

/// Where the page is served and what opens it.
struct PageSettings {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  std::string token;
};

/// Reads --host, --port and --token; makes a random token where none is given. Option errors: `needs_token` if the host
/// is not this computer itself and there is no token, `bad_token`, `bad_host`.
PageSettings page_settings(const LabelFlags& flags);

/// The answers to requests for the page and by it. Each is checked before anything else happens: it must be addressed
/// to this server by name (or another site could reach it under a name of its own), must not come from the page of
/// another site, and must carry the token. Only "no icon" is told without it.
class LabelPage {
 public:
  LabelPage(const LabelWork& work, PageSettings settings, std::optional<LabelImages> images);

  HttpResponse answer(const HttpRequest& request);
  /// The port that is served, once it is known.
  void set_port(std::uint16_t port);
  /// "http://127.0.0.1:8000/?token=.."
  std::string url() const;
  /// What was written when the person finished; empty: not yet.
  const std::optional<LabelOutputs>& finished() const { return finished_; }

 private:
  std::optional<HttpResponse> refused(const HttpRequest& request) const;
  HttpResponse routed(const HttpRequest& request);
  HttpResponse page() const;
  HttpResponse post(const HttpRequest& request);
  HttpResponse finish();
  Json state(const std::string& page);

  const LabelWork& work_;
  PageSettings settings_;
  std::optional<LabelImages> images_;
  std::optional<LabelOutputs> finished_;
};

/// Serves the page until the person finishes or stops the program. Gives what was written, if the person finished.
std::optional<LabelOutputs> serve_label_page(const LabelWork& work, const LabelFlags& flags,
                                             std::optional<LabelImages> images);

}  // namespace ecotone::cli
