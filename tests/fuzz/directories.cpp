// SPDX-License-Identifier: Apache-2.0
// The directories of a job, weft-run's (job_book) and rank 0's (coordinator), with several
// connections that send arbitrary messages, in any order. A closed connection is told nothing more,
// the end of a rank is believed only from a valid source, and the stored data is bounded.
#include <array>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "target.hpp"
#include "wireup/auth/hello.hpp"
#include "wireup/job/coordinator.hpp"
#include "wireup/job/job_book.hpp"
#include "wireup/job/job_wire.hpp"
#include "wireup/sockets/unix_socket.hpp"

namespace weft::fuzz {

namespace {

using namespace wireup;
using transports::wireup_message;

constexpr peer_id ranks = 3;
constexpr context_id the_job{{1, 2}};

std::string place(std::uint8_t which) { return socket_name_of({{which, 1}}); }

std::vector<std::byte> some_bytes(input& in) {
  const auto taken = in.bytes(in.get<std::uint8_t>());
  return {taken.begin(), taken.end()};
}

// weft-run's directory.

struct scripted_client final : job_book::client {
  void send(frame f) override {
    check(!over, "nothing is said to who was hung up on");
    check(f.body.size() <= max_frame_body, "what is said is a frame");
    ++said;
  }
  void close_when_sent() override { over = true; }
  void close() override { over = true; }
  bool is_gone() const noexcept override { return gone; }
  std::string name() const override { return "process 1"; }
  std::size_t said = 0;
  bool over = false;  // the directory has closed it, or it has hung up
  bool gone = false;
};

class launcher {
 public:
  void step(input& in) {
    const auto action = in.get<std::uint8_t>();
    if (action % 8 == 0 || clients_.empty()) {
      clients_.push_back(std::make_shared<scripted_client>());
      book_.on_client(clients_.back());
      return;
    }
    const auto c = clients_[in.get<std::uint8_t>() % clients_.size()];
    switch (action % 8) {
      case 1:
        c->gone = true;
        break;
      case 2:
        if (!c->over) book_.on_ended(c);
        c->over = true;
        break;
      case 3:
        if (!c->over) book_.on_impatience(c);
        break;
      case 4:
        book_.on_rank_ended(in.get<std::uint8_t>() % ranks, (action & 8) != 0);
        break;
      default: {
        // What a closed connection still sends is thrown away.
        const frame f = some_frame(in);
        const std::size_t before = c->said;
        if (!c->over) book_.on_frame(c, f);
        check(c->said <= before + 1 + ranks, "a frame has few answers");
      }
    }
    check(book_.clients() <= job_book::most_unnamed + ranks, "there are so many clients at most");
  }

  ~launcher() {
    book_.close();
    check(book_.clients() == 0, "nobody is left");
    for (const auto& c : clients_) check(c->over, "everybody was hung up on");
  }

 private:
  static frame some_frame(input& in) {
    const auto how = in.get<std::uint8_t>();
    const peer_id rank = how / 8u % (ranks + 1);
    switch (how % 8) {
      case 0:
      case 1:
        return encode(job_hello{the_job, rank});
      case 2:
        return encode_publish(place(in.get<std::uint8_t>() % 4));
      case 3:
      case 4:
        return encode(job_find{rank, {}});
      case 5:
        return encode(job_find{rank, place(in.get<std::uint8_t>() % 4)});
      default: {
        frame f{static_cast<frame_kind>(in.get<std::uint8_t>()), 0, {}, {}};
        f.body = some_bytes(in);
        return f;
      }
    }
  }

  job_book book_{the_job, ranks};
  std::vector<std::shared_ptr<scripted_client>> clients_;
};

// Rank 0's directory.

class rank_zero;

struct scripted_line final : channel {
  const identity& peer() const noexcept override { return who; }
  bool carries_descriptors() const noexcept override { return true; }
  void send(wireup_message p) override;
  digest sign(std::span<const std::byte>) const noexcept override { return {}; }
  void close() override { closed = true; }
  void process_ended() override {}
  void report_to(channel_events&) override {}

  rank_zero* home = nullptr;
  identity who;
  bool closed = false;
  peer_id rank = no_peer;  // from its welcome
};

struct scripted_visit final : incoming_request {
  const identity& peer() const noexcept override { return line->who; }
  const std::string& private_data() const noexcept override { return said; }
  channel_ptr accept() override { return leaves ? nullptr : line; }
  void reject(const std::string&) override {}
  bool has_ended() const noexcept override { return leaves; }
  std::shared_ptr<scripted_line> line;
  std::string said;
  bool leaves = false;
};

class rank_zero {
 public:
  rank_zero() {
    coordinator::host h;
    h.job = the_job;
    h.first_size = ranks;
    h.find = [this](peer_id rank, std::function<void(std::string)> found) {
      check(asked_.insert(rank).second, "the launcher is asked once for each rank");
      answers_.push_back({rank, std::move(found)});
    };
    h.is_at = [](const identity& who, bool, const std::string& locator) {
      return locator == place(static_cast<std::uint8_t>(who.pid));
    };
    h.on_change = [this](const change& c) {
      check(!ends_membership(c.what) || may_end_.contains(c.rank),
            "a rank's end is told by who may");
      if (ends_membership(c.what)) gone_.insert(c.rank);
      check(c.what != change_kind::returned || gone_.contains(c.place),
            "a place is taken when its rank was lost");
    };
    book_ = std::make_unique<coordinator>(std::move(h));
  }

  void step(input& in) {
    const auto action = in.get<std::uint8_t>();
    if (action % 8 == 0 || lines_.empty()) return come(in);
    const auto line = lines_[in.get<std::uint8_t>() % lines_.size()];
    switch (action % 8) {
      case 1:
        book_->on_ended(line, (action & 8) != 0 ? errc::closed : errc::peer_lost);
        return;
      case 2: {
        const peer_id rank = in.get<std::uint8_t>() % (ranks + 4);
        may_end_.insert(rank);
        return book_->on_rank_ended(rank, (action & 8) != 0);
      }
      case 3: {
        if (answers_.empty()) return;
        const auto answer = std::move(answers_.front());
        answers_.erase(answers_.begin());
        asked_.erase(answer.rank);
        return answer.found((action & 8) != 0 ? std::string()
                                              : place(static_cast<std::uint8_t>(answer.rank)));
      }
      default: {
        book_->on_wireup_message(line, some_parcel(in));
      }
    }
  }

  void welcomed(scripted_line& line, peer_id rank) {
    check(line.rank == no_peer, "one welcome");
    check(rank >= ranks || static_cast<peer_id>(line.who.pid) == rank,
          "who is not that rank is not welcome as one");
    line.rank = rank;
    may_end_.insert(rank);
  }

 private:
  struct answer {
    peer_id rank;
    std::function<void(std::string)> found;
  };

  void come(input& in) {
    const auto how = in.get<std::uint8_t>();
    auto v = std::make_unique<scripted_visit>();
    v->line = std::make_shared<scripted_line>();
    v->line->home = this;
    v->line->who.pid = in.get<std::uint8_t>() % 8;
    if ((how & 1) != 0) v->line->who.job = the_job;
    v->line->who.rank = how / 2u % 8;
    v->leaves = how >= 240;
    const peer_id says = how / 16u % 8;
    v->said = encode((how & 1) == 0   ? roster_greeting{}
                     : (how & 2) == 0 ? roster_greeting{says, no_peer}
                                      : roster_greeting{no_peer, says});
    if (how == 0xff) v->said = "hello";
    lines_.push_back(v->line);
    book_->on_request(std::move(v));
  }

  static wireup_message some_parcel(input& in) {
    const auto how = in.get<std::uint8_t>();
    switch (how % 6) {
      case 0:
        return encode_roster_publish(place(how));
      case 1:
      case 2:
        return encode_roster_find(how / 8u);
      case 3:
        return encode_roster_leave();
      default: {
        wireup_message p;
        p.kind = in.get<std::uint8_t>() % 8;
        p.bytes = some_bytes(in);
        return p;
      }
    }
  }

  std::set<peer_id> asked_, may_end_, gone_;
  std::vector<answer> answers_;
  std::vector<std::shared_ptr<scripted_line>> lines_;
  std::unique_ptr<coordinator> book_;
};

void scripted_line::send(wireup_message p) {
  check(!closed, "nothing is said to who was hung up on");
  check(p.bytes.size() <= wireup_message::max_bytes, "what is said is a wire-up message");
  if (const auto w = decode_roster_welcome(p)) return home->welcomed(*this, w->rank);
  check(rank != no_peer, "nothing is said before the welcome");
}

}  // namespace

void run(input in) {
  if (in.get<std::uint8_t>() % 2 == 0) {
    launcher one;
    while (!in.empty()) one.step(in);
  } else {
    rank_zero one;
    while (!in.empty()) one.step(in);
  }
}

}  // namespace weft::fuzz
