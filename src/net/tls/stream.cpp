// SPDX-License-Identifier: Apache-2.0
#include "net/tls/stream.hpp"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include <weft/error.hpp>

#include "net/tls/callbacks.hpp"

namespace weft::net::tls {

namespace {

constexpr std::size_t bytes_of_record = SSL3_RT_MAX_PLAIN_LENGTH;
// Records leave together: in single ones 1 MiB takes 1.4 times as long.
constexpr std::size_t bytes_per_send = 64 * 1024;
// Other peers have their turn after so much.
constexpr std::size_t most_of_read = 256 * 1024;
// A first look at the socket takes so much, and few small messages are longer.
constexpr std::size_t bytes_of_look = 4 * 1024;

}  // namespace

void stream::release::operator()(ssl_st* what) const noexcept { SSL_free(what); }

stream::stream(const settings& with, int socket, std::span<const std::byte> name, const key& shared)
    : with_(with), socket_(socket), name_(name.begin(), name.end()), shared_(shared) {
  begin();
  // No certificate is good: a side without the key cannot show one in its place.
  SSL_set_verify(session_.get(), SSL_VERIFY_PEER, nullptr);
  SSL_set_connect_state(session_.get());
}

stream::stream(const settings& with, int socket, key_finder find)
    : with_(with), socket_(socket), find_(std::move(find)) {
  begin();
  SSL_set_accept_state(session_.get());
}

stream::~stream() { OPENSSL_cleanse(shared_.data(), shared_.size()); }

void stream::begin() {
  session_.reset(SSL_new(with_.shared_.get()));
  BIO* const socket = session_ ? BIO_new(with_.socket_.get()) : nullptr;
  if (!socket) {
    ERR_clear_error();
    throw error(errc::out_of_memory, "no memory for a TLS connection");
  }
  BIO_set_data(socket, this);
  BIO_set_init(socket, 1);
  SSL_set_bio(session_.get(), socket, socket);  // owns it
  SSL_set_app_data(session_.get(), this);
}

/// What OpenSSL says of the last call.
void stream::note_trouble(const char* otherwise) noexcept {
  const char* const why = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  try {
    if (trouble_.empty()) trouble_ = why ? why : otherwise;
  } catch (const std::bad_alloc&) {
    // No memory: without words.
  }
}

// --- the socket ----------------------------------------------------------------------------------

/// \return bytes; 0: the end; -1: none now, or a fault
ssize_t stream::receive(std::span<std::byte> into) noexcept {
  if (looked_ != 0) {
    const std::size_t n = std::min(into.size(), looked_ - taken_);
    std::memcpy(into.data(), look_.get() + taken_, n);
    taken_ += n;
    if (taken_ == looked_) taken_ = looked_ = 0;
    return static_cast<ssize_t>(n);
  }
  if (!is_open_) into = into.first(std::min(into.size(), most_of_handshake - heard_));
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
  is_bulk_ = n > static_cast<ssize_t>(bytes_of_record);
  if (n < 0 && !is_empty_) fault_ = errno;
  if (n > 0 && !is_open_) heard_ += static_cast<std::size_t>(n);
  return n;
}

/// A poll that finds nothing costs as much as that of a bare socket: OpenSSL takes longer for it
/// than for a small record. \return false: nothing has come
bool stream::look() noexcept {
  if (may_have_more_ || is_bulk_ || has_ended_ || fault_ != 0) return true;
  if (!look_) look_.reset(new (std::nothrow) std::byte[bytes_of_look]);
  if (!look_) return true;
  const ssize_t n = receive({look_.get(), bytes_of_look});
  looked_ = n > 0 ? static_cast<std::size_t>(n) : 0;
  return !is_empty_;
}

/// \return bytes, perhaps 0; -1: a fault
ssize_t stream::send_some(std::span<const std::byte> what) noexcept {
  ssize_t n = 0;
  do {
    n = ::send(socket_, what.data(), what.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (n < 0 && errno == EINTR);
  is_full_ = n < 0 ? errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM
                   : static_cast<std::size_t>(n) != what.size();
  if (n < 0 && !is_full_) fault_ = errno;
  return n < 0 && is_full_ ? 0 : n;
}

bool stream::take_sealed(std::span<const std::byte> record) noexcept {
  try {
    sealed_.insert(sealed_.end(), record.begin(), record.end());
    return true;
  } catch (const std::bad_alloc&) {
    fault_ = EPROTO;  // the other side would miss a record
    return false;
  }
}

bool stream::flush() noexcept {
  while (sent_ != sealed_.size()) {
    const ssize_t n = send_some(unsent());
    if (n < 0) return false;
    sent_ += static_cast<std::size_t>(n);
    if (!is_full_) continue;
    errno = EAGAIN;
    return false;
  }
  sealed_.clear();
  sent_ = 0;
  is_full_ = false;
  return true;
}

// --- the handshake -------------------------------------------------------------------------------

stream::step stream::handshake() noexcept {
  if (is_open_) return step::done;
  ERR_clear_error();
  is_empty_ = false;
  const int done = SSL_do_handshake(session_.get());
  const bool sent = flush() || errno == EAGAIN;
  if (done != 1) return judge_handshake();
  OPENSSL_cleanse(shared_.data(), shared_.size());
  if (!sent) return step::hung_up;
  if (SSL_session_reused(session_.get()) != 1) return step::failed;  // no key was used
  is_open_ = true;
  may_have_more_ = SSL_has_pending(session_.get()) != 0;
  return step::done;
}

stream::step stream::judge_handshake() noexcept {
  if (is_empty_) return step::again;
  const unsigned long why = ERR_peek_last_error();
  const bool is_refused = why != 0 && ERR_GET_REASON(why) > SSL_AD_REASON_OFFSET;
  const bool says_too_much = fault_ == EPROTO;
  if (says_too_much) ERR_clear_error();
  note_trouble(says_too_much ? "its handshake is too long" : "it has hung up");
  if (is_refused) return step::turned_away;
  return !says_too_much && (has_ended_ || fault_ != 0) ? step::hung_up : step::failed;
}

key stream::secret_for(std::string_view word) const noexcept {
  key made{};
  // It fails only before the handshake.
  SSL_export_keying_material(session_.get(), reinterpret_cast<unsigned char*>(made.data()),
                             made.size(), word.data(), word.size(), nullptr, 0, 0);
  return made;
}

// --- traffic -------------------------------------------------------------------------------------

ssize_t stream::read(std::span<std::byte> into) noexcept {
  into = into.first(std::min(into.size(), most_of_read));
  std::size_t got = 0;
  if (!look()) {
    errno = EAGAIN;
    return -1;
  }
  is_empty_ = false;
  do {
    std::size_t n = 0;
    if (SSL_read_ex(session_.get(), into.data() + got, into.size() - got, &n) != 1) {
      may_have_more_ = got != 0 && !is_empty_;  // the reason is for the next call
      return got != 0 ? static_cast<ssize_t>(got) : end_of_reading();
    }
    got += n;
    may_have_more_ = SSL_has_pending(session_.get()) != 0;
  } while (may_have_more_ && got != into.size());
  return static_cast<ssize_t>(got);
}

/// Nothing was read.
ssize_t stream::end_of_reading() noexcept {
  if (is_empty_ && fault_ == 0) {
    errno = EAGAIN;
    return -1;
  }
  const bool orderly = (SSL_get_shutdown(session_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
  if (orderly || (has_ended_ && fault_ == 0)) {
    ERR_clear_error();
    return 0;
  }
  if (fault_ == 0) fault_ = EPROTO;
  note_trouble("the connection broke");
  errno = fault_;
  return -1;
}

/// One record.
bool stream::seal(std::span<const std::byte> what) noexcept {
  if (++records_ > with_.records_of_key_) {
    SSL_key_update(session_.get(), SSL_KEY_UPDATE_NOT_REQUESTED);
    records_ = 1;
  }
  std::size_t n = 0;
  if (SSL_write_ex(session_.get(), what.data(), what.size(), &n) == 1) return true;
  if (fault_ == 0) fault_ = EPROTO;
  note_trouble("there is no memory to seal a record in");
  return false;
}

ssize_t stream::write(std::span<const std::byte> what, bool gather) noexcept {
  if (is_full_ && !flush()) return -1;
  std::size_t taken = 0;
  while (taken != what.size() && !is_full_) {
    const std::size_t n = std::min(what.size() - taken, bytes_of_record);
    if (fault_ != 0 || !seal(what.subspan(taken, n))) break;
    taken += n;
    if (unsent().size() >= bytes_per_send) flush();
  }
  if (!gather) flush();  // a fault is found by the next call
  if (taken != 0 || what.empty()) return static_cast<ssize_t>(taken);
  errno = fault_ != 0 ? fault_ : EPIPE;
  return -1;
}

bool stream::seal_all(std::span<const std::byte> what) noexcept {
  while (fault_ == 0 && !what.empty()) {
    const std::size_t n = std::min(what.size(), bytes_of_record);
    if (!seal(what.first(n))) return false;
    what = what.subspan(n);
  }
  return fault_ == 0;
}

void stream::rest() noexcept {
  SSL_free_buffers(session_.get());
  if (sealed_.empty()) std::vector<std::byte>().swap(sealed_);
  if (looked_ == 0) look_.reset();
}

}  // namespace weft::net::tls
