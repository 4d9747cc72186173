// SPDX-License-Identifier: Apache-2.0
// Channels over TCP that are encrypted: which ones, and what gets into them.
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <string_view>
#include <thread>

#include "net/socket.hpp"
#include "net/tls/stream.hpp"
#include "node.hpp"
#include "support/catch.hpp"
#include "support/skip.hpp"
#include "wireup/auth/handshake.hpp"
#include "wireup/sockets/address.hpp"

namespace weft::wireup::test::encrypted {

namespace {

using net::tls::stream;

bool absent() {
  if (net::tls::is_built_in()) return false;
  weft::tests::skip("weft is built without OpenSSL");
  return true;
}

tcp_settings with(const job_key& key, tcp_encryption setting) {
  tcp_settings s{key, {"lo"}, std::chrono::seconds(30)};
  s.encryption = std::make_shared<encryption>(setting);
  return s;
}

std::string open(node& host) {
  std::string actual;
  host->open_listener("tcp://127.0.0.1:0", actual);
  return actual;
}

net::address loopback(std::uint16_t port) {
  return net::address::of_ip(false, net::address::of_text("127.0.0.1")->ip(), port);
}

/// Waits, as these sockets do not.
unique_fd connect_to(std::uint16_t port) {
  unique_fd s(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const net::address to = loopback(port);
  REQUIRE(::connect(s.get(), to.get(), to.size()) == 0);
  return s;
}

void say(const unique_fd& to, std::span<const std::byte> what) {
  while (!what.empty()) {
    const ssize_t n = ::send(to.get(), what.data(), what.size(), MSG_NOSIGNAL);
    if (n <= 0) return;  // the other side may have hung up already
    what = what.subspan(static_cast<std::size_t>(n));
  }
}

std::vector<std::byte> hear_until_end(const unique_fd& from, std::size_t most = 1 << 16) {
  std::vector<std::byte> all(most);
  std::size_t got = 0;
  for (ssize_t n = 1; n > 0 && got != most; got += n > 0 ? static_cast<std::size_t>(n) : 0)
    n = ::recv(from.get(), all.data() + got, most - got, 0);
  all.resize(got);
  return all;
}

/// A party on the way to a listener, who passes everything on and keeps a copy.
class eavesdropper {
 public:
  explicit eavesdropper(const std::string& to)
      : to_(parse_address(to).port),
        listening_(net::listen_on(loopback(0), net::takes::its_family, 8)),
        thread_([this] { listen(); }) {}
  ~eavesdropper() {
    over_ = true;
    thread_.join();
  }
  std::string address() const {
    return "tcp://127.0.0.1:" +
           std::to_string(net::address::of_socket(listening_.get(), false)->port());
  }
  bool has_heard(std::string_view word) {
    const std::lock_guard lock(mutex_);
    return heard_.find(word) != std::string::npos;
  }

 private:
  void listen() {
    std::vector<unique_fd> ends;  // two beside each other are the ends of one connection
    std::vector<pollfd> all;
    while (!over_) {
      all.assign(1, {listening_.get(), POLLIN, 0});
      for (const unique_fd& e : ends) all.push_back({e.get(), POLLIN, 0});
      ::poll(all.data(), all.size(), 10);
      for (std::size_t i = 0; i != ends.size(); ++i)
        if (all[i + 1].revents != 0) pass_on(ends, i);
      if (all[0].revents == 0) continue;
      ends.emplace_back(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      ends.push_back(connect_to(to_));
    }
  }
  void pass_on(std::vector<unique_fd>& ends, std::size_t i) {
    if (!ends[i]) return;
    char bytes[1 << 14];
    const ssize_t n = ::recv(ends[i].get(), bytes, sizeof bytes, MSG_DONTWAIT);
    if (n <= 0) {
      ends[i] = {};
      ends[i ^ 1] = {};
      return;
    }
    say(ends[i ^ 1], std::as_bytes(std::span(bytes, static_cast<std::size_t>(n))));
    const std::lock_guard lock(mutex_);
    heard_.append(bytes, static_cast<std::size_t>(n));
  }

  const std::uint16_t to_;
  const unique_fd listening_;
  std::mutex mutex_;
  std::string heard_;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

constexpr const char* secret_word = "a word that is easy to find";

/// Whether a third party reads what the two say to each other.
bool is_overheard(tcp_encryption of_host, tcp_encryption of_guest) {
  const job_key key = job_key::random();
  node host({}, with(key, of_host)), guest({}, with(key, of_guest));
  eavesdropper between(open(host));
  guest->request_connection(between.address(), secret_word, node::into(guest.outcomes));
  arrived_request v = host.arrived_requests.next();
  CHECK(v.request->private_data() == secret_word);
  const channel_ptr inside = v.request->accept();
  const outcome o = guest.outcomes.next();
  REQUIRE(o.failure == "");
  // Many at once, and more than the sockets' buffers hold: frames leave and arrive in parts.
  for (std::size_t n = 0; n != 400; ++n)
    for (const channel_ptr& from : {inside, o.channel})
      from->send(make_wireup_message(static_cast<std::uint8_t>(n),
                                     std::string(n % 3 == 0 ? 16'000 : n, char('a' + n % 26))));
  for (std::size_t n = 0; n != 400; ++n)
    for (node* const to : {&host, &guest})
      REQUIRE(text_of(to->wireup_messages.next().wireup_message) ==
              std::string(n % 3 == 0 ? 16'000 : n, char('a' + n % 26)));
  o.channel->close();
  CHECK(host.ends.next().how.orderly());
  CHECK(guest.ends.next().how.orderly());
  return between.has_heard(secret_word);
}

std::string failure_of(tcp_encryption of_host, tcp_encryption of_guest) {
  const job_key key = job_key::random();
  node host({}, with(key, of_host)), guest({}, with(key, of_guest));
  const outcome o = guest.request_connection(open(host));
  CHECK_FALSE(o.channel);
  CHECK(host.arrived_requests.empty());
  return o.failure;
}

using setting = tcp_encryption;

}  // namespace

TEST_CASE("channels: encrypted where one side wants it, and not on one host by themselves") {
  if (absent()) return;
  CHECK_FALSE(is_overheard(setting::yes, setting::yes));
  CHECK_FALSE(is_overheard(setting::yes, setting::automatic));
  CHECK_FALSE(is_overheard(setting::automatic, setting::yes));
  CHECK(is_overheard(setting::automatic, setting::automatic));
  CHECK(is_overheard(setting::no, setting::automatic));
}

TEST_CASE("channels: two that disagree learn both values") {
  if (absent()) return;
  CHECK_THAT(failure_of(setting::yes, setting::no),
             weft::tests::contains("this side has WEFT_TCP_TLS=no") &&
                 weft::tests::contains("WEFT_TCP_TLS=yes"));
  CHECK_THAT(failure_of(setting::no, setting::yes),
             weft::tests::contains("this side has WEFT_TCP_TLS=yes") &&
                 weft::tests::contains("WEFT_TCP_TLS=no"));
}

TEST_CASE("channels: another key comes in nowhere over TLS, and learns why") {
  if (absent()) return;
  const job_key key = job_key::random();
  const tcp_settings inside = with(key, setting::yes),
                     outside = with(job_key::random(), setting::yes);
  node host({}, inside), outsider({}, outside);
  const std::string address = open(host);
  for (int n = 0; n != 3; ++n) {
    const outcome o = outsider.request_connection(address);
    CHECK_FALSE(o.channel);
    CHECK(o.kind == errc::refused);
    CHECK_THAT(o.failure, weft::tests::contains("this side's job key is not that job's"));
  }
  CHECK_THAT(host.notices.next(), weft::tests::contains("does not know the job's key"));
  CHECK(host.notices.empty());
  CHECK(host.arrived_requests.empty());
  CHECK(inside.encryption->failed() == 3);
  CHECK(outside.encryption->failed() == 3);
  node guest({}, with(key, setting::yes));
  guest->request_connection(address, "", node::into(guest.outcomes));
  CHECK(host.arrived_requests.next().request->accept());
}

TEST_CASE("channels: garbage and silence in and behind a TLS handshake end that connection only") {
  if (absent()) return;
  const job_key key = job_key::random();
  node host({}, with(key, setting::yes));
  const std::string address = open(host);
  const std::uint16_t port = parse_address(address).port;
  std::mt19937 random(7);
  for (int n = 0; n != 100; ++n) {
    const unique_fd s = connect_to(port);
    std::vector<std::byte> noise(random() % 300);
    for (std::byte& b : noise) b = static_cast<std::byte>(random());
    say(s, encode_opening(approach::encrypt));
    if (n % 2 == 0) {  // as if a handshake began
      const unsigned char beginning[] = {0x16, 3, 1, 0, 200, 1, 0, 0, 196};
      say(s, std::as_bytes(std::span(beginning)));
    }
    say(s, noise);
    ::shutdown(s.get(), SHUT_WR);
    CHECK(hear_until_end(s).size() <= 100);  // the opening and an alert at most
  }
  for (int n = 0; n != 3; ++n) {
    const unique_fd s = connect_to(port);
    say(s, encode_opening(approach::encrypt));
    CHECK(hear_until_end(s, opening_size).size() == opening_size);
    const net::tls::settings settings;
    stream inside(settings, s.get(), std::as_bytes(std::span(name_of_tls_key)), tls_key_of(key));
    auto now = net::tls::step::again;
    while (now == net::tls::step::again) {
      pollfd wait{s.get(), POLLIN, 0};
      now = inside.shake_hands();
      if (now == net::tls::step::again) ::poll(&wait, 1, 1000);
    }
    REQUIRE(now == net::tls::step::done);
    const std::vector<std::byte> what(64, std::byte{0xff});
    if (n == 0) say(s, what);                     // no record
    if (n == 1) CHECK(inside.write(what) == 64);  // no frame
    if (n == 2) ::shutdown(s.get(), SHUT_RDWR);   // nothing
    hear_until_end(s);
  }
  CHECK(host.arrived_requests.empty());
  node guest({}, with(key, setting::yes));
  guest->request_connection(address, "", node::into(guest.outcomes));
  CHECK(host.arrived_requests.next().request->accept());
}

}  // namespace weft::wireup::test::encrypted
