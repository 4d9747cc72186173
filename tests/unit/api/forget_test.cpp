// SPDX-License-Identifier: Apache-2.0
// Memory that is reused for something else: all transports are told.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <weft/context.hpp>
#include <weft/memory.hpp>
#include <weft/transport/transport.hpp>

#include "api/core/core.hpp"
#include "support/catch.hpp"

namespace transports = weft::transports;
using transports::counterpart;
using transports::frame_sink;
using transports::wireup_message;

namespace {

using range = std::pair<const std::byte*, std::size_t>;

/// Reaches no peer, and records the memory that it is told to forget.
class forgetful final : public transports::transport {
 public:
  explicit forgetful(std::vector<range>& told) noexcept : told_(told) {}

  const transports::traits& traits() const noexcept override {
    static constexpr transports::traits t{.name = "forgetful", .max_payload = 64, .fragment = 64};
    return t;
  }
  std::string reach(bool) const override { return "it is for a test"; }
  std::unique_ptr<transports::link> open(frame_sink&, const counterpart&,
                                         wireup_message&) override {
    return nullptr;
  }
  std::string accept(frame_sink&, const counterpart&, wireup_message, wireup_message&) override {
    return reach(true);
  }
  void forget(frame_sink&) noexcept override {}
  void invalidate_registrations(std::span<const std::byte> memory) noexcept override {
    told_.emplace_back(memory.data(), memory.size());
  }
  void add_to(weft::metrics& m) const noexcept override { m.registered_bytes += 7; }
  std::string describe() const override { return "forgetful"; }
  std::string describe(const frame_sink&) const override { return describe(); }
  weft::pollable* poll_hook() noexcept override { return nullptr; }

 private:
  std::vector<range>& told_;
};

}  // namespace

TEST_CASE("forget: every transport is told, by the application and by weft's own allocator") {
  std::vector<range> told;
  weft::options o;
  o.transports = {"self", "shm", "forgetful"};
  o.transport_factories = {
      {"forgetful", [&told](auto&, auto&, auto&) { return std::make_unique<forgetful>(told); }}};
  weft::context ctx(std::move(o));
  const std::vector<std::byte> memory(1000);
  ctx.invalidate_registrations(memory);
  CHECK(told == std::vector<range>{{memory.data(), 1000}});

  range shared;
  {
    weft::shared_memory mine(ctx, 100'000);
    shared = {mine.bytes().data(), mine.bytes().size()};
  }
  REQUIRE(told.size() == 2);
  CHECK(told[1] == shared);
  CHECK(ctx.snapshot().registered_bytes == 7);
}
