// SPDX-License-Identifier: Apache-2.0
// A peer that sends arbitrary frames, and an application that makes arbitrary calls. Every
// operation ends exactly once, buffers are not touched afterwards (AddressSanitizer checks that),
// memory stays within the budget, and the other peer's messages are not affected.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "counted.hpp"
#include "lending.hpp"
#include "proto/messenger/messenger.hpp"
#include "proto/rails/multi_rail_link.hpp"
#include "proto/select/select.hpp"
#include "scripted_link.hpp"
#include "support/scripted_connector.hpp"

namespace weft::fuzz {

using namespace proto;
using runtime::engine;

constexpr std::size_t budget = 1u << 20;
constexpr auto first_of_access = static_cast<std::uint8_t>(frame_kind::put);

class conversation {
 public:
  /// \param links to the hostile peer; with more than one its frames are numbered
  explicit conversation(std::size_t links) {
    messages_.attach(connector_);
    turns_.add(messages_.upkeep());
    const engine::holder hold(turns_);
    bystander_->opened(one_link(*bystander_), bystander_->writer().grant_first_credit());
    const std::uint32_t credit = villain_->writer().grant_first_credit();
    if (links == 1) {
      lanes_.push_back(villain_.get());
      villain_->opened(one_link(*villain_), credit);
      return;
    }
    const std::vector<traits> kinds(links, scripted_link::kind());
    auto several = std::make_unique<multi_rail_link>(*villain_, kinds);
    for (std::size_t i = 0; i != links; ++i) {
      lanes_.push_back(&several->frame_sink(i));
      several->join(i, one_link(several->frame_sink(i)));
    }
    villain_->opened(std::move(several), credit);
  }

  ~conversation() {
    mood_ = 0;
    {
      const engine::holder hold(turns_);
      check(!bystander_->has_ended(), "the bystander is as it was");
      villain_->give_up(errc::peer_lost, "gone");
    }
    receive_what_arrived();
    {
      const engine::holder hold(turns_);
      messages_.close_all();
    }
    settle();
    for (const auto& r : regions_) end_region(r.key);
    settle();
    loans_.end();
    messages_.close_views();
    check(receives_.empty() && sends_.empty() && probes_.empty() && transfers_.empty() &&
              updates_.empty() && notified_.empty(),
          "every operation has ended");
    const engine::holder hold(turns_);
    check(messages_.messages().in_use() == 0, "no message is left");
    check(messages_.counts().unexpected_bytes_now == 0, "no memory of messages is left");
    check(messages_.counts().unexpected_bytes_peak <= budget + 2 * smallest_grant * credit_unit,
          "the budget was kept");
    check(turns_.outstanding() == 0, "nothing is outstanding");
    const std::uint32_t all = messages_.memory().take(~0u);
    check(all == budget / credit_unit, "the whole budget has come back");
    messages_.memory().give_back(all);
    messages_.peers().clear();
    villain_->drop_link();
    bystander_->drop_link();
  }

  void run(input in) {
    while (!in.empty()) step(in);
  }

 private:
  std::unique_ptr<scripted_link> one_link(frame_sink& teller) {
    auto made = std::make_unique<scripted_link>(mood_, teller);
    links_.push_back(made.get());
    return made;
  }

  /// Messages that had arrived whole can still be received.
  void receive_what_arrived() {
    while (messages_.receives().try_probe(nullptr, any_tag)) {
      receiving r(recv_request{&messages_, nullptr, any_tag, mutable_buffer{}});
      r.go();
      check(r.ends == 1, "a message that is left is whole");
    }
  }

  void settle() {
    {
      const engine::holder hold(turns_);
      for (scripted_link* l : links_) l->work();
    }
    for (int i = 0; i < 1000 && turns_.poll_once() != 0; ++i) {
    }
    const auto over = [](const auto& p) { return p.op->ends != 0; };
    std::erase_if(receives_, over);
    std::erase_if(sends_, over);
    std::erase_if(probes_, over);
    std::erase_if(transfers_, over);
    std::erase_if(updates_, over);
    std::erase_if(notified_, over);
    loans_.settle();
    if (!transfers_.empty()) return;
    if (!receives_.empty() || !sends_.empty()) return;
    const engine::holder hold(turns_);
    if (!loans_.is_idle() || !loans_.lends_nothing()) return;
    for (const scripted_link* l : links_)
      check(l->shows_nothing(), "what has ended cannot be read or written any more");
  }

  struct some_frame {
    frame_header h;
    frame_extension x;
    const frame_extension* extension() const { return transports::extension_of(h, x); }
  };

  some_frame next_frame(input& in) {
    // As every transport guarantees: an extension where the flag says so, and as many bytes as the
    // size.
    frame_header h{in.get<std::uint8_t>() % 4u, in.get<std::uint16_t>(), in.get<std::uint8_t>(),
                   in.get<std::uint8_t>(), in.get<std::uint8_t>()};
    if (h.kind >= 128) h.kind %= 12;
    if (h.kind >= 32) h.kind = static_cast<std::uint8_t>(first_of_access + h.kind % 8);
    if (h.kind >= first_of_access && h.tag != 3) h.tag = regions_[h.tag % 2].key;
    h.size %= h.flags & 4 ? 4097 : 64;
    frame_extension x;
    if (h.flags & has_extension) {
      // Sizes, offsets and numbers that may be right, or arbitrary ones.
      const auto form = in.get<std::uint8_t>();
      if (form & 1) {
        x = in.get<frame_extension>();
      } else {
        x.a = in.get<std::uint16_t>() >> (form & 2 ? 8 : 0);
        if (form & 4) x.a |= std::uint64_t{in.get<std::uint8_t>()} << 48;
        x.b = in.get<std::uint16_t>() >> (form & 8 ? 8 : 0);
      }
    }
    return {h, x};
  }

  void frame(input& in) {
    some_frame f = next_frame(in);
    frame_header& h = f.h;
    const frame_extension* const extension = f.extension();
    if (lanes_.size() == 1) return arrive(*lanes_.front(), h, extension, {});
    const auto how = in.get<std::uint8_t>();
    frame_sink& lane = *lanes_[how % lanes_.size()];
    if (how & 4) return number_and_arrive(lane, h, extension, how);
    if (how & 8) h.tag = next_fragment_++;
    arrive(lane, h, extension, {});
  }

  /// Inside an ordered frame, with the next number, or nearly.
  void number_and_arrive(frame_sink& lane, const frame_header& h, const frame_extension* x,
                         std::uint8_t how) {
    std::vector<std::byte> block(sizeof h + (x ? sizeof *x : 0) + h.size);
    std::memcpy(block.data(), &h, sizeof h);
    if (x) std::memcpy(block.data() + sizeof h, x, sizeof *x);
    if (how & 16) block.resize(block.size() / 2);
    const std::uint64_t number = how & 8 ? next_ordered_ + how / 32u : next_ordered_++;
    arrive(lane, header_of(frame_kind::ordered, number, static_cast<std::uint32_t>(block.size())),
           nullptr, block);
  }

  void arrive(frame_sink& lane, const frame_header& h, const frame_extension* x,
              std::span<const std::byte> content) {
    const engine::holder hold(turns_);
    const bool placed = (mood_ & 16) != 0 && place(lane, h, x);
    const std::unique_ptr<std::byte[]> bytes(new std::byte[h.size]());  // for AddressSanitizer
    std::copy(content.begin(), content.end(), bytes.get());
    if (!lane.on_frame(h, x, placed ? nullptr : bytes.get())) lane.on_broken(errc::protocol_error);
  }

  /// As a stream transport does: into the place that it is given. \return false: it was given none
  static bool place(frame_sink& lane, const frame_header& h, const frame_extension* x) {
    for (std::uint32_t already = 0; already != h.size;) {
      const mutable_buffer into = lane.place(h, x, already);
      if (into.empty()) return already != 0;
      check(into.size() <= h.size - already, "no more is wanted than the frame has");
      std::memset(into.data(), 5, into.size());
      already += static_cast<std::uint32_t>(into.size());
    }
    return h.size != 0;
  }

  /// Frames that arrive in pieces, by independent transports, while other frames arrive.
  void half_frame(input& in) {
    const auto how = in.get<std::uint8_t>();
    half& it = halves_[how % halves_.size()];
    frame_sink& lane = *lanes_[how % lanes_.size()];
    if (!it.under_way) {
      it = {next_frame(in), 0, false, true};
      // Known by its number on one lane of several, and with bytes: other frames are not placed.
      if (lanes_.size() > 1) {
        it.of.h.kind = static_cast<std::uint8_t>(frame_kind::data);
        it.of.h.flags |= has_extension;
        it.of.h.tag = how & 8 ? next_fragment_ : next_fragment_++;
      }
    }
    const frame_header& h = it.of.h;
    const engine::holder hold(turns_);
    const auto until = how & 4 ? h.size : std::min<std::uint32_t>(h.size, it.already + how);
    while (it.already != until) {
      const mutable_buffer into = lane.place(h, it.of.extension(), it.already);
      if (into.empty() && !it.placed) break;  // the frame is kept until it is whole
      check(into.size() <= h.size - it.already, "no more is wanted than the frame has");
      const std::size_t n = into.empty() ? until - it.already
                                         : std::min<std::size_t>(into.size(), until - it.already);
      if (!into.empty()) std::memset(into.data(), 6, n);
      it.placed = true;
      it.already += static_cast<std::uint32_t>(n);
    }
    if (it.placed ? it.already != h.size : (how & 4) == 0) return;
    it.under_way = false;
    const std::unique_ptr<std::byte[]> bytes(new std::byte[h.size]());
    if (!lane.on_frame(h, it.of.extension(), it.placed ? nullptr : bytes.get()))
      lane.on_broken(errc::protocol_error);
  }

  tag_mask some_tag(input& in) {
    const auto which = in.get<std::uint8_t>();
    return which & 4 ? tag_mask(any_tag) : tag_mask(tag{which % 4u});
  }

  /// The application's accesses to the hostile peer's memory, and to its own.
  void access(input& in) {
    const auto what = in.get<std::uint8_t>();
    const std::size_t size = what & 64 ? in.get<std::uint16_t>() % 9000u : what % 8u;
    const remote_region there{1 + what % 3u, in.get<std::uint8_t>(), 9000};
    const detail::peer_name whom = what & 128 ? bystander_.get() : villain_.get();
    switch (what % 8) {
      case 0:
      case 1: {
        posted<transferring> t{std::make_unique<std::byte[]>(size), nullptr};
        detail::rma_request order{whom, detail::rma_kind::put, there};
        if (what & 1) {
          order.kind = detail::rma_kind::get;
          order.into = mutable_buffer(t.memory.get(), size);
        } else {
          order.data = const_buffer(t.memory.get(), size);
        }
        t.op = std::make_unique<transferring>(transfer_request{order});
        t.op->go();
        transfers_.push_back(std::move(t));
        return;
      }
      case 2: {
        posted<updating> u;
        detail::rma_request order{whom, detail::rma_kind::fetch_add, there};
        order.operand = 1;
        u.op = std::make_unique<updating>(update_request{order});
        u.op->go();
        updates_.push_back(std::move(u));
        return;
      }
      case 3: {
        posted<hearing> n;
        n.op = std::make_unique<hearing>(notified_request{&messages_, regions_[0].key});
        n.op->go();
        notified_.push_back(std::move(n));
        return;
      }
      case 4:
        if (!transfers_.empty()) transfers_[what / 8u % transfers_.size()].op->cancel();
        return;
      case 5:
        if (!updates_.empty()) updates_[what / 8u % updates_.size()].op->cancel();
        return;
      case 6:
        if (!notified_.empty()) notified_[what / 8u % notified_.size()].op->cancel();
        return;
      default:
        if (what / 8u % 8 == 0) return end_region(regions_[what & 1].key);
        return loans_.step(what / 8u % 8, in, what & 128 ? *bystander_ : *villain_);
    }
  }

  void end_region(std::uint64_t key) {
    regions_ended_.push_back(std::make_unique<ending>(region_end_request{&messages_, key}));
    regions_ended_.back()->go();
  }

  void step(input& in) {
    const auto action = in.get<std::uint8_t>();
    if (action >= 240) return access(in);
    if (action >= 228) return half_frame(in);
    switch (action % 12) {
      case 0:
      case 1:
      case 2:
      case 3:
        return frame(in);
      case 4: {
        const std::size_t size = in.get<std::uint16_t>() % 6000u;
        const auto who = in.get<std::uint8_t>() % 3;
        peer* const from = who == 2 ? nullptr : who == 1 ? bystander_.get() : villain_.get();
        posted<receiving> r{std::make_unique<std::byte[]>(size), nullptr};
        r.op = std::make_unique<receiving>(
            recv_request{&messages_, from, some_tag(in), mutable_buffer(r.memory.get(), size)});
        r.op->go();
        receives_.push_back(std::move(r));
        return;
      }
      case 5: {
        const std::size_t size = in.get<std::uint16_t>() % 20000u;
        const auto how = in.get<std::uint8_t>();
        posted<sending> s{std::make_unique<std::byte[]>(size), nullptr};
        s.op = std::make_unique<sending>(send_request{
            how & 1 ? bystander_.get() : villain_.get(), tag{1}, const_buffer(s.memory.get(), size),
            how & 2 ? detail::send_mode::synchronous : detail::send_mode::standard});
        s.op->go();
        sends_.push_back(std::move(s));
        return;
      }
      case 6: {
        posted<probing> p;
        p.op = std::make_unique<probing>(probe_request{
            &messages_, in.get<std::uint8_t>() & 1 ? villain_.get() : nullptr, some_tag(in)});
        p.op->go();
        probes_.push_back(std::move(p));
        return;
      }
      case 7: {
        const auto which = in.get<std::uint8_t>();
        if (which & 1 && !receives_.empty())
          receives_[which / 2u % receives_.size()].op->cancel();
        else if (!sends_.empty())
          sends_[which / 2u % sends_.size()].op->cancel();
        return;
      }
      case 8:
        mood_ = in.get<std::uint8_t>();
        return;
      case 9: {
        const engine::holder hold(turns_);
        villain_->on_writable();
        bystander_->on_writable();
        return;
      }
      case 10:
        return settle();
      default: {
        const auto what = in.get<std::uint8_t>();
        const engine::holder hold(turns_);
        if (what == 0) villain_->close();
        if (what == 1) villain_->give_up(errc::peer_lost, "gone");
        if (what >= 2 && lanes_.size() > 1)
          lanes_[what % lanes_.size()]->on_broken(errc::peer_lost);
        return;
      }
    }
  }

  std::uint8_t mood_ = 0;  // of the links
  engine turns_{progress_mode::polling, {}, "epoll"};
  tests::scripted_connector connector_;
  messenger messages_{turns_, {.unexpected_budget = budget, .eager_limit = 4096}};
  std::shared_ptr<peer> villain_ = messages_.peers().at(0), bystander_ = messages_.peers().at(1);
  std::vector<frame_sink*> lanes_;  // the hostile peer's frames arrive by these
  std::vector<scripted_link*> links_;
  std::uint64_t next_ordered_ = 0, next_fragment_ = 0;
  struct half {
    some_frame of;
    std::uint32_t already;
    bool placed;
    bool under_way;
  };
  std::array<half, 2> halves_{};
  std::vector<posted<receiving>> receives_;
  std::vector<posted<sending>> sends_;
  std::vector<posted<probing>> probes_;

  struct shown {
    std::vector<std::byte> memory;
    std::uint64_t key;
  };
  shown show(std::size_t size, rights permissions) {
    shown s{std::vector<std::byte>(size), 0};
    s.key = messages_.regions().add(s.memory, permissions);
    return s;
  }
  std::vector<posted<transferring>> transfers_;
  std::vector<posted<updating>> updates_;
  std::vector<posted<hearing>> notified_;
  std::vector<std::unique_ptr<ending>> regions_ended_;
  lender loans_{messages_, [this](const_buffer what) {
                  return std::any_of(links_.begin(), links_.end(),
                                     [&](const scripted_link* l) { return l->shows(what); });
                }};
  std::array<shown, 2> regions_{show(6000, rights::read_write), show(100, rights::write)};
};

}  // namespace weft::fuzz
