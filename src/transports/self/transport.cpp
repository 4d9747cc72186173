// SPDX-License-Identifier: Apache-2.0
#include "transports/self/transport.hpp"

#include <cstring>
#include <utility>

#include "transports/self/link.hpp"

namespace weft::transports::self {

namespace {
constexpr std::size_t most_frames = 256;
constexpr unsigned frames_per_pass = 64;
}  // namespace

const transports::traits& self_transport::traits() const noexcept {
  static constexpr transports::traits self{
      .name = "self", .max_payload = 16 * 1024, .fragment = 16 * 1024};
  return self;
}

std::string self_transport::reach(bool is_self) const {
  return is_self ? "" : "`self` reaches no other process";
}

std::unique_ptr<link> self_transport::open(frame_sink& from, const counterpart&, wireup_message&) {
  to_ = &from;
  return std::make_unique<self_link>(*this);
}

std::string self_transport::accept(frame_sink&, const counterpart&, wireup_message,
                                   wireup_message&) {
  return reach(false);  // only a hostile peer offers it
}

void self_transport::forget(frame_sink& from) noexcept {
  if (to_ != &from) return;
  to_ = nullptr;
  frames_.clear();
}

unsigned self_transport::poll() noexcept {
  unsigned events = 0;
  // Frames that the delivered ones cause wait for the next pass.
  for (std::size_t n = std::min<std::size_t>(frames_.size(), frames_per_pass); n != 0 && to_; --n) {
    const frame f = std::move(frames_.front());
    frames_.pop_front();
    ++events;
    if (!to_->on_frame(f.header, f.extended ? &f.extension : nullptr, f.payload.data()))
      to_->on_broken(errc::protocol_error);
  }
  // Also with an empty queue: a frame may have been refused for want of memory, which may be free
  // now.
  if (std::exchange(refused_, false) && to_) {
    ++events;
    to_->on_writable();
  }
  if (frames_.empty()) busy = refused_;
  worth_polling = busy || !frames_.empty();
  return events;
}

post self_link::send(const frame_header& header, const frame_extension* extension,
                     gather& data) noexcept {
  if (transport_.frames_.size() >= most_frames) {
    transport_.refused_ = true;
    return post::busy;
  }
  try {
    self_transport::frame f{header, extension != nullptr,
                            extension ? *extension : frame_extension{},
                            std::vector<std::byte>(header.size)};
    gather from = data;
    for (std::size_t done = 0; done != header.size;) {
      const const_buffer run = from.run(header.size - done);
      std::memcpy(f.payload.data() + done, run.data(), run.size());
      done += run.size();
      from.skip(run.size());
    }
    transport_.frames_.push_back(std::move(f));
    transport_.worth_polling = true;
    // The thread that makes passes sleeps or computes, and nothing else may be pending.
    services& engine = transport_.engine_;
    if (!engine.passes_anyway()) {
      transport_.busy = true;
      engine.look_after();
    }
    data = from;
    return post::done;
  } catch (const std::bad_alloc&) {
    // The queue may be empty, so that no delivery would make room: the next pass tries again.
    transport_.refused_ = transport_.busy = transport_.worth_polling = true;
    transport_.engine_.look_after();
    return post::busy;
  }
}

post self_link::get(scatter into, remote_address from, std::size_t size, std::uint64_t) noexcept {
  const auto* at = reinterpret_cast<const std::byte*>(from.offset);
  while (size != 0) {
    const mutable_buffer run = into.run(size);
    if (run.empty()) break;
    std::memmove(run.data(), at, run.size());
    at += run.size();
    size -= run.size();
    into.skip(run.size());
  }
  return post::done;
}

}  // namespace weft::transports::self
