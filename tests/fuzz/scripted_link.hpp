// SPDX-License-Identifier: Apache-2.0
// A link that the input controls.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <weft/transport/transport.hpp>

#include "target.hpp"

namespace weft::fuzz {

using namespace transports;

/// Takes frames or refuses them, and performs transfers or not, as the input says. The peer at its
/// other end reads and writes all memory that it is shown.
class scripted_link final : public link {
 public:
  /// \param teller the frame sink that it tells of finished transfers
  scripted_link(const std::uint8_t& mood, frame_sink& teller) noexcept
      : link(kind()), mood_(mood), teller_(teller) {}
  std::string opened(wireup_message) override { return {}; }
  post send(const frame_header& h, const frame_extension*, gather& data) noexcept override {
    check(h.size <= traits().max_payload, "a frame has its limit");
    if (mood_ & 1) return post::busy;
    if (mood_ & 2) return post::failed;
    look_at(data, h.size);
    data.skip(h.size);
    return post::done;
  }
  post get(scatter into, remote_address, std::size_t size, std::uint64_t cookie) noexcept override {
    return begin({cookie, false, into, {}, size, false});
  }
  preference prefers_get(remote_address, std::size_t) const noexcept override {
    return mood_ & 8 ? preference::yes : preference::no;
  }
  /// The peer's memory: two pieces, at addresses that a loan may begin at, and others.
  peer_view view(remote_address from, std::size_t size) noexcept override {
    piece& there = pieces_[from.region % pieces_.size()];
    if (!there.memory || from.offset + size > there.memory->size()) return {};
    there.keeps = there.memory;
    return {there.memory->data() + from.offset, &there.keeps};
  }
  std::optional<remote_address> expose(const_buffer data) noexcept override {
    return show({const_cast<std::byte*>(data.data()), data.size()}, false);
  }
  post put(gather data, remote_address, std::size_t size, std::uint64_t cookie) noexcept override {
    return begin({cookie, true, {}, data, size, false});
  }
  bool chain(std::uint64_t cookie, const frame_header&, const frame_extension&) noexcept override {
    if (transfers_.empty() || transfers_.back().cookie != cookie) return false;
    return transfers_.back().chained = true;
  }
  bool prefers_put(std::size_t) const noexcept override { return mood_ & 64; }
  std::optional<remote_address> expect(mutable_buffer into) noexcept override {
    return show(into, true);
  }
  void withdraw(remote_address what) noexcept override {
    check(shown_.erase(what.region) == 1, "what was shown is withdrawn once");
  }
  void let_go() noexcept override {
    transfers_.clear();
    shown_.clear();
    pieces_ = {};
  }
  bool unconsumed() const noexcept override { return false; }
  bool wake_peer() noexcept override { return false; }

  /// Time goes by.
  void work() noexcept {
    for (const auto& [number, memory] : shown_) {
      if (memory.second)
        std::fill(memory.first.begin(), memory.first.end(), std::byte{7});
      else
        look_at(memory.first);
    }
    for (std::size_t n = transfers_.size(); n != 0 && !transfers_.empty(); --n) {
      const transfer t = transfers_.front();
      transfers_.pop_front();
      move(t);
      const bool well = (mood_ & 4) == 0;
      if (well && t.chained && (mood_ & 1) == 0) teller_.on_chained(t.cookie);
      teller_.on_transferred(t.cookie, well);
    }
  }
  bool shows_nothing() const noexcept { return shown_.empty(); }
  /// Whether the peer may read or write some of it.
  bool shows(const_buffer what) const noexcept {
    return std::any_of(shown_.begin(), shown_.end(), [&](const auto& each) {
      const mutable_buffer m = each.second.first;
      return m.data() < what.data() + what.size() && what.data() < m.data() + m.size();
    });
  }

  static const transports::traits& kind() noexcept {
    static constexpr transports::traits t{.name = "scripted",
                                          .max_payload = 1024,
                                          .fragment = 512,
                                          .shares_memory = true,
                                          .chains_fin = true};
    return t;
  }

 private:
  struct transfer {
    std::uint64_t cookie;
    bool put;
    scatter into;
    gather data;
    std::size_t size;
    bool chained = false;
  };

  post begin(const transfer& t) noexcept {
    if (mood_ & 128) return post::busy;
    if (mood_ & 32) {
      transfers_.push_back(t);
      return post::posted;
    }
    if (mood_ & 4) return post::failed;
    move(t);
    return post::done;
  }
  void move(transfer t) noexcept {
    if (t.put) return look_at(t.data, t.size);
    for (std::size_t left = t.size; left != 0;) {
      const mutable_buffer run = t.into.run(left);
      check(!run.empty(), "there is room for what is read");
      std::memset(run.data(), 9, run.size());
      left -= run.size();
      t.into.skip(run.size());
    }
  }
  void look_at(gather data, std::size_t size) noexcept {
    for (std::size_t left = size; left != 0;) {
      const const_buffer run = data.run(left);
      check(!run.empty(), "the bytes are there");
      look_at(run);
      left -= run.size();
      data.skip(run.size());
    }
  }
  void look_at(const_buffer bytes) noexcept {
    if (!bytes.empty())
      sum_ += static_cast<unsigned>(bytes.front()) + static_cast<unsigned>(bytes.back());
  }
  std::optional<remote_address> show(mutable_buffer what, bool writable) {
    shown_.emplace(++last_shown_, std::pair(what, writable));
    return remote_address{last_shown_, 64};
  }

  struct alignas(64) shared_piece : std::array<std::byte, 8192> {};
  struct piece {
    std::shared_ptr<shared_piece> memory = std::make_shared<shared_piece>();
    std::shared_ptr<const void> keeps{};
  };

  const std::uint8_t& mood_;
  frame_sink& teller_;
  std::deque<transfer> transfers_;
  std::map<std::uint16_t, std::pair<mutable_buffer, bool>> shown_;
  std::uint16_t last_shown_ = 0;
  std::array<piece, 2> pieces_;
  unsigned sum_ = 0;
};

}  // namespace weft::fuzz
