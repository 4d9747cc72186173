// SPDX-License-Identifier: Apache-2.0
// Replaces src/collectives/collective.hpp: only what a call by flags needs of its group.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>

#include <weft/operations/flags.hpp>

#include "collectives/flags/flag_call.hpp"
#include "scheduler.hpp"

namespace weft::collectives {

class group_flags {
 public:
  static constexpr std::uint64_t calls_by_messages = 8;

  group_flags(runtime::flag_wait_service& waits, runtime::flag_segment& memory) noexcept
      : waits_(waits), memory_(memory), rounds_(memory.self(), memory.members()) {
    rounds_.use(memory);
  }

  /// Neighbours keep the core: a thread that has to wait sleeps at once.
  struct dear_yields {
    bool yield() const noexcept { return false; }
  };
  dear_yields yields() const noexcept { return {}; }

  flag_rounds& rounds() noexcept { return rounds_; }
  flag_request until(const flag_rounds::awaited& what) const noexcept {
    return {&waits_, &memory_, what.flags, what.value};
  }
  peer_id member(peer_id number) const noexcept { return number; }
  void enter(std::uint64_t, std::uint64_t) noexcept {}
  void make_at_first_rank() noexcept {}
  std::optional<bool> usable() noexcept { return true; }
  task<bool> settles() { co_return true; }

 private:
  runtime::flag_wait_service& waits_;
  runtime::flag_segment& memory_;
  flag_rounds rounds_;
};

class communicator {
 public:
  communicator(runtime::flag_wait_service& waits, runtime::flag_segment& memory) noexcept
      : flags_(waits, memory) {}

  struct crowded_engine {
    bool is_crowded() const noexcept { return true; }
  };
  crowded_engine engine() const noexcept { return {}; }
  group_flags* flags() noexcept { return &flags_; }
  group_shape shape() const noexcept { return {}; }
  std::uint64_t begun() const noexcept { return group_flags::calls_by_messages; }
  void waits() noexcept {}
  [[noreturn]] void disagree(peer_id, const proto::group_statement&) {
    throw interleave::broken("a flag has the words of another round");
  }

 private:
  group_flags flags_;
};

class collective {
 public:
  explicit collective(communicator& of) noexcept : of_(&of) {}

  communicator& of() const noexcept { return *of_; }
  std::uint64_t number() const noexcept { return 0; }
  void leave_background(std::size_t) const noexcept {}
  std::suspend_never end(const std::exception_ptr&) const noexcept { return {}; }

 private:
  communicator* of_;
};

class begin : public std::suspend_never {
 public:
  begin(const detail::communicator_ptr& of, const collective_call&, std::uint64_t, bool) noexcept
      : of_(*of) {}
  collective await_resume() const noexcept { return collective(of_); }

 private:
  communicator& of_;
};

}  // namespace weft::collectives
