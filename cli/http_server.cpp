#include "cli/http_server.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <cctype>
#include <chrono>

#include "ecotone/base/error.h"
#include "ecotone/data/formats/number.h"

namespace ecotone::cli {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using Message = http::request<http::string_body>;
using Answer = http::response<http::string_body>;

/// The request as handlers see it; empty if its address is malformed.
std::optional<HttpRequest> read_request(Message& message) {
  HttpRequest request{std::string(message.method_string()), {}, {}, {}, std::move(message.body())};
  const std::string target(message.target());
  const std::size_t mark = target.find('?');
  const std::optional<std::string> path = url_decoded(std::string_view(target).substr(0, mark));
  if (!path || !path->starts_with('/')) return std::nullopt;
  request.path = *path;
  for (std::size_t begin = mark; begin < target.size();) {
    const std::size_t end = std::min(target.find('&', begin + 1), target.size());
    const std::string_view part = std::string_view(target).substr(begin + 1, end - begin - 1);
    const std::size_t equals = std::min(part.find('='), part.size());
    const auto name = url_decoded(part.substr(0, equals));
    const auto value = url_decoded(part.substr(std::min(equals + 1, part.size())));
    if (!name || !value) return std::nullopt;
    if (!part.empty() && !request.query.emplace(*name, *value).second) return std::nullopt;
    begin = end;
  }
  for (const auto& field : message) {
    const std::string value(field.value());
    const auto [place, fresh] = request.headers.emplace(lower_case(std::string(field.name_string())), value);
    if (!fresh) place->second += ", " + value;
  }
  return request;
}

HttpResponse refusal(int status, const char* code, const char* message) {
  return {status, "application/json", fmt::format(R"({{"error":{{"code":"{}","message":"{}"}}}})", code, message)};
}

/// What is said to a request that could not be read; a status of 0: nothing.
HttpResponse refusal_of(const beast::error_code& error) {
  if (error == http::error::header_limit) return refusal(431, "header_limit", "the headers are too long");
  if (error == http::error::body_limit) return refusal(413, "body_limit", "the request is too long");
  if (error == http::error::end_of_stream || error == http::error::partial_message ||
      error.category() != make_error_code(http::error::bad_method).category())
    return {0, {}, {}};
  return refusal(400, "bad_request", "this is not an HTTP request");
}

Answer make_answer(HttpResponse response, unsigned version, bool keep_alive, bool head) {
  Answer answer{static_cast<http::status>(response.status), version};
  answer.set(http::field::content_type, response.type);
  answer.set("X-Content-Type-Options", "nosniff");
  answer.set("Referrer-Policy", "no-referrer");
  answer.set("Cache-Control", "no-store");
  answer.set("Cross-Origin-Resource-Policy", "same-origin");
  answer.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
  for (const auto& [name, value] : response.headers) answer.set(name, value);
  answer.keep_alive(keep_alive);
  if (response.status != 204) answer.content_length(response.body.size());
  if (!head) answer.body() = std::move(response.body);
  return answer;
}

/// What the connections share.
struct Service {
  HttpSettings settings;
  HttpServer::Handler handler;
  std::size_t open = 0;  ///< connections
  bool ending = false;   ///< after the answer that is on its way
  std::function<void()> end;
};

/// One connection: reads a request, writes the answer, and again. It lives as long as one of the two is under way.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, Service& service)
      : stream_(std::move(socket)),
        service_(service),
        buffer_(service.settings.header_limit + service.settings.body_limit) {
    ++service_.open;
  }
  ~Connection() { --service_.open; }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void read() {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(service_.settings.header_limit));
    parser_->body_limit(service_.settings.body_limit);
    stream_.expires_after(std::chrono::seconds(service_.settings.seconds));
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](const beast::error_code& error, std::size_t) { self->reply(error); });
  }

 private:
  void reply(const beast::error_code& error) {
    HttpResponse response = error ? refusal_of(error) : HttpResponse{};
    if (error && response.status == 0) return close();
    Message message = parser_->release();
    const bool keep = !error && message.keep_alive();
    const unsigned version = error ? 11 : message.version();
    const bool head = !error && message.method() == http::verb::head;
    if (!error) response = handle(message);
    answer_ = make_answer(std::move(response), version, keep && !service_.ending, head);
    stream_.expires_after(std::chrono::seconds(service_.settings.seconds));
    http::async_write(stream_, answer_, [self = shared_from_this()](const beast::error_code& failed, std::size_t) {
      self->written(failed);
    });
  }

  HttpResponse handle(Message& message) {
    const std::optional<HttpRequest> request = read_request(message);
    if (!request) return refusal(400, "bad_address", "the address is malformed");
    try {
      return service_.handler(*request);
    } catch (...) {
      return refusal(500, "internal", "the server failed");
    }
  }

  void written(const beast::error_code& failed) {
    const bool keep = !failed && answer_.keep_alive();
    answer_ = {};
    if (service_.ending) service_.end();
    if (!keep) return close();
    read();
  }

  /// Ends the connection. What still arrives is read for a moment: closed with bytes unread, the system would reset the
  /// connection, and the other side might never see the answer.
  void close() {
    beast::error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    stream_.expires_after(std::chrono::seconds(1));
    drain(std::size_t{1} << 20);
  }

  void drain(std::size_t left) {
    buffer_.clear();
    stream_.async_read_some(buffer_.prepare(std::size_t{8} << 10),
                            [self = shared_from_this(), left](const beast::error_code& error, std::size_t bytes) {
                              if (!error && bytes < left) self->drain(left - bytes);
                            });
  }

  beast::tcp_stream stream_;
  Service& service_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  Answer answer_;
};

}  // namespace

std::string HttpRequest::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

std::string HttpRequest::value(const std::string& name) const {
  const auto found = query.find(name);
  return found == query.end() ? "" : found->second;
}

struct HttpServer::State {
  Service service;
  asio::io_context context{1};
  tcp::acceptor acceptor{context};
  asio::steady_timer timer{context};
  asio::steady_timer pause{context};

  void accept() {
    acceptor.async_accept([this](const beast::error_code& error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (error) return accept_later();
      if (service.open < service.settings.connections) std::make_shared<Connection>(std::move(socket), service)->read();
      accept();
    });
  }

  /// Out of file descriptors, say: waits until some are free.
  void accept_later() {
    pause.expires_after(std::chrono::milliseconds(100));
    pause.async_wait([this](const beast::error_code& error) {
      if (!error) accept();
    });
  }

  void watch(const CancelFlag& end) {
    if (end.requested()) return context.stop();
    timer.expires_after(std::chrono::milliseconds(100));
    timer.async_wait([this, &end](const beast::error_code& error) {
      if (!error) watch(end);
    });
  }
};

HttpServer::HttpServer(const HttpSettings& settings, Handler handler) : state_(std::make_unique<State>()) {
  state_->service = {settings, std::move(handler), 0, false, [state = state_.get()] { state->context.stop(); }};
  beast::error_code error;
  const asio::ip::address address = asio::ip::make_address(settings.host, error);
  if (error) option_error("bad_host", "--host must be a numeric address such as 192.168.1.5, got '{}'", settings.host);
  try {
    const tcp::endpoint endpoint(address, settings.port);
    state_->acceptor.open(endpoint.protocol());
    state_->acceptor.set_option(asio::socket_base::reuse_address(true));
    state_->acceptor.bind(endpoint);
    state_->acceptor.listen();
  } catch (const boost::system::system_error& failure) {
    option_error("cannot_listen", "cannot serve on {} port {}: {}", settings.host, settings.port,
                 failure.code().message());
  }
}

HttpServer::~HttpServer() = default;

std::uint16_t HttpServer::port() const { return state_->acceptor.local_endpoint().port(); }

void HttpServer::run(const CancelFlag& end) {
  state_->accept();
  state_->watch(end);
  state_->context.run();
}

void HttpServer::stop() { state_->service.ending = true; }

std::optional<std::string> url_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    const auto hex = [&](std::size_t k) {
      return k < text.size() && std::isxdigit(static_cast<unsigned char>(text[k]));
    };
    if (!hex(i + 1) || !hex(i + 2)) return std::nullopt;
    const char c = static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
    if (c == '\0') return std::nullopt;
    decoded += c;
    i += 2;
  }
  return decoded;
}

}  // namespace ecotone::cli
