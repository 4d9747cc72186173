// SPDX-License-Identifier: Apache-2.0
// Which frames of two rings a pass takes, with each read policy.
#include <algorithm>
#include <memory>
#include <string>

#include "support/catch.hpp"
#include "transports/shm/factory.hpp"
#include "transports/shm/read_policy.hpp"

using namespace weft::transports;
using namespace weft::transports::shm;
using weft::ring_read_policy;
namespace runtime = weft::runtime;

namespace {

// Kinds of frames, as they show in the log.
constexpr char begins = 'B', goes_on = 'm', ends = 'E', small = 's', nonsense = 'x';

/// Records the frames. The tag of a frame that begins a message is the message's size.
struct reader final : frame_sink {
  explicit reader(std::string& log, char name) : log_(log), name_(name) {}
  bool on_frame(const frame_header& h, const frame_extension*, const std::byte*) noexcept override {
    const char kind = static_cast<char>(h.kind);
    log_ += {name_, kind, ' '};
    if (kind == begins) size_ = h.tag;
    if (kind == ends) size_ = 0;
    return kind != nonsense;
  }
  std::uint64_t under_way() const noexcept override { return size_; }
  void on_writable() noexcept override {}
  void on_broken(weft::errc) noexcept override { log_ += std::string{name_} + " broken "; }

 private:
  std::string& log_;
  const char name_;
  std::uint64_t size_ = 0;
};

struct deaf final : frame_sink {
  bool on_frame(const frame_header&, const frame_extension*, const std::byte*) noexcept override {
    return true;
  }
  void on_writable() noexcept override {}
  void on_broken(weft::errc) noexcept override {}
};

/// A process that sends to the receiver.
struct talker {
  runtime::doorbell own_bell{true};
  shm_transport shm{own_bell, copy_method::automatic, 1};
  deaf in;
  const counterpart who{0, [](wireup_message) {}};
  std::unique_ptr<weft::transports::link> ring;

  talker(transport& to, frame_sink& as) {
    wireup_message offer, answer;
    ring = shm.open(in, who, offer);
    REQUIRE(to.accept(as, who, std::move(offer), answer).empty());
    REQUIRE(ring->opened(std::move(answer)).empty());
  }
  ~talker() { shm.forget(in); }

  void say(const std::string& kinds, std::uint64_t size) {
    for (const char kind : kinds) {
      frame_header h;
      h.tag = size;
      h.kind = static_cast<std::uint8_t>(kind);
      REQUIRE(ring->send_contiguous(h, nullptr, nullptr) == post::done);
    }
  }
};

/// Two senders and a receiver with that read policy.
struct stage {
  explicit stage(ring_read_policy reading) : shm(make(own_bell, "auto", reading)) {}
  ~stage() {
    shm->forget(in1);
    shm->forget(in2);
  }
  void both_say(const std::string& kinds, std::uint64_t size) {
    first.say(kinds, size);
    second.say(kinds, size);
  }
  std::string pass() {
    log.clear();
    shm->poll_hook()->poll();
    return log;
  }

  std::string log;
  runtime::doorbell own_bell{true};
  std::unique_ptr<transport> shm;
  reader in1{log, '1'}, in2{log, '2'};
  talker first{*shm, in1}, second{*shm, in2};
};

constexpr std::uint64_t longer_than_ring = bulk_bytes + 1;

}  // namespace

TEST_CASE("shm: reading in bursts takes what is there") {
  stage s(ring_read_policy::burst);
  s.both_say("BmmEs", longer_than_ring);
  CHECK(s.pass() == "1B 1m 1m 1E 1s 2B 2m 2m 2E 2s ");
}

TEST_CASE("shm: single reading takes one frame of each ring, also of a message under way") {
  stage s(ring_read_policy::single);
  s.both_say("BmEs", longer_than_ring);
  CHECK(s.pass() == "1B 2B ");
  CHECK(s.pass() == "1m 2m ");
  CHECK(s.pass() == "1E 2E ");
  CHECK(s.pass() == "1s 2s ");
  CHECK(s.pass() == "");
}

TEST_CASE("shm: contiguous reading takes the rest of a message at the next look at its ring") {
  stage s(ring_read_policy::contiguous);
  s.both_say("BmmEss", longer_than_ring);
  CHECK(s.pass() == "1B 2B ");
  CHECK(s.pass() == "1m 1m 1E 2m 2m 2E ");
  CHECK(s.pass() == "1s 2s ");
  CHECK(s.pass() == "1s 2s ");
}

TEST_CASE("shm: post reading takes the rest when every ring was looked at") {
  stage s(ring_read_policy::post);
  s.both_say("BmmEs", longer_than_ring);
  CHECK(s.pass() == "1B 2B 1m 1m 1E 2m 2m 2E ");
  CHECK(s.pass() == "1s 2s ");
}

TEST_CASE("shm: immediate reading takes the rest before it looks at another ring") {
  stage s(ring_read_policy::immediate);
  s.both_say("BmmEs", longer_than_ring);
  CHECK(s.pass() == "1B 1m 1m 1E 2B 2m 2m 2E ");
  CHECK(s.pass() == "1s 2s ");
}

TEST_CASE(
    "shm: a message that fits into the ring waits for the next look, in all of SHIBA's ways") {
  for (const auto reading :
       {ring_read_policy::contiguous, ring_read_policy::post, ring_read_policy::immediate}) {
    stage s(reading);
    s.both_say("BmEs", bulk_bytes);
    CHECK(s.pass() == "1B 2B ");
    CHECK(s.pass() == "1m 1E 2m 2E ");
    CHECK(s.pass() == "1s 2s ");
  }
}

TEST_CASE("shm: what a ring has not got yet is taken when it comes, and others get their turn") {
  for (const auto reading :
       {ring_read_policy::contiguous, ring_read_policy::post, ring_read_policy::immediate}) {
    stage s(reading);
    s.first.say("B", longer_than_ring);
    CHECK(s.pass() == "1B ");
    s.first.say("m", 0);
    s.second.say("ss", 0);
    CHECK(s.pass() == "1m 2s ");
    s.first.say("mE", 0);
    CHECK(s.pass() == "1m 1E 2s ");
  }
}

TEST_CASE("shm: a message without end leaves others their turn") {
  for (const auto reading : {ring_read_policy::burst, ring_read_policy::contiguous,
                             ring_read_policy::post, ring_read_policy::immediate}) {
    stage s(reading);
    s.first.say("B" + std::string(200, goes_on), longer_than_ring);
    s.second.say(std::string(8, small), 0);
    for (int i = 0; i < 2; ++i) {
      const std::string log = s.pass();
      CHECK(std::count(log.begin(), log.end(), '1') <= 64);
      if (reading != ring_read_policy::burst || i == 0) CHECK(log.find("2s") != std::string::npos);
    }
  }
}

TEST_CASE("shm: a ring that breaks while a rest is taken is reported once, and not read again") {
  for (const auto reading :
       {ring_read_policy::contiguous, ring_read_policy::post, ring_read_policy::immediate}) {
    stage s(reading);
    s.first.say("Bxm", longer_than_ring);
    std::string all;
    for (int i = 0; i < 4; ++i) all += s.pass();
    CHECK(all == "1B 1x 1 broken ");
  }
}
