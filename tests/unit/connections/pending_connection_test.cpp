// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "connections/pending_connection.hpp"
#include "ends.hpp"

using namespace ends;
using connections::pending_connection;
using search = pending_connection::state;

namespace {

/// Connection set-up that answers when the test says so.
class owner final : public pending_connection::owner {
 public:
  bool is_wanted(const std::shared_ptr<proto::peer>&) override { return wanted; }
  bool is_unmet(const proto::peer&) const override { return unmet; }
  void locate(const proto::peer& p, const std::string& where,
              std::function<void(std::string)> then) override {
    CHECK(p.id() == 1);
    gone.push_back(where);
    found = std::move(then);
  }
  void connect(const proto::peer&, const std::string& locator,
               wireup::channel_ready done) override {
    asked.push_back(locator);
    ready = std::move(done);
  }
  void connect(const proto::peer&, const wireup::unpacked_address&,
               wireup::channel_ready done) override {
    asked.emplace_back("an address");
    ready = std::move(done);
  }
  void connected(const std::shared_ptr<proto::peer>&, const wireup::channel_ptr& c,
                 const wireup::failure& why, bool is_still_wanted) override {
    REQUIRE_FALSE(outcome);
    outcome = why.kind;
    channel = c;
    was_wanted = is_still_wanted;
  }

  bool wanted = true, unmet = true, was_wanted = false;
  std::vector<std::string> gone, asked;
  std::function<void(std::string)> found;
  wireup::channel_ready ready;
  std::optional<errc> outcome;
  wireup::channel_ptr channel;
};

struct fixture {
  end here{kinds{{"one"}}};
  owner set_up;
  std::shared_ptr<pending_connection> pending =
      std::make_shared<pending_connection>(set_up, here.peer);
  wireup::channel_ptr channel = std::make_shared<scripted_channel>(true);

  void locate() { pending->locate({}, {errc::peer_lost, "it ended"}); }
};

}  // namespace

TEST_CASE("pending connection: a rank is located, then connected to") {
  fixture f;
  f.locate();
  CHECK(f.pending->now() == search::locating);
  f.set_up.found("here");
  CHECK(f.pending->now() == search::connecting);
  CHECK(f.set_up.asked == std::vector<std::string>{"here"});
  f.set_up.ready(f.channel, {});
  CHECK(f.pending->now() == search::ended);
  CHECK(f.set_up.channel == f.channel);
  CHECK(f.set_up.was_wanted);
}

TEST_CASE("pending connection: a rank that is nowhere fails as the caller said") {
  fixture f;
  f.locate();
  f.set_up.found({});
  CHECK(f.set_up.outcome == errc::peer_lost);
  CHECK(f.set_up.channel == nullptr);
  CHECK(f.pending->now() == search::ended);
}

TEST_CASE("pending connection: after a program has ended the rank's next one is looked for") {
  fixture f;
  f.locate();
  f.set_up.found("first");
  f.set_up.ready(nullptr, {errc::peer_lost, "it has ended"});
  CHECK(f.pending->now() == search::locating);
  CHECK(f.set_up.gone == std::vector<std::string>{"", "first"});
  f.set_up.found("second");
  f.set_up.ready(f.channel, {});
  CHECK(f.set_up.asked == std::vector<std::string>{"first", "second"});
  CHECK(f.set_up.outcome == errc::ok);
}

TEST_CASE("pending connection: no other program is looked for where the two have met before") {
  fixture f;
  f.set_up.unmet = false;
  f.locate();
  f.set_up.found("first");
  f.set_up.ready(nullptr, {errc::peer_lost, "it has ended"});
  CHECK(f.set_up.outcome == errc::peer_lost);
}

TEST_CASE("pending connection: a context at an address has no next program") {
  fixture f;
  f.pending->connect({});
  CHECK(f.pending->now() == search::connecting);
  f.set_up.ready(nullptr, {errc::peer_lost, "it has ended"});
  CHECK(f.set_up.outcome == errc::peer_lost);
}

TEST_CASE("pending connection: a peer that is closed meanwhile is wanted no more") {
  fixture f;
  f.locate();
  SECTION("while it is located") {
    f.set_up.wanted = false;
    f.set_up.found("here");
    CHECK(f.set_up.asked.empty());
  }
  SECTION("while it is connected to") {
    f.set_up.found("here");
    f.set_up.wanted = false;
    f.set_up.ready(f.channel, {});
    CHECK(f.set_up.channel == f.channel);  // to be closed
  }
  REQUIRE(f.set_up.outcome);
  CHECK_FALSE(f.set_up.was_wanted);
  CHECK(f.pending->now() == search::ended);
}
