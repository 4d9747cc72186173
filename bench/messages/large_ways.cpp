// SPDX-License-Identifier: Apache-2.0
#include "messages/large_ways.hpp"

#include <span>
#include <stdexcept>
#include <tuple>
#include <weft/value.hpp>

#include "stage/stage.hpp"

namespace weft::bench::large_command {
namespace {

using parts = std::tuple<std::uint64_t, bytes>;

am number_of(way by) { return {static_cast<std::uint32_t>(by)}; }

void check(std::uint64_t size, std::uint64_t wanted) {
  if (size != wanted) throw std::runtime_error("another number of bytes came");
}

}  // namespace

task<void> ask_once(const endpoint& peer, way by, const bytes& out, std::size_t size,
                    std::uint64_t n) {
  const am to = number_of(by);
  const std::span<const std::byte> whole(out);
  std::uint64_t got = 0;
  switch (by) {
    case message:
    case value_kept:
    case value_made:
      co_await peer.send(whole, data_tag);
      co_await peer.recv(mutable_buffer{}, ack_tag);
      break;
    case value_of_parts: {
      const std::tuple<std::uint64_t, std::span<const std::byte>> both(n, whole);
      co_await peer.send_value(data_tag, both);
      co_await peer.recv(mutable_buffer{}, ack_tag);
      break;
    }
    case call_bytes:
      got = co_await peer.call(to, whole, mutable_buffer{});
      check(got, 0);
      break;
    case call_to_vector:
      got = co_await peer.call<std::uint64_t>(to, whole);
      check(got, size);
      break;
    case call_to_span:
    case call_of_vector:
    case call_to_kept:
      got = co_await peer.call<std::uint64_t>(to, n, whole);
      check(got, size + n);
      break;
    case result_made: {
      const bytes made = co_await peer.call<bytes>(to, n);
      check(made.size(), size);
      break;
    }
    case result_of_parts: {
      const parts made = co_await peer.call<parts>(to, n);
      check(std::get<1>(made).size(), size);
      break;
    }
    case way_count:
      break;
  }
}

task<void> take_once(const endpoint& peer, way by, bytes& in, std::size_t size) {
  if (by == message) co_await peer.recv(in, data_tag);
  if (by == value_kept) co_await peer.recv_value(data_tag, in);
  if (by == value_made) {
    const auto made = co_await peer.recv_value<bytes>(data_tag);
    check(made.size(), size);
  }
  if (by == value_of_parts) {
    const auto made = co_await peer.recv_value<parts>(data_tag);
    check(std::get<1>(made).size(), size);
  }
  co_await peer.send(const_buffer{}, ack_tag);
}

std::vector<handler> handlers(context& ctx, shared& of) {
  using whole = std::span<const std::byte>;
  std::vector<handler> all;
  all.push_back(ctx.on(number_of(call_bytes), [&of](call c) -> task<void> {
    co_await c.recv(*of.kept);
    co_await c.reply(const_buffer{});
  }));
  all.push_back(ctx.on<std::uint64_t(std::uint64_t, whole)>(
      number_of(call_to_span), [](std::uint64_t n, whole b) { return n + b.size(); }));
  all.push_back(ctx.on<std::uint64_t(const bytes&)>(number_of(call_to_vector),
                                                    [](const bytes& b) { return b.size(); }));
  all.push_back(ctx.on<std::uint64_t(std::uint64_t, const bytes&)>(
      number_of(call_of_vector), [](std::uint64_t n, const bytes& b) { return n + b.size(); }));
  all.push_back(ctx.on<std::uint64_t(std::uint64_t, const bytes&)>(
      number_of(call_to_kept), [](std::uint64_t n, const bytes& b) { return n + b.size(); },
      {.keeps_memory = true}));
  all.push_back(ctx.on<whole(std::uint64_t)>(number_of(result_made),
                                             [&of](std::uint64_t) { return whole(*of.kept); }));
  all.push_back(ctx.on<std::tuple<std::uint64_t, whole>(std::uint64_t)>(
      number_of(result_of_parts),
      [&of](std::uint64_t n) { return std::tuple(n, whole(*of.kept)); }));
  return all;
}

}  // namespace weft::bench::large_command
