// SPDX-License-Identifier: Apache-2.0
// The memory that a peer can make the control plane use, and its limits. docs/reliability.md,
// "Budgets".
#include <poll.h>
#include <sys/resource.h>

#include <atomic>

#include "raw.hpp"
#include "wireup/job/job_book.hpp"
#include "wireup/job/job_wire.hpp"
#include "wireup/loop/connection.hpp"

namespace weft::wireup::test {

namespace {

/// Answers each wire-up message with a long one.
class talkative final : public weft::tests::no_events {
 public:
  talkative() {
    manager = std::make_unique<connection_manager>(identity{}, *this);
    manager->start_accepting();
  }
  void on_wireup_message(const channel_ptr& c, transports::wireup_message) override {
    ++heard;
    c->send(make_wireup_message(2, std::string(transports::wireup_message::max_bytes, 'a')));
  }
  void on_ended(const channel_ptr& c, const proto::ended& how) override { ends.add({c, how}); }
  void on_notice(const std::string& text) override { notices.add(text); }
  std::atomic<std::size_t> heard{0};
  record<end_of> ends;
  record<std::string> notices;
  std::unique_ptr<connection_manager> manager;  // last: its thread uses the rest
};

unique_fd let_in_by(const connection_manager& host) {
  raw_end socket = raw_connection(host.self().locator);
  REQUIRE(send_raw(socket, bytes_of(hello_for(socket))) == 0);
  REQUIRE(receive_one(socket).kind == frame_kind::welcome);
  return socket;
}

/// Asks until no more is taken for a while. \return how often
std::size_t ask_until_unheard(const unique_fd& socket, std::size_t most) {
  const bytes question = bytes_of({frame_kind::wireup_message, 1, bytes(1), {}});
  for (std::size_t asked = 0; asked != most; ++asked) {
    pollfd room{socket.get(), POLLOUT, 0};
    if (::poll(&room, 1, 300) == 0) return asked;
    REQUIRE(send_raw(socket, question) == 0);
  }
  return most;
}

}  // namespace

TEST_CASE("budget: who asks and does not read is not heard any more, and then is") {
  talkative host;
  const unique_fd socket = let_in_by(*host.manager);
  constexpr std::size_t many = 20'000;
  const std::size_t asked = ask_until_unheard(socket, many);
  CHECK(asked < many);
  // The kernel's buffers are not counted; this process reads at most so many.
  CHECK(host.heard < 2 * connection::most_owed_to_hear / transports::wireup_message::max_bytes);
  for (std::size_t i = 0; i != asked; ++i)
    REQUIRE(receive_one(socket).kind == frame_kind::wireup_message);
  CHECK(host.heard == asked);
  CHECK(host.ends.empty());
}

TEST_CASE("budget: who reads nothing for long has lost nothing, and is cut off in the end") {
  node host;
  for (const bool beyond : {false, true}) {
    const unique_fd socket = admitted(host);
    REQUIRE(send_raw(socket, bytes_of({frame_kind::wireup_message, 1, bytes(1), {}})) == 0);
    const channel_ptr to_it = host.wireup_messages.next().channel;
    const std::size_t size = transports::wireup_message::max_bytes;
    const std::size_t most = connection::most_owed / (size + connection::frame_cost);
    // Beyond the limit, also with the kernel's buffers.
    const std::size_t count = beyond ? 2 * most : most - 1;
    for (std::size_t i = 0; i != count; ++i)
      to_it->send(make_wireup_message(1, std::string(size, 'b')));
    if (beyond) {
      CHECK(host.ends.next().how.why == errc::protocol_error);
      CHECK_THAT(host.notices.next(), weft::tests::contains("does not read"));
    } else {
      for (std::size_t i = 0; i != count; ++i) REQUIRE(receive_one(socket).body.size() == size);
      CHECK(host.ends.empty());
      to_it->close();
      CHECK(host.ends.next().how.orderly());
    }
  }
  check_still_well(host);
}

TEST_CASE("budget: one process has so many connections, and no more") {
  constexpr std::size_t most = 1024;
  rlimit files{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &files) == 0);
  rlimit more = files;
  more.rlim_cur = std::min<rlim_t>(files.rlim_max, 4096);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &more) == 0);
  if (more.rlim_cur >= 4096) {
    node host;
    std::vector<unique_fd> all;
    for (std::size_t i = 0; i != most; ++i) all.push_back(admitted(host));
    const opened one_more = connect_abstract(host->self().locator);
    REQUIRE(::fcntl(one_more.fd.get(), F_SETFL, 0) == 0);
    CHECK(last_words(one_more.fd).empty());
    CHECK_THAT(host.notices.next(), weft::tests::contains("has 1024 connections here"));
    all.pop_back();
    CHECK_FALSE(host.ends.next().how.orderly());
    admitted(host);
  }
  ::setrlimit(RLIMIT_NOFILE, &files);
}

TEST_CASE("budget: so many requests wait at a listener, also of requesters that have left") {
  constexpr std::size_t most = 1024;
  node host;
  std::string actual;
  host->open_listener("unix://budget-" + to_text(random_id()), actual);
  const std::string listening = listener_socket_name(parse_address(actual).name);
  const auto request_connection = [&] {
    raw_end socket = raw_connection(listening);
    hello h = good_hello();
    h.why = purpose::request_connection;
    REQUIRE(send_raw(socket, bytes_of(hello_for(socket, h))) == 0);
    return socket;
  };
  std::vector<arrived_request> waiting;
  for (std::size_t i = 0; i != most; ++i) {
    const unique_fd socket = request_connection();
    waiting.push_back(host.arrived_requests.next());
  }
  {
    const unique_fd one_more = request_connection();
    const std::vector<frame> said = last_words(one_more);
    REQUIRE(said.size() == 1);
    CHECK_THAT(decode_refusal(said[0]), weft::tests::contains("too many connection requests wait"));
  }
  waiting.back().request->reject("go away");
  const unique_fd next = request_connection();
  CHECK_FALSE(host.arrived_requests.next().request->has_ended());
}

namespace {

/// A client of a launcher's job_book, without a socket.
struct paper_client final : job_book::client {
  void send(frame f) override { said.push_back(std::move(f)); }
  void close_when_sent() override { over = true; }
  void close() override { over = true; }
  bool is_gone() const noexcept override { return over; }
  std::string name() const override { return "process 1"; }
  std::vector<frame> said;
  bool over = false;
};

}  // namespace

TEST_CASE("budget: a launcher remembers of each rank what it looks for, once, and where it is") {
  const context_id job = random_id();
  job_book book(job, 3);
  const auto enter = [&](peer_id rank) {
    auto c = std::make_shared<paper_client>();
    book.on_client(c);
    book.on_frame(c, encode(job_hello{job, rank}));
    REQUIRE(c->said.size() == 1);
    c->said.clear();
    return c;
  };
  const auto asks = enter(0), is_found = enter(1);
  for (int i = 0; i != 1000; ++i) book.on_frame(asks, encode(job_find{1, {}}));
  CHECK(asks->said.empty());
  const std::string place = random_socket_name();
  book.on_frame(is_found, encode_publish(random_socket_name()));
  CHECK(asks->said.size() == 1);
  for (int i = 0; i != 1000; ++i) book.on_frame(is_found, encode_publish(place));
  book.on_frame(asks, encode(job_find{1, {}}));
  REQUIRE(asks->said.size() == 2);
  CHECK(decode_found(asks->said[1])->locator == place);

  // Silent clients make room for new ones, and keep none out.
  std::vector<std::shared_ptr<paper_client>> silent;
  for (std::size_t i = 0; i != 1000; ++i) {
    silent.push_back(std::make_shared<paper_client>());
    book.on_client(silent.back());
  }
  CHECK(book.clients() == 2 + job_book::most_unnamed);
  CHECK(silent.front()->over);
  CHECK_FALSE(silent.back()->over);
  enter(2);
}

}  // namespace weft::wireup::test
