// SPDX-License-Identifier: Apache-2.0
// Static probes (USDT) for bpftrace, perf and gdb, of the provider `weft`.
#pragma once

#ifdef WEFT_HAVE_PROBES
#include <sys/sdt.h>
#endif

#include <cstdint>

/// Each is one `nop` where nothing is attached to it, and a note in the program's file that says
/// where it is, and where its arguments are: no argument is computed for it. Without systemtap's
/// header they are nothing. docs/operating.md lists them, share/probes uses them.
namespace weft::runtime::probe {

/// The first argument of those about messages.
enum class way : int { send = 0, receive = 1 };

/// An operation begins. \param op its address; null: a short message, which ends at once
[[gnu::always_inline]] inline void post([[maybe_unused]] way w, [[maybe_unused]] std::uint32_t peer,
                                        [[maybe_unused]] std::uint64_t tag,
                                        [[maybe_unused]] std::uint64_t bytes,
                                        [[maybe_unused]] const void* op) noexcept {
#ifdef WEFT_HAVE_PROBES
  DTRACE_PROBE5(weft, post, static_cast<int>(w), peer, tag, bytes, op);
#endif
}

/// A message has met its receive. \param op the receive
[[gnu::always_inline]] inline void match([[maybe_unused]] std::uint32_t peer,
                                         [[maybe_unused]] std::uint64_t tag,
                                         [[maybe_unused]] std::uint64_t bytes,
                                         [[maybe_unused]] const void* op) noexcept {
#ifdef WEFT_HAVE_PROBES
  DTRACE_PROBE4(weft, match, peer, tag, bytes, op);
#endif
}

/// All of a message has left, or is in its receive. \param op as post has it
[[gnu::always_inline]] inline void complete([[maybe_unused]] way w,
                                            [[maybe_unused]] std::uint32_t peer,
                                            [[maybe_unused]] std::uint64_t tag,
                                            [[maybe_unused]] std::uint64_t bytes,
                                            [[maybe_unused]] const void* op) noexcept {
#ifdef WEFT_HAVE_PROBES
  DTRACE_PROBE5(weft, complete, static_cast<int>(w), peer, tag, bytes, op);
#endif
}

/// This thread goes to sleep in a wait set, or has been woken there.
[[gnu::always_inline]] inline void sleep() noexcept {
#ifdef WEFT_HAVE_PROBES
  DTRACE_PROBE(weft, sleep);
#endif
}
/// \param events that woke it; 0: a deadline
[[gnu::always_inline]] inline void wake([[maybe_unused]] std::uint64_t events) noexcept {
#ifdef WEFT_HAVE_PROBES
  DTRACE_PROBE1(weft, wake, events);
#endif
}

/// A peer is lost. \param why an errc
[[gnu::always_inline]] inline void loss([[maybe_unused]] std::uint32_t peer,
                                        [[maybe_unused]] int why) noexcept {
#ifdef WEFT_HAVE_PROBES
  DTRACE_PROBE2(weft, loss, peer, why);
#endif
}

}  // namespace weft::runtime::probe
