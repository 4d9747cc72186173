// SPDX-License-Identifier: Apache-2.0
// Frames by qdma from a peer that writes arbitrary bytes into the receiver's queue and into its own
// stage, and tells the sending side arbitrary values. Every delivered payload lies in the queue or
// the stage, and after the first broken rule no more frames are delivered.
#include <vector>

#include "runtime/progress/engine.hpp"
#include "target.hpp"
#include "transports/qdma/transport.hpp"

namespace weft::fuzz {

namespace {

using namespace transports;
using namespace transports::qdma;

/// Checks all that is delivered.
class listener final : public frame_sink {
 public:
  bool broken = false;
  unsigned sum = 0;

  bool on_frame(const frame_header& h, const frame_extension* x,
                const std::byte* payload) noexcept override {
    check(!broken, "no frame after the end");
    check(h.size <= transports::qdma::max_payload, "a frame has its limit");
    check((x != nullptr) == ((h.flags & has_extension) != 0), "an extension comes when announced");
    for (std::size_t i = 0; i < h.size; ++i) sum += static_cast<unsigned>(payload[i]);
    return h.kind != 0;
  }
  void on_writable() noexcept override { check(!broken, "no room after the end"); }
  void on_broken(errc why) noexcept override {
    check(why == errc::protocol_error, "a broken rule is a protocol error");
    broken = true;
  }
};

/// Two contexts in one process: ours, and the lying one, which also has an honest half.
struct world {
  runtime::engine our_turns{progress_mode::polling, {}, "epoll"},
      their_turns{progress_mode::polling, {}, "epoll"};
  qdma_transport ours{our_turns}, theirs{their_turns};
  listener at_ours, at_theirs;
  std::unique_ptr<link> to_theirs = connect(ours, at_ours, theirs, at_theirs);
  std::unique_ptr<link> to_ours = connect(theirs, at_theirs, ours, at_ours);

  static std::unique_ptr<link> connect(qdma_transport& from, listener& in, qdma_transport& to,
                                       listener& there) {
    wireup_message offer, answer;
    std::unique_ptr<link> made = from.open(in, {}, offer);
    check(to.accept(there, {}, std::move(offer), answer).empty(), "a good offer is taken");
    check(made->opened(std::move(answer)).empty(), "a good answer is taken");
    return made;
  }

  void send(link& over, input& with) {
    static const std::vector<std::byte> all(transports::qdma::max_payload, std::byte{7});
    frame_header h = with.get<frame_header>();
    h.size %= transports::qdma::max_payload + 1;
    const const_buffer one(all.data(), h.size);
    gather data({&one, 1});
    const frame_extension x{};
    const bool extended = (h.flags & has_extension) != 0;
    const post taken =
        extended ? over.send(h, &x, data) : over.send_contiguous(h, nullptr, one.data());
    check(taken != post::posted, "a frame is taken at once or not");
  }

  /// A message that is no frame, or almost one.
  void post_bytes(input& with) {
    queue_memory& q = ours.segment().queue(0);
    queue_writer w(q, ours.segment().regions().progress_of(0),
                   with.get<std::uint8_t>() % 4 == 0 ? with.get<vpid>() : vpid_of(1, 0));
    const auto at = w.claim();
    if (!at) return;
    const auto size = with.get<std::uint16_t>() % (slot_bytes + 2);
    const auto bytes = with.bytes(with.get<std::uint8_t>());
    // A longer frame has its header in the first line, and its payload in the body.
    const auto head = bytes.first(std::min<std::size_t>(bytes.size(), head_bytes));
    if (!head.empty()) std::memcpy(w.first_line(*at), head.data(), head.size());
    if (size > head_bytes && !bytes.empty())
      std::memcpy(w.room(*at, size), bytes.data(), bytes.size());
    w.publish(*at, size);
  }

  void step(input& with) {
    switch (with.get<std::uint8_t>() % 7) {
      case 0:
      case 1:
        return post_bytes(with);
      case 2:
        return send(*to_ours, with);
      case 3:
        return at_ours.broken ? void() : send(*to_theirs, with);
      case 4: {
        auto& progress = theirs.segment().regions().stage_of(0).read;
        progress.store(with.get<std::uint8_t>() % 2 == 0
                           ? with.get<std::uint64_t>()
                           : progress.load() + 64u * with.get<std::uint8_t>());
        return;
      }
      case 5:
        ours.poll();
        return;
      default:
        ours.has_work();
        ours.wake_peer();
        theirs.poll();
    }
  }
};

}  // namespace

void run(input in) {
  world w;
  while (!in.empty()) w.step(in);
  w.to_theirs.reset();
  w.to_ours.reset();
  w.ours.forget(w.at_ours);
  w.theirs.forget(w.at_theirs);
}

}  // namespace weft::fuzz
