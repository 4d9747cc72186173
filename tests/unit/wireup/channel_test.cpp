// SPDX-License-Identifier: Apache-2.0
// Channels: from connect to the end, in good order and otherwise.
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <future>
#include <thread>
#include <weft/error.hpp>

#include "node.hpp"
#include "support/catch.hpp"

namespace weft::wireup::test {

using transports::wireup_message;

namespace {

struct pipe_ends {
  pipe_ends() {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
    read = unique_fd(fds[0]);
    write = unique_fd(fds[1]);
  }
  unique_fd read, write;
};

void put(const unique_fd& fd, char c) { REQUIRE(::write(fd.get(), &c, 1) == 1); }
char get(const unique_fd& fd) {
  char c = 0;
  REQUIRE(::read(fd.get(), &c, 1) == 1);
  return c;
}

}  // namespace

TEST_CASE("two contexts connect and know each other") {
  identity first;
  first.job = random_id();
  first.rank = 3;
  node a(first), b;
  const outcome o = a.connect(b->self().locator);
  REQUIRE(o.failure == "");
  REQUIRE(o.channel);
  CHECK(o.channel->peer().id == b->self().id);
  CHECK(o.channel->peer().locator == b->self().locator);
  CHECK(o.channel->peer().pid == ::getpid());
  CHECK(o.channel->peer().rank == no_peer);

  o.channel->send(make_wireup_message(7, "hello"));
  const arrived got = b.wireup_messages.next();
  CHECK(got.wireup_message.kind == 7);
  CHECK(text_of(got.wireup_message) == "hello");
  CHECK(got.channel->peer().id == a->self().id);
  CHECK(got.channel->peer().job == first.job);
  CHECK(got.channel->peer().rank == 3);
  CHECK(got.channel->peer().locator == a->self().locator);
  CHECK(got.channel->peer().pid == ::getpid());
}

TEST_CASE("a channel connects two lanes, which both sides know") {
  node a({}, {}, true, 3), b({}, {}, true, 2);
  b->connect(a->self().locator, node::into(b.outcomes), {1, 2});
  const outcome o = b.outcomes.next();
  REQUIRE(o.channel);
  CHECK(o.channel->peer().lane == 2);
  CHECK(o.channel->lane() == 1);
  o.channel->send(make_wireup_message(7, "hello"));
  const arrived got = a.wireup_messages.next();
  CHECK(got.channel->peer().lane == 1);
  CHECK(got.channel->lane() == 2);
}

TEST_CASE("a lane that the other side does not have is refused, with the number that it has") {
  node a({}, {}, true, 3), b;
  b->connect(a->self().locator, node::into(b.outcomes), {0, 3});
  const outcome o = b.outcomes.next();
  CHECK_FALSE(o.channel);
  CHECK(o.kind == errc::invalid_argument);
  CHECK_THAT(o.failure, weft::tests::contains("3 lanes") && weft::tests::contains("no lane 3"));
  // By the locator of a context with a key of its own, too.
  b->connect(*parse_locator(a->self().locator), {}, node::into(b.outcomes), {0, 200});
  CHECK(b.outcomes.next().kind == errc::invalid_argument);
}

TEST_CASE("a listener's clients come to its lane") {
  node a({}, {}, true, 3), b({}, {}, true, 2);
  std::string actual;
  const std::uint64_t number = a->open_listener("unix://" + to_text(random_id()), actual, {}, 2);
  b->request_connection(actual, "hi", node::into(b.outcomes), 1);
  arrived_request r = a.arrived_requests.next();
  CHECK(r.listener_number == number);
  const channel_ptr here = r.request->accept();
  REQUIRE(here);
  const outcome o = b.outcomes.next();
  REQUIRE(o.channel);
  CHECK(o.channel->peer().lane == 2);
  CHECK(o.channel->lane() == 1);
  CHECK(here->peer().lane == 1);
}

TEST_CASE("who comes before others are let in waits") {
  node a({}, {}, false), b;
  b->connect(a->self().locator, node::into(b.outcomes));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // its presence does no harm
  CHECK(b.outcomes.empty());
  a->start_accepting();
  CHECK(b.outcomes.next().channel);
}

TEST_CASE("parcels carry descriptors both ways, in order, up to the limit") {
  node a, b;
  const channel_ptr to_b = a.connect(b->self().locator).channel;
  REQUIRE(to_b);

  pipe_ends there, back;
  wireup_message with_fds = make_wireup_message(1, "take these");
  with_fds.fds.push_back(std::move(there.read));
  with_fds.fds.push_back(std::move(back.write));
  to_b->send(std::move(with_fds));
  arrived got = b.wireup_messages.next();
  REQUIRE(got.wireup_message.fds.size() == 2);
  CHECK((::fcntl(got.wireup_message.fds[0].get(), F_GETFD) & FD_CLOEXEC) != 0);
  put(there.write, 'x');
  CHECK(get(got.wireup_message.fds[0]) == 'x');

  // The other direction, and as many as are allowed.
  wireup_message many = make_wireup_message(2, std::string(wireup_message::max_bytes, 'z'));
  for (std::size_t i = 0; i < wireup_message::max_fds; ++i)
    many.fds.emplace_back(::fcntl(got.wireup_message.fds[1].get(), F_DUPFD_CLOEXEC, 0));
  got.channel->send(std::move(many));
  arrived returned = a.wireup_messages.next();
  CHECK(returned.channel == to_b);
  CHECK(returned.wireup_message.bytes.size() == wireup_message::max_bytes);
  REQUIRE(returned.wireup_message.fds.size() == wireup_message::max_fds);
  put(returned.wireup_message.fds[7], 'y');
  CHECK(get(back.read) == 'y');

  for (int i = 0; i < 2000; ++i) to_b->send(make_wireup_message(3, std::to_string(i)));
  for (int i = 0; i < 2000; ++i)
    REQUIRE(text_of(b.wireup_messages.next().wireup_message) == std::to_string(i));
}

TEST_CASE("a wire-up message that is too large is the caller's mistake") {
  node a, b;
  const channel_ptr to_b = a.connect(b->self().locator).channel;
  REQUIRE(to_b);
  CHECK_THROWS_AS(
      to_b->send(make_wireup_message(0, std::string(wireup_message::max_bytes + 1, 'a'))),
      weft::error);
  wireup_message p;
  for (std::size_t i = 0; i <= wireup_message::max_fds; ++i) p.fds.emplace_back(::dup(0));
  CHECK_THROWS_AS(to_b->send(std::move(p)), weft::error);
  CHECK(a.ends.empty());
}

TEST_CASE("close delivers what was sent, then both sides hear of a good end, once") {
  node a, b;
  const channel_ptr to_b = a.connect(b->self().locator).channel;
  REQUIRE(to_b);
  for (int i = 0; i < 500; ++i) to_b->send(make_wireup_message(1, std::string(8000, 'q')));
  to_b->close();
  to_b->close();
  to_b->send(make_wireup_message(1, "too late"));
  for (int i = 0; i < 500; ++i) CHECK(b.wireup_messages.next().wireup_message.bytes.size() == 8000);
  const end_of there = b.ends.next();
  CHECK(there.how.orderly());
  const end_of here = a.ends.next();
  CHECK(here.how.orderly());
  CHECK(here.channel == to_b);
  there.channel->send(make_wireup_message(1, "nobody hears this"));
  there.channel->close();
  a.manager.reset();
  b.manager.reset();
  CHECK(a.ends.empty());
  CHECK(b.ends.empty());
  CHECK(b.wireup_messages.empty());
  to_b->send(make_wireup_message(1, "even the manager is gone"));
}

TEST_CASE("a manager that goes says goodbye on all its channels") {
  node a, b;
  const channel_ptr to_b = a.connect(b->self().locator).channel;
  REQUIRE(to_b);
  to_b->send(make_wireup_message(1, "last words"));
  a.manager.reset();
  CHECK(a.ends.next().how.orderly());
  CHECK(text_of(b.wireup_messages.next().wireup_message) == "last words");
  CHECK(b.ends.next().how.orderly());
}

TEST_CASE("both sides may close at once") {
  for (int i = 0; i < 50; ++i) {
    node a, b;
    const channel_ptr to_b = a.connect(b->self().locator).channel;
    REQUIRE(to_b);
    to_b->send(make_wireup_message(1, "hi"));
    const channel_ptr to_a = b.wireup_messages.next().channel;
    to_b->close();
    to_a->close();
    CHECK(a.ends.next().how.orderly());
    CHECK(b.ends.next().how.orderly());
  }
}

TEST_CASE("a peer that is killed is gone, but not in good order") {
  pipe_ends up;
  const pid_t child = ::fork();  // before there is a thread that the child would not have
  if (child == 0) {
    node b;
    const std::string locator = b->self().locator;
    const auto written = ::write(up.write.get(), locator.data(), locator.size());
    for (;;) ::pause();
    ::_exit(written > 0 ? 0 : 1);
  }
  REQUIRE(child > 0);
  node a;
  char locator[128];
  const ssize_t n = ::read(up.read.get(), locator, sizeof locator);
  REQUIRE(n > 0);
  const outcome o = a.connect(std::string(locator, static_cast<std::size_t>(n)));
  REQUIRE(o.failure == "");
  CHECK(o.channel->peer().pid == child);
  ::kill(child, SIGKILL);
  const end_of end = a.ends.next();
  CHECK_FALSE(end.how.orderly());
  CHECK(end.channel == o.channel);
  ::waitpid(child, nullptr, 0);
  // No process listens any more, which is reported without waiting.
  const outcome again = a.connect(o.channel->peer().locator);
  CHECK_FALSE(again.channel);
  CHECK(again.kind == errc::peer_lost);
  CHECK_THAT(again.failure, weft::tests::starts_with("nobody listens"));
}

TEST_CASE("a context that ends before it answers is gone, and has not refused") {
  node a;
  const std::string locator = random_socket_name();
  opened dying = listen_abstract(locator);
  REQUIRE(dying.fd);
  a->connect(locator, node::into(a.outcomes));
  pollfd somebody{dying.fd.get(), POLLIN, 0};
  REQUIRE(::poll(&somebody, 1, 30'000) == 1);
  dying.fd = unique_fd();
  const outcome o = a.outcomes.next();
  CHECK_FALSE(o.channel);
  CHECK(o.kind == errc::peer_lost);
}

TEST_CASE("what is no locator is refused before anything is tried") {
  node a;
  CHECK_THAT(a.connect("nonsense").failure, weft::tests::contains("not the locator"));
  CHECK_THAT(a.connect("").failure, weft::tests::contains("not the locator"));
}

TEST_CASE("a context can connect to itself, and to many at once") {
  node a;
  CHECK(a.connect(a->self().locator).channel);
  std::vector<std::unique_ptr<node>> others;
  for (int i = 0; i < 20; ++i) others.push_back(std::make_unique<node>());
  for (int round = 0; round < 10; ++round)
    for (auto& other : others) (*other)->connect(a->self().locator, node::into(other->outcomes));
  for (int round = 0; round < 10; ++round)
    for (auto& other : others) CHECK(other->outcomes.next().failure == "");
}

TEST_CASE("the control plane's thread takes no signals") {
  node a;
  static volatile sig_atomic_t taken_by = 0;
  struct sigaction act {};
  act.sa_handler = [](int) { taken_by = static_cast<sig_atomic_t>(::gettid()); };
  struct sigaction before {};
  ::sigaction(SIGUSR1, &act, &before);
  taken_by = 0;
  ::kill(::getpid(), SIGUSR1);
  CHECK(taken_by == ::getpid());
  ::sigaction(SIGUSR1, &before, nullptr);
}

TEST_CASE("a channel says how it ended, to whom it reports") {
  struct : weft::tests::no_events {
    void on_ended(const channel_ptr& c, const proto::ended& how) override { ends.add({c, how}); }
    record<end_of> ends;
  } other;
  node a, b;
  const channel_ptr to_b = a.connect(b->self().locator).channel;
  const channel_ptr to_b_too = a.connect(b->self().locator).channel;
  REQUIRE(to_b);
  REQUIRE(to_b_too);
  a->post([&] { to_b->report_to(other); });
  std::promise<void> done;
  a->post([&] { done.set_value(); });
  done.get_future().get();
  b->end(true);
  const end_of told = other.ends.next();
  CHECK(told.channel == to_b);
  CHECK(told.how.why == errc::peer_lost);
  CHECK_FALSE(told.how.orderly());
  CHECK_THAT(told.how.detail, weft::tests::contains("its program failed"));
  CHECK(a.ends.next().channel == to_b_too);
  CHECK(other.ends.empty());
}

TEST_CASE("an event that throws loses its channel, and nothing else") {
  struct : weft::tests::no_events {
    void on_wireup_message(const channel_ptr&, wireup_message m) override {
      if (m.kind == 1) throw std::runtime_error("the test's own");
      heard.add(text_of(m));
    }
    void on_ended(const channel_ptr& c, const proto::ended& how) override { ends.add({c, how}); }
    record<end_of> ends;
    record<std::string> heard;
  } events;
  connection_manager fragile(identity{}, events);
  fragile.start_accepting();
  node a;
  const channel_ptr first = a.connect(fragile.self().locator).channel;
  const channel_ptr second = a.connect(fragile.self().locator).channel;
  REQUIRE(first);
  REQUIRE(second);
  first->send(make_wireup_message(1, "throw"));
  CHECK_FALSE(events.ends.next().how.orderly());
  CHECK(a.ends.next().channel == first);
  second->send(make_wireup_message(2, "catch"));
  CHECK(events.heard.next() == "catch");
}

/// The exceptions of a task stand for those of a handler: both are caught in the same place.
TEST_CASE("an exception leaves what others wait for, want of memory ends it with a reason") {
  node a;
  record<outcome> met;
  a->meet("unix://here-" + to_text(random_id()), "unix://there-" + to_text(random_id()), "x",
          node::into(met));
  a->post([] { throw std::runtime_error("the test's own"); });
  REQUIRE(a.connect("no locator").failure != "");  // after the task, in the same order
  CHECK(met.empty());
  a->post([] { throw std::bad_alloc(); });
  CHECK(met.next().failure == "no memory for it");
  node b;
  CHECK(b.connect(a->self().locator).channel);  // the manager still works
}

TEST_CASE("a descriptor that is none ends the channel on both sides") {
  node a, b;
  const channel_ptr to_b = a.connect(b->self().locator).channel;
  REQUIRE(to_b);
  wireup_message p = make_wireup_message(1, "look");
  p.fds.emplace_back();
  to_b->send(std::move(p));
  CHECK_FALSE(a.ends.next().how.orderly());
  CHECK_FALSE(b.ends.next().how.orderly());
}

}  // namespace weft::wireup::test
