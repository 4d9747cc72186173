// SPDX-License-Identifier: Apache-2.0
#include "net/tls/stream.hpp"

#include <openssl/crypto.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include <weft/error.hpp>

#include "net/tls/certificates.hpp"

namespace weft::net::tls {

namespace {

// Records leave together: in single ones 1 MiB takes 1.4 times as long.
constexpr std::size_t bytes_per_send = 64 * 1024;
// And arrive together; more than a record, so that one of them always fits.
constexpr std::size_t bytes_per_read = 64 * 1024;
// Other peers have their turn after so much.
constexpr std::size_t most_of_read = 256 * 1024;

// The only message that comes after the handshake (RFC 8446, 4.6.3): KeyUpdate, without a request.
constexpr std::byte key_update[] = {std::byte{24}, {}, {}, std::byte{1}, {}};

}  // namespace

std::byte* byte_queue::append(std::size_t n) noexcept {
  if (capacity_ - end_ < n) {
    const std::size_t waiting = size();
    const std::size_t larger = std::max(2 * capacity_, waiting + n);
    std::unique_ptr<std::byte[]> fresh(new (std::nothrow) std::byte[larger]);
    if (!fresh) return nullptr;
    if (waiting != 0) std::memcpy(fresh.get(), memory_.get() + begin_, waiting);
    memory_ = std::move(fresh);
    capacity_ = larger;
    begin_ = 0;
    end_ = waiting;
  }
  std::byte* const at = memory_.get() + end_;
  end_ += n;
  return at;
}

stream::stream(const settings& with, int socket, std::span<const std::byte> name, const key& shared)
    : records_of_key_(with.records_of_key_),
      socket_(socket),
      handshake_(std::make_unique<handshake>(with, socket, name, shared)) {}

stream::stream(const settings& with, int socket, key_finder find)
    : records_of_key_(with.records_of_key_),
      socket_(socket),
      handshake_(std::make_unique<handshake>(with, socket, std::move(find))) {}

stream::stream(const settings& with, int socket, std::string host)
    : records_of_key_(with.records_of_key_),
      socket_(socket),
      handshake_(std::make_unique<handshake>(with, socket, std::move(host))) {}

stream::stream(const settings& with, int socket)
    : records_of_key_(with.records_of_key_),
      socket_(socket),
      handshake_(std::make_unique<handshake>(with, socket)) {}

stream::~stream() { OPENSSL_cleanse(secret_.data(), secret_.size()); }

stream::step stream::shake_hands() noexcept {
  if (!handshake_) return step::done;
  const step now = handshake_->go_on();
  try {
    trouble_ = handshake_->trouble();
    if (now != step::done) return now;
    own_.emplace(traffic_key::way::seals, handshake_->own_traffic());
    others_.emplace(traffic_key::way::opens, handshake_->others_traffic());
    peer_ = handshake_->certificate();
  } catch (const std::exception&) {
    return step::failed;  // no memory
  }
  secret_ = handshake_->secret_for("EXPORTER-weft");
  handshake_.reset();
  return step::done;
}

void stream::broken(const char* why) noexcept {
  if (fault_ == 0) fault_ = EPROTO;
  try {
    if (trouble_.empty()) trouble_ = why;
  } catch (const std::bad_alloc&) {
    // No memory: without words.
  }
}

// --- in ------------------------------------------------------------------------------------------

/// One system call. \return whether it brought bytes
bool stream::receive() noexcept {
  if (!in_) in_.reset(new (std::nothrow) std::byte[bytes_per_read]);
  if (!in_) return false;  // there may be memory later
  if (begin_ != 0) std::memmove(in_.get(), in_.get() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  ssize_t n = 0;
  do {
    n = ::recv(socket_, in_.get() + end_, bytes_per_read - end_, MSG_DONTWAIT);
  } while (n < 0 && errno == EINTR);
  if (n > 0) end_ += static_cast<std::size_t>(n);
  if (n == 0) has_ended_ = true;
  if (n < 0 && errno != EAGAIN) fault_ = errno;
  return n > 0;
}

/// The size of the record that has come whole; 0: there is none.
std::size_t stream::whole_record() noexcept {
  if (end_ - begin_ < record_header || fault_ != 0) return 0;
  const std::byte* const at = in_.get() + begin_;
  const std::size_t behind =
      std::to_integer<std::size_t>(at[3]) << 8 | std::to_integer<std::size_t>(at[4]);
  if (at[0] != std::byte{static_cast<unsigned char>(content::data)} || at[1] != std::byte{3} ||
      behind <= record_tag || behind > most_record) {
    broken("what came is no TLS record");
    return 0;
  }
  return end_ - begin_ < record_header + behind ? 0 : record_header + behind;
}

/// Opens the record, where it belongs if all of it is for there, else where it lies.
/// \return bytes in `into`
std::size_t stream::open(std::size_t size, std::span<std::byte> into) noexcept {
  std::byte* const at = in_.get() + begin_;
  std::size_t n = size - record_header - record_tag;
  const bool is_direct = n <= into.size();
  std::byte* const to = is_direct ? into.data() : at + record_header;
  begin_ += size;
  if (!others_->open({at, size}, to)) {
    broken("a TLS record is not authentic");
    return 0;
  }
  while (n != 0 && to[n - 1] == std::byte{}) --n;  // padding
  if (n == 0) {
    broken("a TLS record without a kind");
    return 0;
  }
  const auto kind = static_cast<content>(to[--n]);
  if (kind != content::data) {
    take(kind, {to, n});
    return 0;
  }
  if (is_direct) return n;
  opened_ = {to, n};
  return 0;
}

void stream::take(content kind, std::span<const std::byte> what) noexcept {
  constexpr std::byte close_notify{};
  if (kind == content::handshake && std::ranges::equal(what, key_update)) {
    if (!others_->renew()) broken("no memory for a key");
  } else if (kind == content::alert && what.size() == 2 && what[1] == close_notify) {
    has_ended_ = true;
  } else if (kind == content::alert && what.size() == 2) {
    refused(std::to_integer<int>(what[1]));
  } else {
    broken("a TLS message that none of weft sends");
  }
}

/// The side that accepts checks a certificate after the other side's handshake has ended.
void stream::refused(int alert) noexcept {
  try {
    trouble_ = words_of_alert(alert);
  } catch (const std::bad_alloc&) {
    // No memory: without words.
  }
  broken("a TLS alert");
}

ssize_t stream::read(std::span<std::byte> into) noexcept {
  into = into.first(std::min(into.size(), most_of_read));
  std::size_t got = 0;
  bool may_receive = true;
  while (got != into.size() && fault_ == 0) {
    if (!opened_.empty()) {
      const std::size_t n = std::min(opened_.size(), into.size() - got);
      std::memcpy(into.data() + got, opened_.data(), n);
      opened_ = opened_.subspan(n);
      got += n;
    } else if (const std::size_t size = whole_record(); size != 0) {
      got += open(size, into.subspan(got));
    } else if (has_ended_ || fault_ != 0 || !may_receive || !receive()) {
      break;
    } else {
      may_receive = end_ == bytes_per_read;  // else the socket has no more
    }
  }
  may_have_more_ = !opened_.empty() || (got != 0 && fault_ != 0) || whole_record() != 0;
  if (got != 0) return static_cast<ssize_t>(got);
  if (has_ended_ && fault_ == 0) return 0;
  errno = fault_ != 0 ? fault_ : EAGAIN;
  return -1;
}

// --- out -----------------------------------------------------------------------------------------

bool stream::flush() noexcept {
  while (sealed_.size() != 0) {
    const ssize_t n =
        ::send(socket_, sealed_.bytes().data(), sealed_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0) {
      sealed_.drop(static_cast<std::size_t>(n));
    } else if (errno != EINTR) {
      is_full_ = errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM;
      if (!is_full_) write_fault_ = errno;
      return false;
    }
  }
  is_full_ = false;
  return true;
}

/// One record.
bool stream::seal(std::span<const std::byte> what, content kind) noexcept {
  if (own_->records() >= records_of_key_ && kind == content::data &&
      !(seal(key_update, content::handshake) && own_->renew()))
    return false;
  std::byte* const at = sealed_.append(what.size() + record_overhead);
  if (at && own_->seal(kind, what, at)) return true;
  broken("there is no memory to seal a record in");
  return false;
}

ssize_t stream::write(std::span<const std::byte> what, bool gather) noexcept {
  if (is_full_ && !flush()) return -1;
  std::size_t taken = 0;
  while (taken != what.size() && !is_full_ && write_fault_ == 0 && fault_ == 0) {
    const auto next = what.subspan(taken, std::min(what.size() - taken, most_content));
    if (!seal(next)) break;
    taken += next.size();
    if (sealed_.size() >= bytes_per_send) flush();
  }
  if (!gather) flush();  // a fault is found by the next call
  if (taken != 0 || what.empty()) return static_cast<ssize_t>(taken);
  errno = write_fault_ != 0 ? write_fault_ : fault_ != 0 ? fault_ : EAGAIN;
  return -1;
}

bool stream::seal_all(std::span<const std::byte> what) noexcept {
  for (; fault_ == 0 && !what.empty(); what = what.subspan(std::min(what.size(), most_content)))
    if (!seal(what.first(std::min(what.size(), most_content)))) return false;
  return fault_ == 0;
}

void stream::rest() noexcept {
  sealed_.free_if_empty();
  if (begin_ == end_ && opened_.empty()) {
    in_.reset();
    begin_ = end_ = 0;
  }
}

}  // namespace weft::net::tls
