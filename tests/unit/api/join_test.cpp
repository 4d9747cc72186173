// SPDX-License-Identifier: Apache-2.0
// The reasons why a process cannot join a job: each is reported, with the cure.

#include <unistd.h>

#include <future>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "support/catch.hpp"
#include "support/no_events.hpp"
#include "wireup/job/roster.hpp"
#include "wireup/manager/connection_manager.hpp"
#include "wireup/sockets/unix_socket.hpp"

using namespace weft;

namespace {

options with_key(const std::string& key) {
  options o;
  o.job_key = key;
  return o;
}

const std::string our_key(32, 'a');

/// Expects that joining fails. \return the error text
std::string why_not(const std::string& address, errc kind, const options& chosen) {
  try {
    const context never = join(address, chosen);
  } catch (const error& e) {
    CHECK(e.kind() == kind);
    return e.what();
  }
  FAIL("joined at " << address);
  return {};
}

}  // namespace

TEST_CASE("join: what is no address is said to be none") {
  using weft::tests::contains;
  CHECK_THAT(why_not("nonsense", errc::invalid_argument, {}), contains("nonsense"));
  CHECK_THAT(why_not("tcp://host", errc::invalid_argument, with_key(our_key)),
             contains("tcp://host"));
}

TEST_CASE("join: where nobody listens, that is said with the address") {
  using weft::tests::contains;
  const std::string local = "unix://weft-join-nobody";
  CHECK_THAT(why_not(local, errc::refused, {}), contains("nobody listens") && contains(local));
  std::string left;
  {
    context gone(with_key(our_key));
    left = membership(gone).open("tcp://127.0.0.1:0");
  }
  CHECK_THAT(why_not(left, errc::refused, with_key(our_key)), contains(left));
}

TEST_CASE("join: a process without the job's key is told so") {
  using weft::tests::contains;
  context host(with_key(our_key));
  const std::string listening = membership(host).open("tcp://127.0.0.1:0");
  CHECK_THAT(why_not(listening, errc::refused, with_key(std::string(32, 'b'))), contains("key"));
  CHECK_THAT(why_not(listening, errc::unreachable, {}), contains("WEFT_JOB_KEY"));
  context good = join(listening, with_key(our_key));
  CHECK(membership(good).rank() == 1);
}

namespace {

/// Listens in rank 0's place, and stops answering at some point, as a stopped process does.
class silent_rank_zero final : public weft::tests::no_events {
 public:
  enum class until : std::uint8_t { the_knock, the_welcome, the_news };

  explicit silent_rank_zero(until when) : when_(when) {
    manager_ = std::make_unique<wireup::connection_manager>(wireup::identity{}, *this);
    static int count = 0;
    manager_->open_listener(
        "unix://weft-join-silent-" + std::to_string(::getpid()) + "-" + std::to_string(++count),
        address_);
    manager_->start_accepting();
  }
  const std::string& address() const noexcept { return address_; }
  void on_connection_request(std::uint64_t, std::unique_ptr<wireup::incoming_request> r) override {
    if (when_ != until::the_knock) {
      const wireup::channel_ptr c = r->accept();
      if (when_ == until::the_news) c->send(encode(wireup::roster_welcome{{}, 1, 1}));
    }
    visits_.push_back(std::move(r));
  }

 private:
  const until when_;
  std::string address_;
  std::vector<std::unique_ptr<wireup::incoming_request>> visits_;
  std::unique_ptr<wireup::connection_manager> manager_;
};

}  // namespace

TEST_CASE("join: a rank 0 that does not answer is not waited for without end") {
  using weft::tests::contains;
  using until = silent_rank_zero::until;
  options chosen;
  chosen.peer_timeout = std::chrono::seconds(2);
  std::vector<std::future<std::string>> ends;
  std::vector<std::unique_ptr<silent_rank_zero>> hosts;
  for (const until when : {until::the_knock, until::the_welcome, until::the_news}) {
    hosts.push_back(std::make_unique<silent_rank_zero>(when));
    ends.push_back(std::async(std::launch::async, [&chosen, address = hosts.back()->address()] {
      try {
        const context never = join(address, chosen);
        return std::string("joined");
      } catch (const error& e) {
        return (e.kind() == errc::unreachable ? "" : "another kind: ") + std::string(e.what());
      }
    }));
  }
  for (auto& end : ends) {
    const std::string text = end.get();
    // It has not let this process in, or not made it a member.
    CHECK_THAT(text, weft::tests::starts_with("rank 0 ") && contains("stopped or very busy"));
    CHECK_THAT(text, contains("2 s") && contains("WEFT_PEER_TIMEOUT"));
  }
}
