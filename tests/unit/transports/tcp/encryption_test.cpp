// SPDX-License-Identifier: Apache-2.0
// Which connections are encrypted, and who gets into them.
#include <netinet/in.h>
#include <sys/socket.h>

#include "ends.hpp"
#include "net/tls/stream.hpp"
#include "support/skip.hpp"
#include "transports/tcp/address.hpp"
#include "transports/tcp/connecting/offer.hpp"
#include "transports/tcp/connecting/proof.hpp"

using namespace ends;

namespace {

using setting = tcp_encryption;

/// Of one host, as far as addresses tell, or of two.
struct one {
  end e;
  explicit one(setting s, const char* host = nullptr)
      : e({"lo"}, "auto", std::chrono::seconds(5), s) {
    if (host) e.hosts = {host, "127.0.0.1"};
  }
};

bool absent() {
  if (net::tls::is_built_in()) return false;
  tests::skip("weft is built without OpenSSL");
  return true;
}

/// What both say of their connection.
std::string connected_as(end& a, end& b) {
  connect(a, b);
  REQUIRE(eventually({&a, &b}, [&] { return a.send({}, pattern(100)) == post::done; }));
  REQUIRE(eventually({&a, &b}, [&] { return b.in.frames.size() == 1; }));
  CHECK(b.in.frames.front().payload == pattern(100));
  const std::string said = connection(a);
  return said.substr(said.find(", ", said.find(" to ")) + 2);
}

/// A client at the offer's address, with a key of its own choice.
struct outsider {
  explicit outsider(const tcp::offer& o) {
    const auto to = tcp::address_of(o.where.front());
    fd = unique_fd(::socket(to->family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(::connect(fd.get(), to->get(), to->size()) == 0);
  }
  net::tls::step shake_hands(end& e, const tcp::token& name, const net::tls::key& with) {
    net::tls::stream s(settings, fd.get(), std::as_bytes(std::span(name)), with);
    auto now = net::tls::step::again;
    CHECK(eventually({&e}, [&] {
      now = s.shake_hands();
      return now != net::tls::step::again;
    }));
    return now;
  }
  net::tls::settings settings;
  unique_fd fd;
};

metrics counted(end& e) {
  const engine::holder hold(e.turns);
  metrics all;
  e.tcp->add_to(all);
  return all;
}

tcp::offer read(const wireup_message& m) {
  tcp::offer o;
  REQUIRE(tcp::read(m, o).empty());
  return o;
}

}  // namespace

TEST_CASE("tcp: auto encrypts between hosts, and nothing else") {
  if (absent()) return;
  constexpr const char* elsewhere = "192.0.2.1";
  {
    one a(setting::automatic), b(setting::automatic);
    CHECK_THAT(connected_as(a.e, b.e), tests::contains("not encrypted"));
  }
  {
    one a(setting::automatic, "127.0.0.1"), b(setting::automatic, "127.0.0.1");
    CHECK_THAT(connected_as(a.e, b.e), tests::contains("not encrypted"));
  }
  {
    // One address is enough to connect to; the first one says where it is.
    one a(setting::automatic, elsewhere), b(setting::automatic, elsewhere);
    CHECK_THAT(connected_as(a.e, b.e), tests::contains("encrypted (TLS 1.3"));
    CHECK(connection(b.e).find("not encrypted") == std::string::npos);
  }
  {
    // The two need not see the same of each other.
    one a(setting::automatic), b(setting::automatic, elsewhere);
    CHECK_THAT(connected_as(a.e, b.e), tests::contains("encrypted (TLS 1.3"));
  }
}

TEST_CASE("tcp: yes encrypts also on one host, and then nothing is lent") {
  if (absent()) return;
  one a(setting::yes), b(setting::automatic);
  CHECK_THAT(connected_as(a.e, b.e), tests::contains("encrypted (TLS 1.3"));
  constexpr std::size_t size = 1 << 20;
  CHECK(a.e.link->longest_beginning(size) > size);
}

TEST_CASE("tcp: two that disagree are not connected, and learn both values") {
  if (absent()) return;
  for (const bool yes_offers : {true, false}) {
    one yes(setting::yes), no(setting::no);
    end& offers = yes_offers ? yes.e : no.e;
    end& refuses = yes_offers ? no.e : yes.e;
    const std::string why = refuses.accept(offers.open());
    CHECK_THAT(why, tests::contains("WEFT_TCP_TLS=yes") && tests::contains("WEFT_TCP_TLS=no"));
  }
}

TEST_CASE("tcp: an encrypted offer is for the one that has its key") {
  if (absent()) return;
  one a(setting::yes), b(setting::yes);
  wireup_message offer = a.e.open();
  const tcp::offer said = read(offer);
  using step = net::tls::step;
  a.e.secret = 8;  // of another channel
  const net::tls::key wrong = tcp::key_of(a.e.who(), said.shown);
  a.e.secret = 7;
  CHECK(outsider(said).shake_hands(a.e, said.shown, wrong) == step::turned_away);
  CHECK(outsider(said).shake_hands(a.e, {1, 2}, wrong) == step::turned_away);
  {
    outsider bare(said);
    const tcp::client_hello hello = tcp::make_client_hello(said.shown);
    REQUIRE(::send(bare.fd.get(), &hello, sizeof hello, MSG_NOSIGNAL) == sizeof hello);
    std::byte one{};
    ssize_t n = -1;
    CHECK(eventually({&a.e}, [&] {
      n = ::recv(bare.fd.get(), &one, 1, MSG_DONTWAIT);
      return n >= 0 || errno != EAGAIN;
    }));
    CHECK(n <= 0);  // no welcome
  }
  CHECK(a.e.tcp->describe().find("3 unauthenticated") != std::string::npos);
  CHECK(counted(a.e).handshakes_failed == 2);
  REQUIRE(b.e.accept(std::move(offer)).empty());
  REQUIRE(eventually({&a.e, &b.e}, [&] { return a.e.send({}, pattern(9)) == post::done; }));
  REQUIRE(eventually({&a.e, &b.e}, [&] { return b.e.in.frames.size() == 1; }));
}

TEST_CASE("tcp: who encrypts is hung up on where no offer is for it") {
  if (absent()) return;
  one a(setting::no);
  const tcp::offer said = read(a.e.open());
  CHECK(outsider(said).shake_hands(a.e, said.shown, {}) == net::tls::step::hung_up);
  CHECK(a.e.tcp->describe().find("1 unauthenticated") != std::string::npos);
}

TEST_CASE("tcp: clients that stop in the middle of a handshake keep no peer out") {
  if (absent()) return;
  one a(setting::yes), b(setting::yes);
  wireup_message offer = a.e.open();
  const tcp::offer said = read(offer);
  std::vector<unique_fd> crowd;
  for (int n = 0; n != 100; ++n) {
    outsider o(said);
    const unsigned char beginning[] = {0x16, 3, 1, 1, 0, 1};
    REQUIRE(::send(o.fd.get(), beginning, sizeof beginning, MSG_NOSIGNAL) == sizeof beginning);
    crowd.push_back(std::move(o.fd));
    a.e.turns.poll_once();
  }
  REQUIRE(b.e.accept(std::move(offer)).empty());
  REQUIRE(eventually({&a.e, &b.e}, [&] { return a.e.send({}, pattern(9)) == post::done; }));
  REQUIRE(eventually({&a.e, &b.e}, [&] { return b.e.in.frames.size() == 1; }));
}

TEST_CASE("tcp: a peer that ends at once, and what it has written arrives") {
  if (absent()) return;
  one b(setting::yes);
  {
    one a(setting::yes);
    connect(a.e, b.e);
    REQUIRE(eventually({&a.e, &b.e}, [&] { return a.e.send({}, pattern(100)) == post::done; }));
    for (int n = 0; n != 200; ++n)
      if (a.e.send({}, pattern(50'000)) != post::done) break;
    a.e.link.reset();
  }
  std::size_t heard = 0;
  REQUIRE(eventually({&b.e}, [&] {
    heard = b.e.in.frames.size();
    return !b.e.in.broken.empty();
  }));
  CHECK(heard > 1);
  for (const auto& f : b.e.in.frames)
    CHECK((f.payload.size() == 100 || f.payload == pattern(50'000)));
}
