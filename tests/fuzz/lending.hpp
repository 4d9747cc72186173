// SPDX-License-Identifier: Apache-2.0
// An application that lends memory to a peer, and reads what it was lent, in any order. A block is
// free as soon as no one needs it, and not sooner; what is read in place stays readable until the
// view ends, also when the peer has gone.
#pragma once

#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <weft/loan.hpp>

#include "counted.hpp"
#include "proto/loans/loan_pool.hpp"
#include "proto/messenger/messenger.hpp"

namespace weft::fuzz {

using lending = counted<loan_send_operation>;
using viewing = counted<lent_recv_operation<std::uint8_t>>;

/// Without the progress lock, but for what says otherwise.
class lender {
 public:
  /// \param shows  whether a peer may read any of it
  lender(proto::messenger& m, std::function<bool(const_buffer)> shows)
      : messages_(m), shows_(std::move(shows)), pool_(m.engine(), memory_.size()) {
    pool_.use(memory_);
  }

  /// \param what  which act: below 8
  /// \param to    the peer that it is done with
  void step(unsigned what, input& in, proto::peer& to) {
    switch (what) {
      case 1:
      case 2:
        return lend(to, in.get<std::uint16_t>() % 20000u, what == 2);
      case 3:
        return start(
            receives_,
            lent_recv_request<std::uint8_t>{
                {nullptr, &to, tag{in.get<std::uint8_t>() % 4u}, mutable_buffer{}}, {9000}});
      case 4:
        if (!views_.empty()) views_.erase(views_.begin() + pick(in, views_.size()));
        return;
      case 5:
        if (!receives_.empty()) receives_[at(in, receives_.size())]->cancel();
        return;
      case 6:
        if (!sends_.empty()) sends_[at(in, sends_.size())]->cancel();
        return;
      default:
        // Another receiver of a block, or its last holder here goes.
        if (mine_.empty()) return;
        if (in.get<std::uint8_t>() & 1)
          send(to, mine_.back().share());
        else
          mine_.pop_back();
    }
  }

  void settle() {
    std::erase_if(sends_, [](const auto& s) { return s->ends != 0; });
    std::erase_if(receives_, [this](const auto& r) {
      if (r->ends == 0) return false;
      if (r->status == errc::ok) views_.push_back(r->take());
      return true;
    });
    for (const auto& v : views_) {
      check(v.about().size == v.size(), "a view has its message");
      for (const std::uint8_t byte : v) sum_ += byte;  // for AddressSanitizer
    }
  }

  bool is_idle() const noexcept { return sends_.empty() && receives_.empty(); }
  /// Progress lock held.
  bool lends_nothing() const noexcept { return pool_.in_use() == 0; }
  /// All peers have gone.
  void end() {
    check(is_idle(), "every loan has left or failed, and every receive has ended");
    mine_.clear();
    const runtime::engine::holder hold(messages_.engine());
    check(pool_.is_whole(), "every block is free once");
  }

 private:
  static std::size_t at(input& in, std::size_t n) noexcept { return in.get<std::uint8_t>() % n; }
  static std::ptrdiff_t pick(input& in, std::size_t n) noexcept {
    return static_cast<std::ptrdiff_t>(at(in, n));
  }
  template <class Op, class Request>
  void start(std::vector<std::unique_ptr<Op>>& to, const Request& r) {
    to.push_back(std::make_unique<Op>(r));
    to.back()->go();
  }

  void send(proto::peer& to, detail::loan_memory what) {
    start(sends_, loan_send_request{&to, tag{1}, 0, std::move(what)});
  }
  void lend(proto::peer& to, std::size_t size, bool keeps) {
    proto::loan_block* b = nullptr;
    {
      const runtime::engine::holder hold(messages_.engine());
      b = pool_.take(size);
    }
    if (!b) return;
    check(b->capacity >= size, "a block is large enough");
    check(!shows_({b->at, b->capacity}), "no peer can read a block that was free");
    detail::loan_memory made(*b, {b->at, size});
    std::memset(b->at, ++last_, size);
    if (keeps) mine_.push_back(made.share());
    send(to, std::move(made));
  }

  proto::messenger& messages_;
  const std::function<bool(const_buffer)> shows_;
  alignas(proto::loan_pool::page) std::array<std::byte, 64 * 1024> memory_{};
  proto::loan_pool pool_;
  std::vector<std::unique_ptr<lending>> sends_;
  std::vector<std::unique_ptr<viewing>> receives_;
  std::vector<detail::loan_memory> mine_;
  std::vector<lent<std::uint8_t>> views_;  // these outlive the messenger
  std::uint8_t last_ = 0;
  unsigned sum_ = 0;
};

}  // namespace weft::fuzz
