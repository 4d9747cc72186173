// SPDX-License-Identifier: Apache-2.0
#include "scale/meet.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <future>
#include <memory>
#include <stdexcept>
#include <vector>

#include "net/address.hpp"
#include "net/socket.hpp"
#include "wireup/bootstrap/rank_at_root.hpp"
#include "wireup/job/job_wire.hpp"
#include "wireup/sockets/locator.hpp"
#include "wireup/sockets/unix_socket.hpp"

namespace scale {

using namespace weft;
using namespace weft::wireup;

namespace {

/// As long as that of a host with one address.
std::string place_of(peer_id rank) {
  return to_text(locator{socket_name_of({{rank + 1, 1}}), {{"192.168.100.200", 45678}}});
}

/// Counts what the book says and hears, without sockets.
struct counted final : root_book::client {
  explicit counted(meeting_cost& into) : cost(into) {}
  void send(frame f) override { count(f); }
  void close_when_sent() override {}
  void close() override {}
  std::string name() const override { return "a rank"; }
  void count(const frame& f) {
    ++cost.frames;
    cost.bytes += frame_header::size + f.body.size();
  }
  meeting_cost& cost;
};

void count_frames(meeting_cost& cost) {
  root_book book(random_id(), cost.ranks, [] {});
  std::vector<std::shared_ptr<counted>> all;
  const auto say = [&](peer_id r, const frame& f) {
    all[r]->count(f);
    book.on_frame(all[r], f);
  };
  for (peer_id r = 0; r != cost.ranks; ++r) {
    all.push_back(std::make_shared<counted>(cost));
    book.on_client(all[r]);
    say(r, encode(root_hello{r, cost.ranks, {}}));
  }
  std::vector<std::string> places;
  for (peer_id r = 0; r != cost.ranks; ++r) {
    places.push_back(place_of(r));
    say(r, encode_publish(places.back()));
  }
  for (peer_id known = 0; known != cost.ranks;) {
    known += static_cast<peer_id>(
        decode_directory_part(encode_directory_part(places, known))->locators.size());
    for (peer_id r = 0; r != cost.ranks && known != cost.ranks; ++r)
      say(r, encode_directory_find(known));
  }
}

/// Some ranks on one thread. All of them publish, and find the last one.
class crowd {
 public:
  crowd(peer_id first, peer_id end, peer_id size, std::uint16_t port, const job_key& key)
      : left_(end - first) {
    launch_terms terms;
    terms.key = key;
    for (peer_id r = first; r != end; ++r)
      ranks_.push_back(std::make_unique<rank_at_root>(
          loop_, given_rank{starter::by_hand, r, size, {"127.0.0.1", port}}, terms));
    loop_->post([this, first, size, port] {
      for (std::size_t i = 0; i != ranks_.size(); ++i)
        enter(first + static_cast<peer_id>(i), size, port);
    });
  }
  ~crowd() {
    loop_->end([this] {
      for (const auto& one : ranks_) one->leave();
    });
  }

  bool meet() {
    return met_.get_future().wait_for(std::chrono::minutes(2)) == std::future_status::ready;
  }

 private:
  void enter(peer_id r, peer_id size, std::uint16_t port) {
    rank_at_root& one = *ranks_[r == 0 ? 0 : r - 1];
    one.enter(r == 0 ? root_listener::open({"127.0.0.1", port}) : unique_fd(),
              [this, &one, r, size](const root_member::outcome& o) {
                if (!o.welcome) return void(fmt::print(stderr, "rank {}: {}\n", r, o.why));
                one.member().publish(place_of(r));
                one.member().find(size - 1, [this](const std::string& at) {
                  if (!at.empty() && --left_ == 0) met_.set_value();
                });
              });
  }

  const std::shared_ptr<loop> loop_ = std::make_shared<loop>();
  std::vector<std::unique_ptr<rank_at_root>> ranks_;
  peer_id left_;
  std::promise<void> met_;
};

std::uint64_t resident_peak() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) * 1024;
  return 0;
}

std::uint16_t free_port() {
  const unique_fd fd =
      net::listen_on(*net::address::of_text("127.0.0.1"), net::takes::its_family, 1);
  return net::address::of_socket(fd.get(), false)->port();
}

double processor_time() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto in_seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return in_seconds(used.ru_utime) + in_seconds(used.ru_stime);
}

/// Rank 0 until all others have left it, then what it has cost.
meeting_cost be_rank_zero(peer_id ranks, std::uint16_t port, const job_key& key, int over) {
  meeting_cost c;
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak begins anew
  const std::uint64_t before = resident_peak();
  {
    crowd zero(0, 1, ranks, port, key);
    char any = 0;
    if (!zero.meet() || ::read(over, &any, 1) != 1) return c;
    c.processor = processor_time();
    if (::read(over, &any, 1) != 0) return c;
  }
  c.leaving = processor_time() - c.processor;
  c.resident = resident_peak() - before;
  return c;
}

}  // namespace

meeting_cost meet(peer_id ranks) {
  const std::uint16_t port = free_port();
  const job_key key = job_key::random();
  std::array<int, 2> over{}, result{};
  if (::pipe(over.data()) != 0 || ::pipe(result.data()) != 0) throw std::runtime_error("no pipe");
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(over[1]);
    const meeting_cost c = be_rank_zero(ranks, port, key, over[0]);
    static_cast<void>(::write(result[1], &c, sizeof c) == sizeof c);
    ::_exit(0);
  }
  ::close(over[0]);
  ::close(result[1]);
  meeting_cost cost;
  bool met = false;
  std::chrono::steady_clock::time_point end;
  {
    crowd others(1, ranks, ranks, port, key);
    met = others.meet();
    end = std::chrono::steady_clock::now();
    if (::write(over[1], "", 1) != 1) met = false;
  }
  ::close(over[1]);
  met = met && ::read(result[0], &cost, sizeof cost) == sizeof cost;
  ::close(result[0]);
  ::waitpid(child, nullptr, 0);
  if (!met) throw std::runtime_error(fmt::format("{} ranks have not met", ranks));
  cost.ranks = ranks;
  cost.seconds = std::chrono::duration<double>(end - begin).count();
  count_frames(cost);
  return cost;
}

std::string meeting_head() {
  return fmt::format("{:>6} {:>8} {:>12} {:>12} {:>9} {:>10} {:>14}\n", "ranks", "s", "processor s",
                     "leaving s", "frames", "bytes", "memory bytes");
}

std::string meeting_line(const meeting_cost& c) {
  return fmt::format("{:>6} {:>8.3f} {:>12.3f} {:>12.3f} {:>9} {:>10} {:>14}\n", c.ranks, c.seconds,
                     c.processor, c.leaving, c.frames, c.bytes, c.resident);
}

}  // namespace scale
