// SPDX-License-Identifier: Apache-2.0
// Any sequence of frames from one peer, between any calls of the application: every operation ends
// exactly once, buffers are left alone afterwards (AddressSanitizer sees to that), memory stays
// within the budget, and the peer beside it keeps what is its own.
#include <memory>
#include <string>
#include <vector>

#include "proto/messenger.hpp"
#include "target.hpp"

namespace weft::fuzz {

namespace {

using namespace transports;
using namespace proto;
using runtime::engine;

constexpr std::size_t budget = 1u << 20;

/// Takes what is sent, or not, as the input says.
class scripted_link final : public link {
 public:
  explicit scripted_link(const std::uint8_t& mood) noexcept : link(kind()), mood_(mood) {}
  std::string opened(parcel) override { return {}; }
  post send(const frame_header& h, const frame_extension*, gather& data) noexcept override {
    check(h.size <= traits().max_payload, "a frame has its limit");
    if (mood_ & 1) return post::busy;
    if (mood_ & 2) return post::failed;
    for (std::size_t left = h.size; left != 0;) {
      const const_buffer run = data.run(left);
      check(!run.empty(), "a frame's bytes are there");
      sum_ += static_cast<unsigned>(run.front()) + static_cast<unsigned>(run.back());
      left -= run.size();
      data.skip(run.size());
    }
    return post::done;
  }
  post get(scatter into, remote_address, std::size_t size) noexcept override {
    if (mood_ & 4) return post::failed;
    for (std::size_t left = size; left != 0;) {
      const mutable_buffer run = into.run(left);
      check(!run.empty(), "there is room for what is read");
      std::memset(run.data(), 9, run.size());
      left -= run.size();
      into.skip(run.size());
    }
    return post::done;
  }
  bool prefers_get(remote_address, std::size_t) const noexcept override { return mood_ & 8; }
  std::optional<remote_address> expose(const_buffer) noexcept override {
    return remote_address{1, 64};
  }
  bool unseen() const noexcept override { return false; }
  void nudge() noexcept override {}

 private:
  static const transports::traits& kind() noexcept {
    static constexpr transports::traits t{.name = "scripted", .max_payload = 1024, .fragment = 512};
    return t;
  }
  const std::uint8_t& mood_;
  unsigned sum_ = 0;
};

template <class Op>
class counted final : public Op {
 public:
  template <class Request>
  explicit counted(const Request& r) : Op(r, &end) {}
  void go() {
    if (this->start()) ++ends;
  }
  int ends = 0;

 private:
  static void end(operation& op) noexcept {
    check(++static_cast<counted&>(op).ends == 1, "an operation ends once");
  }
};
using receiving = counted<detail::recv_operation>;
using sending = counted<detail::send_operation>;
using probing = counted<detail::probe_operation>;

/// An operation and its memory, freed as soon as it has ended, so that a late touch is seen.
template <class Op>
struct posted {
  std::unique_ptr<std::byte[]> memory;
  std::unique_ptr<Op> op;
};

struct stage {
  std::uint8_t mood = 0;
  engine turns{progress_mode::polling, {}, "epoll"};
  messenger messages{turns, {budget, 4096}};
  std::shared_ptr<peer> villain = messages.peer_of(0), bystander = messages.peer_of(1);
  std::vector<posted<receiving>> receives;
  std::vector<posted<sending>> sends;
  std::vector<posted<probing>> probes;
  std::vector<std::byte> payload = std::vector<std::byte>(4096, std::byte{3});

  stage() {
    messages.connector = [](peer&) {};
    turns.add(messages);
    const engine::holder hold(turns);
    for (peer* p : {villain.get(), bystander.get()})
      p->opened(std::make_unique<scripted_link>(mood), p->grant_first_credit());
  }

  ~stage() {
    mood = 0;
    {
      const engine::holder hold(turns);
      check(!bystander->gone(), "the bystander is as it was");
      villain->fail(errc::peer_lost, "gone");
    }
    receive_what_arrived();
    {
      const engine::holder hold(turns);
      messages.close_all();
    }
    settle();
    check(receives.empty() && sends.empty() && probes.empty(), "every operation has ended");
    const engine::holder hold(turns);
    check(messages.messages().in_use() == 0, "no message is left");
    check(messages.counts().unexpected_bytes_now == 0, "no memory of messages is left");
    check(messages.counts().unexpected_bytes_peak <= budget + 1024, "the budget was kept");
    check(turns.outstanding() == 0, "nothing is outstanding");
    const std::uint32_t all = messages.take_budget(~0u);
    check(all == budget / credit_unit, "the whole budget has come back");
    messages.return_budget(all);
    messages.forget_peers();
    villain->drop_link();
    bystander->drop_link();
  }

  /// What had arrived whole can still be received.
  void receive_what_arrived() {
    while (messages.try_probe(nullptr, any_tag)) {
      receiving r(detail::recv_request{&messages, nullptr, any_tag, mutable_buffer{}});
      r.go();
      check(r.ends == 1, "a message that is left is whole");
    }
  }

  void settle() {
    for (int i = 0; i < 1000 && turns.poll_once() != 0; ++i) {
    }
    const auto over = [](const auto& p) { return p.op->ends != 0; };
    std::erase_if(receives, over);
    std::erase_if(sends, over);
    std::erase_if(probes, over);
  }

  void frame(input& in) {
    // As on every transport: an extension where the flag says so, and as many bytes as the size.
    frame_header h{in.get<std::uint8_t>() % 4u, in.get<std::uint16_t>(), in.get<std::uint8_t>(),
                   in.get<std::uint8_t>(), in.get<std::uint8_t>()};
    if (h.kind >= 128) h.kind %= 12;
    h.size %= h.flags & 4 ? 4097 : 64;
    frame_extension x;
    if (h.flags & has_extension) {
      // Sizes, offsets and numbers that have a chance of being right, or anything at all.
      const auto form = in.get<std::uint8_t>();
      if (form & 1) {
        x = in.get<frame_extension>();
      } else {
        x.a = in.get<std::uint16_t>() >> (form & 2 ? 8 : 0);
        if (form & 4) x.a |= std::uint64_t{in.get<std::uint8_t>()} << 48;
        x.b = in.get<std::uint16_t>() >> (form & 8 ? 8 : 0);
      }
    }
    const engine::holder hold(turns);
    const std::unique_ptr<std::byte[]> bytes(new std::byte[h.size]());  // for AddressSanitizer
    if (!villain->on_frame(h, h.flags & has_extension ? &x : nullptr, bytes.get()))
      villain->on_broken(errc::protocol_error);
  }

  tag_mask some_tag(input& in) {
    const auto which = in.get<std::uint8_t>();
    return which & 4 ? tag_mask(any_tag) : tag_mask(tag{which % 4u});
  }

  void step(input& in) {
    switch (in.get<std::uint8_t>() % 12) {
      case 0:
      case 1:
      case 2:
      case 3:
        return frame(in);
      case 4: {
        const std::size_t size = in.get<std::uint16_t>() % 6000u;
        const auto who = in.get<std::uint8_t>() % 3;
        peer* const from = who == 2 ? nullptr : who == 1 ? bystander.get() : villain.get();
        posted<receiving> r{std::make_unique<std::byte[]>(size), nullptr};
        r.op = std::make_unique<receiving>(detail::recv_request{
            &messages, from, some_tag(in), mutable_buffer(r.memory.get(), size)});
        r.op->go();
        receives.push_back(std::move(r));
        return;
      }
      case 5: {
        const std::size_t size = in.get<std::uint16_t>() % 20000u;
        const auto how = in.get<std::uint8_t>();
        posted<sending> s{std::make_unique<std::byte[]>(size), nullptr};
        s.op = std::make_unique<sending>(detail::send_request{
            how & 1 ? bystander.get() : villain.get(), tag{1}, const_buffer(s.memory.get(), size),
            how & 2 ? detail::send_mode::synchronous : detail::send_mode::standard});
        s.op->go();
        sends.push_back(std::move(s));
        return;
      }
      case 6: {
        posted<probing> p;
        p.op = std::make_unique<probing>(detail::probe_request{
            &messages, in.get<std::uint8_t>() & 1 ? villain.get() : nullptr, some_tag(in)});
        p.op->go();
        probes.push_back(std::move(p));
        return;
      }
      case 7: {
        const auto which = in.get<std::uint8_t>();
        if (which & 1 && !receives.empty())
          receives[which / 2u % receives.size()].op->cancel();
        else if (!sends.empty())
          sends[which / 2u % sends.size()].op->cancel();
        return;
      }
      case 8:
        mood = in.get<std::uint8_t>();
        return;
      case 9: {
        const engine::holder hold(turns);
        villain->on_room();
        bystander->on_room();
        return;
      }
      case 10:
        return settle();
      default: {
        const auto what = in.get<std::uint8_t>();
        const engine::holder hold(turns);
        if (what == 0) villain->close();
        if (what == 1) villain->fail(errc::peer_lost, "gone");
        return;
      }
    }
  }
};

}  // namespace

void run(input in) {
  stage s;
  while (!in.empty()) s.step(in);
}

}  // namespace weft::fuzz
