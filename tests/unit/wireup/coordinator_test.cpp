// SPDX-License-Identifier: Apache-2.0
// Rank 0's side of a job that grows, and the connections of its members.
#include "wireup/job/coordinator.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <future>

#include "node.hpp"
#include "support/catch.hpp"
#include "wireup/job/coordinator_connection.hpp"
#include "wireup/job/roster.hpp"

namespace weft::wireup::test {

using transports::wireup_message;

namespace {

/// Another process, which listens.
struct somewhere_else {
  somewhere_else() {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    const unique_fd told(ends[0]);
    unique_fd tells(ends[1]);
    pid = ::fork();
    if (pid == 0) {
      const opened socket = listen_abstract(name);
      tells = {};
      for (;;) ::pause();
    }
    tells = {};
    char c = 0;
    CHECK(::read(told.get(), &c, 1) == 0);
  }
  ~somewhere_else() {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  const std::string name = random_socket_name();
  pid_t pid = -1;
};

/// A joining process, without a socket.
struct paper_channel final : channel {
  const identity& peer() const noexcept override { return who; }
  bool carries_descriptors() const noexcept override { return true; }
  void send(wireup_message p) override { said.push_back(std::move(p)); }
  void close() override {}
  void process_ended() override {}
  void report_to(channel_events&) override {}
  digest sign(std::span<const std::byte>) const noexcept override { return {}; }
  identity who;
  std::vector<wireup_message> said;
};

struct paper_request final : incoming_request {
  explicit paper_request(channel_ptr c) : line(std::move(c)) {}
  const identity& peer() const noexcept override { return line->peer(); }
  const std::string& private_data() const noexcept override { return said; }
  channel_ptr accept() override { return line; }
  void reject(const std::string&) override {}
  bool has_ended() const noexcept override { return false; }
  const channel_ptr line;
  const std::string said = encode(roster_greeting{});
};

/// Rank 0 of a job of two, with a listener.
class rank_zero final : public weft::tests::no_events {
 public:
  rank_zero() {
    coordinator::host h;
    h.job = job;
    h.first_size = 2;
    h.find = [this](peer_id, const std::function<void(std::string)>& found) {
      finds.add(found);
      found(rank_one_at);
    };
    h.is_at = [](const identity& who, bool by_unix_socket, const std::string& locator) {
      return is_process_at({}, who, by_unix_socket, locator);
    };
    h.on_change = [this](const change& c) { changes.add(c); };
    book_ = std::make_unique<coordinator>(std::move(h));
    manager = std::make_unique<connection_manager>(identity{}, *this);
    manager->open_listener("any://:0", listening);
    manager->start_accepting();
  }
  void on_connection_request(std::uint64_t, std::unique_ptr<incoming_request> r) override {
    book_->on_request(std::move(r));
    requests.add(true);
  }
  /// As the launcher tells.
  void end_rank(peer_id rank, bool died) {
    manager->post([this, rank, died] { book_->on_rank_ended(rank, died); });
  }

  record<bool> requests;
  record<change> changes;
  record<std::function<void(std::string)>> finds;
  std::string listening;
  const context_id job = random_id();
  std::string rank_one_at = random_socket_name();

 private:
  std::unique_ptr<coordinator> book_;

 public:
  std::unique_ptr<connection_manager> manager;  // last: its thread uses the rest
};

struct member {
  explicit member(const context_id& job = {}, peer_id rank = no_peer) : line({}, job, rank) {
    line.listen(
        [this](const wireup::changes& told) {
          for (const change& c : told.all) changes.add(c);
          epochs.add(told.epoch);
        },
        [this](bool o) { ends.add(o); });
  }
  std::string join(const std::string& listening) {
    std::promise<std::string> done;
    line.join(listening, [&](const failure& why) { done.set_value(why.text); });
    return done.get_future().get();
  }
  std::string where(peer_id rank) {
    std::promise<std::string> done;
    line.find(rank, [&](std::string locator) { done.set_value(std::move(locator)); });
    return done.get_future().get();
  }
  record<change> changes;
  record<std::uint64_t> epochs;
  record<bool> ends;
  coordinator_connection line;  // last: its thread uses the rest
};

const change three_joined{change_kind::joined, 3};

}  // namespace

TEST_CASE("members come, are found, and go, and all hear the same") {
  rank_zero host;
  member first;
  REQUIRE(first.join(host.listening) == "");
  CHECK(first.line.facts().rank == 2);
  CHECK(first.line.facts().first_size == 2);
  const std::string first_at = random_socket_name();
  first.line.publish(first_at);
  CHECK(host.changes.next() == change{change_kind::joined, 2});
  CHECK(first.changes.next() == change{change_kind::joined, 2});
  CHECK(first.where(1) == host.rank_one_at);
  CHECK(first.where(77) == "");
  {
    member second;
    REQUIRE(second.join(host.listening) == "");
    CHECK(second.changes.next() == change{change_kind::joined, 2});  // the changes that it missed
    second.line.publish(random_socket_name());
    CHECK(second.changes.next() == three_joined);
    CHECK(first.changes.next() == three_joined);
    CHECK(second.where(2) == first_at);
    CHECK(second.where(3) != "");
  }
  CHECK(first.changes.next() == change{change_kind::left, 3});
  CHECK(first.where(3) == "");
  first.line.leave();
  CHECK(first.changes.next() == change{change_kind::left, 2});
  CHECK(host.changes.next() == three_joined);
  // Only the rank numbers of the two are still in use when a new process joins.
  CHECK(host.changes.next() == change{change_kind::left, 3});
  CHECK(host.changes.next() == change{change_kind::left, 2});
  member third;
  REQUIRE(third.join(host.listening) == "");
  CHECK(third.epochs.next() == 4);
  third.line.publish(random_socket_name());
  CHECK(third.changes.next() == change{change_kind::joined, 4});
  CHECK(third.epochs.next() == 5);
}

namespace {

std::string attend(member& who, rank_zero& host, peer_id rank) {
  std::promise<std::string> done;
  who.line.attend(host.manager->self().locator, rank,
                  [&](const failure& why) { done.set_value(why.text); });
  return done.get_future().get();
}

}  // namespace

TEST_CASE("a rank that was launched follows the book, and its line's end is its own") {
  rank_zero host;
  node rank_one;
  host.rank_one_at = rank_one->self().locator;
  {
    member one(host.job, 1);
    REQUIRE(attend(one, host, 1) == "");
    CHECK(one.line.facts().rank == 1);
    // There is one such rank.
    member other(host.job, 1);
    CHECK_THAT(attend(other, host, 1), weft::tests::contains("here already"));
    CHECK(host.changes.empty());
  }
  CHECK(host.changes.next() == change{change_kind::left, 1});
}

namespace {

/// A process that was started with the number of a rank that was lost.
struct returning : member {
  returning(rank_zero& host, peer_id place) : member(host.job) {
    line.come_back(host.manager->self().locator, place,
                   [this](const failure& why) { answer.add(why.text); });
    host.requests.next();
  }
  record<std::string> answer;
};

}  // namespace

TEST_CASE("a process takes the place of a lost rank, before and after the news of its loss") {
  rank_zero host;
  const bool early = GENERATE(true, false);
  if (!early) host.end_rank(1, true);
  returning one(host, 1);
  if (early) {
    CHECK(one.answer.empty());
    host.end_rank(1, true);
  }
  CHECK(one.answer.next().empty());
  CHECK(one.line.facts().rank == 2);
  const std::string where = random_socket_name();
  one.line.publish(where);
  CHECK(host.changes.next() == change{change_kind::died, 1});
  const change back{change_kind::returned, 2, 1};
  CHECK(host.changes.next() == back);
  CHECK(one.changes.next() == change{change_kind::died, 1});
  CHECK(one.changes.next() == back);
  CHECK(one.where(2) == where);
  CHECK(one.where(1).empty());
  // While it lives, it has the place.
  returning other(host, 1);
  host.end_rank(2, true);
  CHECK(other.answer.next().empty());
  CHECK(other.line.facts().rank == 3);
  other.line.publish(random_socket_name());
  CHECK(other.changes.next() == change{change_kind::died, 1});
  CHECK(other.changes.next() == change{change_kind::returned, 3, 1});
}

TEST_CASE("a place is given to one process at a time, and not when its rank has left") {
  rank_zero host;
  CHECK_THAT(returning(host, 2).answer.next(), weft::tests::contains("not of this job"));
  host.end_rank(1, true);
  {
    returning first(host, 1);
    CHECK(first.answer.next().empty());
    returning second(host, 1), third(host, 1);
    CHECK_THAT(second.answer.next(), weft::tests::contains("another process comes back"));
    CHECK(third.answer.empty());
    first.line.end();  // before it was a member
    CHECK(third.answer.next().empty());
    third.line.publish(random_socket_name());
    CHECK(host.changes.next() == change{change_kind::died, 1});
    CHECK(host.changes.next() == change{change_kind::returned, 3, 1});
    third.line.leave();
    CHECK(host.changes.next() == change{change_kind::left, 3});
  }
  CHECK_THAT(returning(host, 1).answer.next(), weft::tests::contains("left the job in good order"));
}

TEST_CASE("a rank can be declared dead by that rank alone") {
  rank_zero host;
  const auto nobody_died = [&] {
    // After all earlier messages.
    member good;
    REQUIRE(good.join(host.listening) == "");
    good.line.publish(random_socket_name());
    CHECK(host.changes.next().what == change_kind::joined);
    good.line.leave();
    CHECK(host.changes.next().what == change_kind::left);
  };
  const auto says_that_it_is_one = [&](const context_id& job, peer_id rank) {
    identity self;
    self.job = job;
    self.rank = rank;
    node requester(self);
    const outcome o =
        requester.request_connection(host.listening, encode(roster_greeting{1, no_peer}));
    if (!o.channel) return o.failure;
    o.channel->send(encode_roster_leave());
    requester.ends.next();
    CHECK(requester.wireup_messages.empty());  // and it was not told anything
    return std::string("hung up on");
  };
  // As another rank, as a rank of another job, and as another process that claims the rank.
  CHECK_THAT(says_that_it_is_one(host.job, 0), weft::tests::contains("only that rank itself"));
  CHECK_THAT(says_that_it_is_one(random_id(), 1), weft::tests::contains("only that rank itself"));
  nobody_died();
  CHECK(says_that_it_is_one(host.job, 1) == "hung up on");
  nobody_died();
  {
    // Rank 0 may still have to find out its identity when it sends more, or leaves.
    const somewhere_else rank_one;
    host.rank_one_at = rank_one.name;
    CHECK(says_that_it_is_one(host.job, 1) == "hung up on");
  }
  nobody_died();
  // Nor as a rank that joined, whose connection is another process's.
  member joined;
  REQUIRE(joined.join(host.listening) == "");
  const peer_id rank = joined.line.facts().rank;
  joined.line.publish(random_socket_name());
  CHECK(host.changes.next() == change{change_kind::joined, rank});
  identity self;
  self.job = host.job;
  self.rank = rank;
  node requester(self);
  CHECK(requester.request_connection(host.listening, encode(roster_greeting{rank, no_peer})).kind ==
        errc::refused);
  nobody_died();
}

TEST_CASE("rank 0 refuses who is no member, and drops who talks nonsense") {
  rank_zero host;
  node outsider;
  CHECK(outsider.request_connection(host.listening, "hello").kind == errc::refused);
  const outcome line = outsider.request_connection(host.listening, encode(roster_greeting{}));
  REQUIRE(line.channel);
  line.channel->send(make_wireup_message(99, "nonsense"));
  outsider.ends.next();
  // It never published, so it was never a member; the next one gets the next rank.
  member good;
  REQUIRE(good.join(host.listening) == "");
  good.line.publish(random_socket_name());
  CHECK(host.changes.next() == three_joined);
}

TEST_CASE("budget: the launcher is asked where a rank is once, also when those that ask leave") {
  std::size_t asked = 0;
  std::function<void(const std::string&)> answer;
  coordinator::host h;
  h.job = random_id();
  h.first_size = 2;
  h.find = [&](peer_id, const std::function<void(std::string)>& found) {
    ++asked;
    answer = found;
  };
  h.on_change = [](const change&) {};
  coordinator book(std::move(h));
  for (int i = 0; i != 100; ++i) {
    const auto line = std::make_shared<paper_channel>();
    book.on_request(std::make_unique<paper_request>(line));
    line->said.clear();
    for (int n = 0; n != 10; ++n) book.on_wireup_message(line, encode_roster_find(1));
    if (i != 99) {
      book.on_ended(line, errc::closed);
      continue;
    }
    CHECK(asked == 1);
    answer(random_socket_name());
    CHECK(line->said.size() == 1);
    book.on_wireup_message(line, encode_roster_find(1));
    CHECK(asked == 2);
  }
}

TEST_CASE("a member learns that rank 0 has gone") {
  member left;
  {
    rank_zero host;
    REQUIRE(left.join(host.listening) == "");
  }
  CHECK(left.ends.next());
  CHECK(left.where(1) == "");
}

}  // namespace weft::wireup::test
