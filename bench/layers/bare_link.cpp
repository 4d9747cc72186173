// SPDX-License-Identifier: Apache-2.0
#include "layers/bare_link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

#include "runtime/os/small_copy.hpp"
#include "stage/plain_loop.hpp"
#include "support/spin.hpp"
#include "transports/qdma/factory.hpp"
#include "transports/shm/factory.hpp"
#include "wireup/sockets/unix_socket.hpp"

namespace weft::bench {

using transports::post;
using transports::wireup_message;

namespace {

void check(bool well, const std::string& why) {
  if (!well) throw std::runtime_error("a link of its own: " + why);
}

void hand_over(int line, const wireup_message& what) {
  const int error = wireup::send_packet(line, {}, what.bytes, what.fds);
  check(error == 0, std::strerror(error));
}

wireup_message take(int line) {
  std::vector<std::byte> room(wireup_message::max_bytes);
  wireup::packet got;
  wireup::arrival came{};
  spin_until([&] {
    came = wireup::receive_packet(line, room, got);
    return came != wireup::arrival::nothing;
  });
  check(came == wireup::arrival::packet, "the other process has gone");
  wireup_message result;
  result.bytes.assign(got.bytes.begin(), got.bytes.end());
  result.fds = std::move(got.fds);
  return result;
}

}  // namespace

bare_link::bare_link(const std::string& transport, progress_mode mode, int line)
    : engine_(mode, {}, "auto"),
      transport_(transport == "qdma" ? transports::qdma::make(engine_, copy_completion::direct)
                                     : transports::shm::make(engine_.own_doorbell(), "auto",
                                                             ring_read_policy::burst, &engine_)) {
  const transports::counterpart other{0, [](wireup_message) {}};
  wireup_message offer, answer;
  link_ = transport_->open(*this, other, offer);
  hand_over(line, offer);
  const std::string refusal = transport_->accept(*this, other, take(line), answer);
  check(refusal.empty(), refusal);
  hand_over(line, answer);
  const std::string trouble = link_->opened(take(line));
  check(trouble.empty(), trouble);
  engine_.add(*transport_->poll_hook());
  engine_.start();
  engine_.external().begin();
}

bare_link::~bare_link() {
  engine_.external().end();
  engine_.stop();
  link_.reset();
  transport_->forget(*this);
}

void bare_link::send(std::span<const std::byte> message) {
  const detail::run_loop::inside here(engine_);
  const runtime::engine::holder hold(engine_);
  transports::frame_header header;
  header.size = static_cast<std::uint32_t>(message.size());
  if (link_->send_contiguous(header, nullptr, message.data()) != post::done)
    throw std::runtime_error("a ring with room took no message");
}

std::size_t bare_link::receive(std::span<std::byte> into) {
  const detail::run_loop::inside here(engine_);
  {
    const runtime::engine::holder hold(engine_);
    awaited_.into = into;
    awaited_.over = false;
    engine_.pending(awaited_);
  }
  while (!awaited_.over) {
    const runtime::engine::holder hold(engine_);
    engine_.external().poll(passes_in_turn);
  }
  if (awaited_.status != errc::ok) throw error(awaited_.status, "the other process has gone");
  return awaited_.size;
}

bool bare_link::on_frame(const transports::frame_header& header, const transports::frame_extension*,
                         const std::byte* payload) noexcept {
  awaited_.size = header.size;
  const std::size_t fits = std::min(awaited_.size, awaited_.into.size());
  // As the protocol layer does it.
  if (fits <= 64)
    runtime::small_copy(awaited_.into.data(), payload, fits);
  else
    std::memcpy(awaited_.into.data(), payload, fits);
  engine_.end_at_home(awaited_);
  return true;
}

}  // namespace weft::bench
