// SPDX-License-Identifier: Apache-2.0
#include "net/tls/handshake.hpp"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <new>
#include <utility>

#include <weft/error.hpp>

#include "net/tls/callbacks.hpp"
#include "net/tls/certificates.hpp"
#include "runtime/os/printable.hpp"

namespace weft::net::tls {

void handshake::release::operator()(ssl_st* what) const noexcept { SSL_free(what); }

handshake::handshake(const settings& with, int socket, std::span<const std::byte> name,
                     const key& shared)
    : socket_(socket), is_server_(false), name_(name.begin(), name.end()), shared_(shared) {
  begin(with);
  // No certificate is good: a side without the key cannot show one in its place.
  SSL_set_verify(session_.get(), SSL_VERIFY_PEER, nullptr);
  SSL_set_connect_state(session_.get());
}

handshake::handshake(const settings& with, int socket, key_finder find)
    : socket_(socket), is_server_(true), find_(std::move(find)) {
  begin(with);
  SSL_set_accept_state(session_.get());
}

handshake::handshake(const settings& with, int socket, std::string host)
    : socket_(socket),
      is_server_(false),
      authority_(with.files_.authority),
      host_(std::move(host)) {
  begin(with);
  if (!expect_host(session_.get(), host_))
    throw error(errc::invalid_argument,
                fmt::format("no certificate can be for '{}'", runtime::printable(host_)));
  SSL_set_connect_state(session_.get());
}

handshake::handshake(const settings& with, int socket)
    : socket_(socket), is_server_(true), authority_(with.files_.authority) {
  begin(with);
  SSL_set_accept_state(session_.get());
}

handshake::~handshake() {
  OPENSSL_cleanse(shared_.data(), shared_.size());
  OPENSSL_cleanse(traffic_.data(), sizeof traffic_);
}

void handshake::begin(const settings& with) {
  session_.reset(SSL_new(with.shared_.get()));
  BIO* const socket = session_ ? BIO_new(with.socket_.get()) : nullptr;
  if (!socket) {
    ERR_clear_error();
    throw error(errc::out_of_memory, "no memory for a TLS connection");
  }
  BIO_set_data(socket, this);
  BIO_set_init(socket, 1);
  SSL_set_bio(session_.get(), socket, socket);  // owns it
  SSL_set_app_data(session_.get(), this);
}

/// \return bytes; 0: the end; -1: none now, or a fault
ssize_t handshake::receive(std::span<std::byte> into) noexcept {
  const std::size_t most = authority_.empty() ? most_bytes : most_bytes_of_certificates;
  into = into.first(std::min(into.size(), most - heard_));
  if (into.empty()) {
    fault_ = EPROTO;
    return -1;
  }
  ssize_t n = 0;
  do {
    n = ::recv(socket_, into.data(), into.size(), MSG_DONTWAIT);
  } while (n < 0 && errno == EINTR);
  if (n == 0) has_ended_ = true;
  is_empty_ = n < 0 && errno == EAGAIN;
  if (n < 0 && !is_empty_) fault_ = errno;
  if (n > 0) heard_ += static_cast<std::size_t>(n);
  return n;
}

bool handshake::append(std::span<const std::byte> what) noexcept {
  try {
    unsent_.insert(unsent_.end(), what.begin(), what.end());
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

/// A socket that has sent nothing yet takes a whole flight.
bool handshake::flush() noexcept {
  const auto size = static_cast<ssize_t>(unsent_.size());
  const bool sent = size == 0 || ::send(socket_, unsent_.data(), unsent_.size(),
                                        MSG_NOSIGNAL | MSG_DONTWAIT) == size;
  unsent_.clear();
  return sent;
}

/// A line of OpenSSL's key log: a label, the client's random bytes, the secret, with blanks between
/// them; bytes as two digits each.
void handshake::note_secret(std::string_view line) noexcept {
  const std::string_view label = line.substr(0, line.find(' '));
  const bool is_clients = label == "CLIENT_TRAFFIC_SECRET_0";
  if (!is_clients && label != "SERVER_TRAFFIC_SECRET_0") return;
  key& into = traffic_[is_clients ? 0 : 1];
  const std::string_view digits = line.substr(line.rfind(' ') + 1);
  if (digits.size() != 2 * into.size()) return;
  for (std::size_t i = 0; i != into.size(); ++i) {
    unsigned char byte = 0;
    std::from_chars(digits.data() + 2 * i, digits.data() + 2 * i + 2, byte, 16);
    into[i] = std::byte{byte};
  }
  ++secrets_;
}

step handshake::go_on() noexcept {
  ERR_clear_error();
  is_empty_ = false;
  const int done = SSL_do_handshake(session_.get());
  const bool sent = flush();
  if (done != 1) return judge();
  if (!sent) return step::hung_up;
  return is_proven() && secrets_ == 2 ? step::done : step::failed;
}

/// What OpenSSL has been set to insist on, once more.
bool handshake::is_proven() const noexcept {
  const bool is_by_key = SSL_session_reused(session_.get()) == 1;
  if (authority_.empty()) return is_by_key;
  return !is_by_key && SSL_get0_peer_certificate(session_.get()) != nullptr &&
         SSL_get_verify_result(session_.get()) == X509_V_OK;
}

std::shared_ptr<const peer_certificate> handshake::certificate() const {
  if (authority_.empty()) return nullptr;
  return std::make_shared<peer_certificate>(describe(SSL_get0_peer_certificate(session_.get())));
}

/// \param why as OpenSSL has it; 0: it has found nothing wrong
std::string handshake::words_of(unsigned long why) const {
  if (fault_ == EPROTO) return "its handshake is too long";
  if (why == 0) return "it has hung up";
  const int reason = ERR_GET_REASON(why);
  const bool is_alert = reason > SSL_AD_REASON_OFFSET;
  if (!authority_.empty())
    return is_alert ? words_of_alert(reason - SSL_AD_REASON_OFFSET)
                    : words_of_failure(why, {SSL_get_verify_result(session_.get()), refused_, host_,
                                             authority_});
  const char* const words = ERR_reason_error_string(why);
  return words ? words : "it has hung up";
}

step handshake::judge() noexcept {
  if (is_empty_) return step::again;
  const unsigned long why = ERR_peek_last_error();
  const bool is_refused = why != 0 && ERR_GET_REASON(why) > SSL_AD_REASON_OFFSET;
  const bool is_gone = fault_ != EPROTO && (has_ended_ || fault_ != 0);
  try {
    if (trouble_.empty()) trouble_ = words_of(why);
  } catch (const std::bad_alloc&) {
    // No memory: without words.
  }
  ERR_clear_error();
  drop_rest();
  if (is_refused) return step::turned_away;
  return is_gone ? step::hung_up : step::failed;
}

/// Bytes that nothing has read make the end of the connection a reset, which may overtake the
/// alert.
void handshake::drop_rest() noexcept {
  std::array<std::byte, 4096> rest;
  while (fault_ == 0 && receive(rest) > 0) continue;
}

key handshake::secret_for(std::string_view word) const noexcept {
  key made{};
  // It fails only before the handshake.
  SSL_export_keying_material(session_.get(), reinterpret_cast<unsigned char*>(made.data()),
                             made.size(), word.data(), word.size(), nullptr, 0, 0);
  return made;
}

}  // namespace weft::net::tls
