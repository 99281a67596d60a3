#include "cli/label_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "cli/label_request.h"
#include "cli/output.h"
#include "cli/random_text.h"
#include "cli/signals.h"
#include "ecotone/base/error.h"
#include "ecotone/report/html/label_page.h"
#include "ecotone/report/json/json.h"

namespace ecotone::cli {
namespace {

constexpr std::size_t shortest_token = 16;

bool is_loopback(const std::string& host) { return host.starts_with("127.") || host == "::1"; }

/// Takes as long for every wrong token, so that it cannot be guessed digit by digit.
bool equal_secrets(std::string_view given, std::string_view wanted) {
  if (given.size() != wanted.size()) return false;
  unsigned char differences = 0;
  for (std::size_t i = 0; i < given.size(); ++i)
    differences = static_cast<unsigned char>(differences | (given[i] ^ wanted[i]));
  return differences == 0;
}

/// "127.0.0.1:8000", "[::1]:8000"; browsers leave port 80 out.
std::string host_and_port(const std::string& host, std::uint16_t port) {
  const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return port == 80 ? name : fmt::format("{}:{}", name, port);
}

/// Whether a Host header is an address of digits with this port: no name that another site could point here.
bool is_numeric_host(std::string_view given, std::uint16_t port) {
  const std::string ending = port == 80 ? "" : fmt::format(":{}", port);
  if (!given.ends_with(ending)) return false;
  given.remove_suffix(ending.size());
  const bool bracketed = given.starts_with('[') && given.ends_with(']');
  return !given.empty() &&
         given.find_first_not_of(bracketed ? "[]0123456789abcdefABCDEF:." : "0123456789.") == std::string_view::npos;
}

Json error_json(const std::string& code, const std::string& message) {
  return {{"error", {{"code", code}, {"message", message}}}};
}

HttpResponse json_answer(int status, const Json& json) {
  return {status, "application/json", json.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

HttpResponse refuse(int status, const std::string& code, const std::string& message) {
  return json_answer(status, error_json(code, message));
}

/// The status of an answer to a request that failed.
int status_of(const Error& error) {
  if (error.code() == "answered" || error.code() == "not_asked" || error.code() == "nothing_to_undo") return 409;
  if (error.code() == "no_image") return 404;
  return error.kind() == ErrorKind::option || error.kind() == ErrorKind::data ? 400 : 500;
}

}  // namespace

PageSettings page_settings(const LabelFlags& flags) {
  PageSettings settings{flags.host.empty() || flags.host == "localhost" ? "127.0.0.1" : flags.host,
                        static_cast<std::uint16_t>(flags.port), flags.token};
  const bool plain = std::ranges::all_of(
      flags.token, [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_' || c == '.' || c == '~'; });
  if (!flags.token.empty() && (flags.token.size() < shortest_token || !plain))
    option_error("bad_token", "--token must be at least {} letters, digits or any of - _ . ~, got {}", shortest_token,
                 plain ? fmt::format("{} of them", flags.token.size()) : "other characters");
  if (!is_loopback(settings.host) && flags.token.empty())
    option_error("needs_token",
                 "--host {} lets other computers in, and needs --token TEXT, a secret of at least {} characters",
                 settings.host, shortest_token);
  if (settings.token.empty()) settings.token = random_text();
  return settings;
}

LabelPage::LabelPage(const LabelWork& work, PageSettings settings, std::optional<LabelImages> images)
    : work_(work), settings_(std::move(settings)), images_(std::move(images)) {}

void LabelPage::set_port(std::uint16_t port) { settings_.port = port; }

std::string LabelPage::url() const {
  return fmt::format("http://{}/?token={}", host_and_port(settings_.host, settings_.port), settings_.token);
}

std::optional<HttpResponse> LabelPage::refused(const HttpRequest& request) const {
  const std::string host = request.header("host");
  const auto served = [&](const std::string& name) { return host == host_and_port(name, settings_.port); };
  const bool any = settings_.host == "0.0.0.0" || settings_.host == "::";
  if (!served("127.0.0.1") && !served("localhost") && !served("::1") && !served(settings_.host) &&
      !(any && is_numeric_host(host, settings_.port)))
    return refuse(403, "bad_host", "this server does not answer under that name");
  if (request.headers.contains("origin") && request.header("origin") != "http://" + host)
    return refuse(403, "bad_origin", "requests by pages of other sites are not answered");
  const std::string site = request.header("sec-fetch-site");
  if (request.headers.contains("sec-fetch-site") && site != "same-origin" && site != "none")
    return refuse(403, "bad_origin", "requests by pages of other sites are not answered");
  // Browsers ask for an icon on their own and without the token; there is none to show or hide.
  if (request.path == "/favicon.ico") return HttpResponse{204, "image/x-icon", {}};
  // Only what a browser opens by itself carries the token in its address; a header cannot be sent by a form.
  const bool by_address = request.path == "/" || request.path == "/api/image";
  if (!equal_secrets(by_address ? request.value("token") : request.header("x-token"), settings_.token))
    return refuse(403, "bad_token", "open the whole address that ecotone printed: the token is missing or wrong");
  return std::nullopt;
}

HttpResponse LabelPage::page() const {
  const std::string nonce = random_text();
  return {200,
          "text/html; charset=utf-8",
          label_page(nonce),
          {{"Content-Security-Policy",
            fmt::format("default-src 'none'; script-src 'nonce-{0}'; style-src 'nonce-{0}'; img-src 'self'; "
                        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
                        nonce)}}};
}

Json LabelPage::state(const std::string& page) { return to_json(work_.desk.state(page), work_.task); }

HttpResponse LabelPage::finish() {
  finished_ = write_label_outputs(work_);
  Json json = {{"finished", true}, {"files", finished_->files}};
  if (!finished_->model_error.empty()) json["model_error"] = finished_->model_error;
  return json_answer(200, json);
}

HttpResponse LabelPage::post(const HttpRequest& request) {
  if (!is_json_type(request.header("content-type")))
    return refuse(415, "bad_type", "the request must be of type application/json");
  const Json body = parse_request(request.body);
  const std::string page = request_name(body, "page");
  if (request.path == "/api/finish") return finish();
  try {
    const DeskState next = request.path == "/api/answer" ? work_.desk.answer(read_answer(body, work_.task))
                                                         : work_.desk.undo(page, request_name(body, "request"));
    return json_answer(200, to_json(next, work_.task));
  } catch (const Error& error) {
    if (status_of(error) != 409) throw;
    Json json = error_json(error.code(), error.what());
    json["state"] = state(page);
    return json_answer(409, json);
  }
}

HttpResponse LabelPage::routed(const HttpRequest& request) {
  constexpr std::pair<std::string_view, std::string_view> routes[] = {{"/", "GET"},          {"/api/state", "GET"},
                                                                      {"/api/image", "GET"}, {"/api/answer", "POST"},
                                                                      {"/api/undo", "POST"}, {"/api/finish", "POST"}};
  const auto route = std::ranges::find(routes, request.path, &std::pair<std::string_view, std::string_view>::first);
  if (route == std::end(routes)) return refuse(404, "not_found", "there is nothing under this address");
  if (request.method != route->second) {
    HttpResponse response = refuse(405, "bad_method", "this address is not for such requests");
    response.headers.emplace_back("Allow", route->second);
    return response;
  }
  if (request.method == "POST") return post(request);
  if (request.path == "/") return page();
  if (request.path == "/api/state") return json_answer(200, state(checked_name("page", request.value("page"))));
  if (!images_) return refuse(404, "no_image", "there are no pictures; --images COLUMN shows some");
  Picture picture = images_->of(read_row(request.value("row")));
  return {200, std::move(picture.type), std::move(picture.bytes)};
}

HttpResponse LabelPage::answer(const HttpRequest& request) {
  if (std::optional<HttpResponse> response = refused(request)) return *std::move(response);
  try {
    return routed(request);
  } catch (const Error& error) {
    return refuse(status_of(error), error.code(), error.what());
  } catch (const std::exception& error) {
    return refuse(500, "internal", error.what());
  }
}

std::optional<LabelOutputs> serve_label_page(const LabelWork& work, const LabelFlags& flags,
                                             std::optional<LabelImages> images) {
  const PageSettings settings = page_settings(flags);
  LabelPage page(work, settings, std::move(images));
  HttpSettings http;
  http.host = settings.host;
  http.port = settings.port;
  HttpServer* running = nullptr;
  HttpServer server(http, [&](const HttpRequest& request) {
    HttpResponse response = page.answer(request);
    if (page.finished()) running->stop();
    return response;
  });
  running = &server;
  page.set_port(server.port());
  if (!is_loopback(settings.host))
    work.session.warn_aside("the connection is not encrypted: whoever listens on the network sees rows and token");
  if (work.session.json()) write_standard_output(Json{{"url", page.url()}, {"folder", work.task.folder}}.dump() + '\n');
  work.session.say(fmt::format("open {}\n", page.url()));
  work.session.aside("every answer is saved at once; Ctrl-C ends, and the same command goes on from there");
  server.run(cancel_flag());
  return page.finished();
}

}  // namespace ecotone::cli
