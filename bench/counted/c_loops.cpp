// SPDX-License-Identifier: Apache-2.0
#include "counted/c_loops.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <weft/weft.h>

#include "counted/turns.hpp"

namespace weft::bench {
namespace {

constexpr int minute = 60'000;

void check(int code, const char* what) {
  if (code < 0) throw std::runtime_error(fmt::format("{}: {}", what, weft_strerror(code)));
}

using c_context = std::unique_ptr<weft_context, void (*)(weft_context*)>;

c_context open_context() {
  const char* const settings[] = {"WEFT_PROGRESS=polling", nullptr};
  char why[200] = "";
  const weft_options options{sizeof(weft_options), settings, why, sizeof why};
  weft_context* made = nullptr;
  if (weft_open(&options, &made) < 0) throw std::runtime_error(why);
  return {made, &weft_close};
}

/// Posts operations and counts their ends, as an application with a window does.
class c_side {
 public:
  c_side(weft_context* ctx, weft_peer* peer, std::size_t most)
      : ctx_(ctx), peer_(peer), ops_(most) {}

  void send(const std::array<std::byte, 8>& data, std::uint64_t tag) {
    posted(weft_send(peer_, data.data(), data.size(), tag, &ops_[next_++], nullptr));
  }
  void receive(std::array<std::byte, 8>& into, std::uint64_t tag) {
    posted(weft_recv(ctx_, peer_, into.data(), into.size(), tag, 0, &ops_[next_++], nullptr));
  }
  void join() {
    std::array<weft_completion, 16> ended{};
    while (in_flight_ != 0) {
      const int n = weft_poll(ctx_, ended.data(), static_cast<int>(ended.size()));
      for (int i = 0; i < n; ++i) check(ended[static_cast<std::size_t>(i)].status, "an operation");
      in_flight_ -= static_cast<unsigned>(n);
    }
    next_ = 0;
  }

 private:
  void posted(int code) {
    check(code, "posting");
    if (code != WEFT_DONE) ++in_flight_;
  }

  weft_context* const ctx_;
  weft_peer* const peer_;
  std::vector<weft_op> ops_;
  std::size_t next_ = 0;
  unsigned in_flight_ = 0;
};

void send_windows(c_side& by, turns& turn, const c_windows& what, bool counts) {
  std::vector<std::array<std::byte, 8>> out(what.window);
  std::array<std::byte, 8> ack{};
  for (unsigned w = 0; w < what.uncounted + what.windows; ++w) {
    turn.wait(0);
    {
      const counting now(counts && w >= what.uncounted);
      if (w != 0) {
        by.receive(ack, counted_ack);
        by.join();
      }
      for (const auto& one : out) by.send(one, counted_data);
      by.join();
    }
    turn.pass(0);
  }
}

void receive_windows(c_side& by, turns& turn, const c_windows& what, bool counts) {
  std::vector<std::array<std::byte, 8>> in(what.window);
  const std::array<std::byte, 8> ack{};
  for (unsigned w = 0; w < what.uncounted + what.windows; ++w) {
    turn.wait(1);
    {
      const counting now(counts && w >= what.uncounted);
      for (auto& one : in) by.receive(one, counted_data);
      by.join();
      by.send(ack, counted_ack);
      by.join();
    }
    turn.pass(1);
  }
}

}  // namespace

void run_in_c(const c_windows& what, int counted_side) {
  const std::string address = fmt::format("unix://weft-bench-counted-c-{}", ::getpid());
  turns turn;
  const c_context first = open_context();
  weft_listener* listening = nullptr;
  check(weft_listen(first.get(), address.c_str(), &listening), "listening");
  auto other = std::async(std::launch::async, [&] {
    const c_context second = open_context();
    weft_peer* peer = nullptr;
    check(weft_connect(second.get(), address.c_str(), nullptr, minute, &peer), "connecting");
    c_side by(second.get(), peer, what.window);
    receive_windows(by, turn, what, counted_side == 1);
  });
  weft_peer* peer = nullptr;
  check(weft_accept(listening, minute, nullptr, 0, &peer), "accepting");
  c_side by(first.get(), peer, what.window);
  send_windows(by, turn, what, counted_side == 0);
  other.get();
}

}  // namespace weft::bench
