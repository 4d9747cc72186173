// SPDX-License-Identifier: Apache-2.0
#include "transports/qdma/pair.hpp"

#include <fmt/format.h>

#include <cstring>

#include "transports/qdma/transport.hpp"

namespace weft::transports::qdma {

namespace {
constexpr std::size_t card_fds_of_answer = 4;  // shared segment, region directory, arena, listener
}

std::unique_ptr<queue_link> pair::open(wireup_message& offer) {
  unique_fd file = runtime::make_memory_file("weft-qdma-stage", stage_bytes);
  auto link = std::make_unique<queue_link>(*this, runtime::map_own(file, stage_bytes));
  runtime::seal_for_readers(file);
  const offer_body body{offer_magic, card_version, owner_.fences_for_itself() ? 1u : 0u, 0};
  offer.bytes.resize(sizeof body);
  std::memcpy(offer.bytes.data(), &body, sizeof body);
  offer.fds.push_back(std::move(file));
  owner_.add_listener(offer);
  link_ = link.get();
  return link;
}

/// Takes the peer's doorbell from a wire-up message, unless the other direction brought it already.
void pair::learn_doorbell(const wireup_message& p) {
  if (doorbell_) return;
  doorbell_ = std::make_shared<runtime::remote_doorbell>(p.fds.back(), owner_.rings_peers());
  if (owner_.fences_for_itself()) doorbell_->fence_always();
}

std::string pair::accept(wireup_message offer, wireup_message& answer) {
  offer_body body{};
  if (offer.bytes.size() == sizeof body) std::memcpy(&body, offer.bytes.data(), sizeof body);
  if (body.magic != offer_magic || body.version != card_version || offer.fds.size() != 2)
    return "the offer is not of this version";
  if (sender_ != 0) return "frames come from that peer already";
  try {
    learn_doorbell(offer);
    if (body.fences_for_itself != 0) doorbell_->fence_always();
    stage_ = runtime::map_from_peer(offer.fds[0], stage_bytes, false);
    const vpid given = owner_.admit(*this, who_.pid);
    try {
      owner_.segment().add_card(answer, given, owner_.fences_for_itself());
      owner_.add_listener(answer);
    } catch (...) {
      owner_.dismiss(given);
      throw;
    }
    sender_ = given;
  } catch (const error& e) {
    return e.what();
  }
  return {};
}

std::string pair::take_answer(wireup_message answer) {
  try {
    const device_address_body body = body_of_card(answer, card_fds_of_answer);
    if (body.who == 0) return "the peer's card names nobody";
    learn_doorbell(answer);
    there_.emplace(body.who, body, answer.fds, doorbell_, who_.pid);
  } catch (const error& e) {
    return e.what();
  }
  return {};
}

bool pair::deliver(const queue_reader::view& message) noexcept {
  frame_header header;
  const std::size_t size = message.bytes.size();
  if (size < sizeof header) return false;
  std::memcpy(&header, message.first_line, sizeof header);
  // The sender could change it during the check: use the copy, which it cannot change.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const std::size_t before = sizeof header + extension_size(header);
  static_assert(sizeof header + sizeof(frame_extension) <= head_bytes);
  const std::byte* const payload = message.bytes.data() + (size <= head_bytes ? before : 0);
  if (before == sizeof header && size == before + header.size) [[likely]]
    return frame_sink_.on_frame(header, nullptr, payload);
  if (size < before) return false;
  frame_extension x;
  std::memcpy(&x, message.first_line + sizeof header, extension_size(header));
  const frame_extension* const extension = extension_of(header, x);
  if (size == before + header.size) return frame_sink_.on_frame(header, extension, payload);
  if (size != before || header.size > max_payload) return false;
  const stage_place place = stage_place::after(read_, header.size);
  read_ = place.end;
  const auto* const stage = static_cast<const std::byte*>(stage_.get());
  return frame_sink_.on_frame(header, extension, stage + place.begin % stage_bytes);
}

void pair::publish() noexcept {
  published_ = read_;
  owner_.segment()
      .regions()
      .stage_of(index_of(sender_))
      .read.store(read_, std::memory_order_release);
}

void pair::lose_outgoing() noexcept {
  link_ = nullptr;
  there_.reset();
}

void pair::lose_incoming() noexcept {
  sender_ = 0;
  stage_ = {};
}

std::string pair::describe() const {
  if (!there_) return "nothing was sent yet";
  return fmt::format("cma {}", there_->no_cma().empty() ? "works" : "off: " + there_->no_cma());
}

}  // namespace weft::transports::qdma
