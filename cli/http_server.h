#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ecotone/base/thread_pool.h"

/// A small HTTP server for one page on this computer. Only http_server.cpp knows the library behind it.
namespace ecotone::cli {

struct HttpRequest {
  std::string method;  ///< GET, POST, ..
  std::string path;    ///< decoded, without the query
  std::map<std::string, std::string> query;
  std::map<std::string, std::string> headers;  ///< names in small letters; those given twice are joined by ", "
  std::string body;

  /// A header or a value of the query, or empty.
  std::string header(const std::string& name) const;
  std::string value(const std::string& name) const;
};

struct HttpResponse {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};  ///< further ones
};

struct HttpSettings {
  std::string host = "127.0.0.1";  ///< a numeric address
  std::uint16_t port = 0;          ///< 0: any that is free
  std::size_t header_limit = std::size_t{16} << 10;
  std::size_t body_limit = std::size_t{64} << 10;
  std::size_t connections = 256;  ///< more are closed at once
  int seconds = 10;               ///< for a request to arrive, the wait for it included, and for an answer to be taken
};

/// Answers requests one after the other on the thread that calls run(). Whatever arrives, a handler sees only whole
/// requests within the limits; others get a status of 400 or more, or a closed connection. Every answer tells browsers
/// not to keep it, guess its type or send its address elsewhere, and to load nothing for it; a policy of the handler's
/// own replaces the last.
class HttpServer {
 public:
  using Handler = std::function<HttpResponse(const HttpRequest&)>;

  /// Listens from here on. Option errors: `bad_host` if the host is no numeric address, `cannot_listen`.
  HttpServer(const HttpSettings& settings, Handler handler);
  ~HttpServer();

  std::uint16_t port() const;
  /// Serves until stop(), or until the flag is set, which is looked at ten times a second.
  void run(const CancelFlag& end);
  /// Ends run() once the answer that is being made was sent; only from a handler.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Decodes %20 and the like; empty if the text is malformed or holds a zero byte.
std::optional<std::string> url_decoded(std::string_view text);

}  // namespace ecotone::cli
