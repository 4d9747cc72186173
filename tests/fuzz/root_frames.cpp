// SPDX-License-Identifier: Apache-2.0
// Ranks that meet at rank 0: its book, with several connections that send arbitrary messages, and
// a member, whose rank 0 says anything. Nothing is sent to a closed connection, each `find` has
// one answer, and a member asks for what it does not know only.
#include <memory>
#include <string>
#include <vector>

#include "target.hpp"
#include "wireup/bootstrap/root_book.hpp"
#include "wireup/bootstrap/root_member.hpp"
#include "wireup/job/job_wire.hpp"
#include "wireup/sockets/unix_socket.hpp"

namespace weft::fuzz {

namespace {

using namespace wireup;

constexpr peer_id ranks = 3;
constexpr context_id the_job{{1, 2}};

std::string place(std::uint8_t which) { return socket_name_of({{which, 1}}); }

frame some_bytes(input& in, std::uint8_t kind) {
  const auto taken = in.bytes(in.get<std::uint8_t>());
  return {static_cast<frame_kind>(kind), 0, {taken.begin(), taken.end()}, {}};
}

struct scripted_client final : root_book::client {
  void send(frame f) override {
    check(!over, "nothing is said to who was hung up on");
    check(f.body.size() <= max_frame_body, "what is said is a frame");
    ++said;
  }
  void close_when_sent() override { over = true; }
  void close() override { over = true; }
  std::string name() const override { return "a process"; }
  std::size_t said = 0;
  bool over = false;  // the book has closed it, or it has hung up
};

class rank_zero {
 public:
  void step(input& in) {
    const auto action = in.get<std::uint8_t>();
    if (action % 8 == 0 || clients_.empty()) {
      clients_.push_back(std::make_shared<scripted_client>());
      return book_.on_client(clients_.back());
    }
    const auto c = clients_[in.get<std::uint8_t>() % clients_.size()];
    if (c->over) return;
    switch (action % 8) {
      case 1:
        c->over = true;
        return book_.on_ended(c);
      case 2:
        return book_.on_impatience(c);
      case 3:
        return action > 250 ? book_.on_timeout("1 s") : book_.tell_ends();
      default: {
        const frame f = some_frame(in);
        const std::size_t before = c->said;
        book_.on_frame(c, f);
        check(c->said <= before + 3, "a frame has few answers");
      }
    }
  }

  ~rank_zero() {
    book_.close();
    for (const auto& c : clients_) check(c->over, "everybody was hung up on");
  }

 private:
  static frame some_frame(input& in) {
    const auto how = in.get<std::uint8_t>();
    switch (how % 8) {
      case 0:
      case 1:
      case 2:
        return encode(root_hello{how / 8u % (ranks + 1), ranks, {}});
      case 3:
      case 4:
        return encode_publish(place(how));
      case 5:
        return encode_directory_find(how / 8u % (ranks + 1));
      case 6:
        return encode_orderly_bye();
      default:
        return some_bytes(in, in.get<std::uint8_t>());
    }
  }

  root_book book_{the_job, ranks, [] {}};
  std::vector<std::shared_ptr<scripted_client>> clients_;
};

class other_rank {
 public:
  other_rank()
      : member_(
            {1, ranks, {}}, [this](const frame& f) { on_said(f); },
            [this](const root_member::outcome&) {
              check(entering_, "one answer");
              entering_ = false;
            }) {
    greet();
  }

  void step(input& in) {
    const auto action = in.get<std::uint8_t>();
    switch (action % 8) {
      case 0: {
        const std::size_t asked = asked_++;
        answered_.push_back(false);
        return member_.find(action / 8u % ranks, [this, asked](const std::string&) {
          check(!answered_[asked], "one answer");
          answered_[asked] = true;
        });
      }
      case 1:
        if (!entering_ && action > 240) greet();
        return;
      case 2:
        if (action > 250) member_.on_lost();
        return;
      default:
        member_.on_frame(some_frame(in));
    }
  }

  ~other_rank() {
    member_.stop();
    for (const bool one : answered_) check(one, "everybody is answered");
  }

 private:
  void greet() {
    entering_ = true;
    member_.greet();
  }

  void on_said(const frame& f) {
    if (const auto first = decode_directory_find(f))
      check(*first > 0 && *first < ranks, "it asks for what there can be");
  }

  static frame some_frame(input& in) {
    const auto how = in.get<std::uint8_t>();
    std::vector<job_ended> ends;
    std::vector<std::string> all{place(1), std::string(), place(2), place(3)};
    switch (how % 6) {
      case 0:
        return encode(root_welcome{the_job, how / 8u % 5, how / 64u, how / 32u});
      case 1:
        all.resize(1 + how / 8u % 4);
        return encode_directory_part(all, how / 32u % static_cast<peer_id>(all.size()));
      case 2:
        ends.push_back({how / 8u % 4, how >= 128});
        return encode_ranks_ended(ends);
      case 3:
        return how >= 128 ? encode_orderly_bye() : some_bytes(in, 3);  // a refusal
      default:
        return some_bytes(in, in.get<std::uint8_t>());
    }
  }

  bool entering_ = false;
  std::size_t asked_ = 0;
  std::vector<bool> answered_;
  root_member member_;
};

}  // namespace

void run(input in) {
  if (in.get<std::uint8_t>() % 2 == 0) {
    rank_zero one;
    while (!in.empty()) one.step(in);
  } else {
    other_rank one;
    while (!in.empty()) one.step(in);
  }
}

}  // namespace weft::fuzz
