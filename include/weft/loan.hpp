// SPDX-License-Identifier: Apache-2.0
// Loans: messages between processes of one host that are never copied.
//
//     loan<float> frame = ctx.make_loan<float>(640 * 480);  // in a pool that peers can read
//     fill(frame.span());
//     co_await peer.send_loan(tag{1}, std::move(frame));  // ends when it is handed over
//
//     lent<float> seen = co_await peer.recv_loan<float>(tag{1});  // in place, read-only
//     use(seen.span());  // the end of `seen` gives the memory back
//
// One loan goes to any number of receivers: `shared_loan` sends it to each, and they all read the
// same memory.
//
// A loan is an ordinary message: tags, order, wildcards, stops, deadlines and errors are those of
// endpoint::send and recv, a plain `recv` of a loan copies it, and a `recv_loan` of any other
// message copies that. Where the receiver cannot read the pool (over TCP, from itself, or before
// the kernel has passed the pool's memory to it) both calls work, and the message is copied once
// into memory of the receiver's own.
//
// What a reader may assume. The bytes are memory of the sender. The sender has no handle to them
// any more, and does not change them as long as the view lives and the connection lasts, or once
// its process has ended. The mapping stays valid until the view ends, whatever happens to the
// sender. Two things are not certain:
//   * A hostile sender can change the bytes while they are read: read each one once, or copy those
//     that are checked. It cannot make a read fail.
//   * If this side or the sender closes or aborts their connection while the view lives, and the
//     sender's process goes on, the sender's pool may use the memory for another loan. End views
//     before that.
//
// Every peer on this host to which a loan was sent can read the whole pool: loans are for processes
// that may see each other's messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include <weft/context.hpp>
#include <weft/endpoint.hpp>
#include <weft/operations/loans.hpp>

namespace weft {
namespace detail {

template <class T>
constexpr void require_loan() noexcept {
  static_assert(std::is_same_v<T, std::remove_cvref_t<T>>,
                "the elements of a loan are neither const nor references");
  static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>,
                "a loan has elements of a trivially copyable type: its bytes are what is sent");
  static_assert(alignof(T) <= loan_alignment, "a loan is aligned to 64 bytes");
}

/// What is behind a loan, which has none afterwards.
template <class T>
loan_memory memory_of(loan<T>&& of) noexcept {
  return of.take();
}

}  // namespace detail

/// Memory for one message, in its context's loan pool. Filled in place, then sent by
/// endpoint::send_loan; a loan that is not sent goes back to the pool at its end. Move-only, used
/// by one thread at a time, ended on any thread; must not outlive its context, nor end while the
/// thread holds the progress lock of an external loop.
/// \tparam T trivially copyable, no pointer, aligned to 64 bytes at most
template <class T>
class loan {
 public:
  loan() = default;  ///< has no memory: a send of it ends with errc::invalid_argument
  explicit loan(detail::loan_memory memory) noexcept : memory_(std::move(memory)) {
    detail::require_loan<T>();
  }

  /// The elements. At first they have the bytes of an earlier loan, or zeros.
  std::span<T> span() const noexcept { return {data(), size()}; }
  T* data() const noexcept { return reinterpret_cast<T*>(memory_.bytes().data()); }
  std::size_t size() const noexcept { return memory_.bytes().size() / sizeof(T); }
  T* begin() const noexcept { return data(); }
  T* end() const noexcept { return data() + size(); }
  T& operator[](std::size_t i) const noexcept { return data()[i]; }

  /// Makes the message shorter. \param count elements, at most size()
  void shorten(std::size_t count) noexcept { memory_.shorten(count * sizeof(T)); }

  /// Whether it has memory: not after it was sent, or moved from.
  explicit operator bool() const noexcept { return memory_.block() != nullptr; }

 private:
  friend class endpoint;
  template <class U>
  friend class shared_loan;
  friend detail::loan_memory detail::memory_of<T>(loan<T>&& of) noexcept;
  detail::loan_memory take() noexcept { return std::move(memory_); }

  detail::loan_memory memory_;
};

/// A loan that is filled, for several receivers: each gets it by a send of its own, and all read
/// the one memory. It goes back to the pool when the last copy of this object and the last view
/// have ended; a receiver that dies ends its views.
///
///     shared_loan<float> frame(std::move(filled));
///     for (const endpoint& viewer : viewers) co_await viewer.send_loan(tag{1}, frame);
///
/// A handle: copies name the same memory. Each is used by one thread at a time, and made, assigned
/// and ended on any thread that does not hold the progress lock of an external loop; must not
/// outlive its context. \tparam T as of loan
template <class T>
class shared_loan {
 public:
  shared_loan() = default;  ///< has no memory: a send of it ends with errc::invalid_argument
  /// \param filled nothing is written to it any more
  explicit shared_loan(loan<T> filled) noexcept : memory_(filled.take()) {}
  shared_loan(const shared_loan& other) noexcept : memory_(other.memory_.share()) {}
  shared_loan(shared_loan&&) noexcept = default;
  shared_loan& operator=(shared_loan other) noexcept {
    memory_ = std::move(other.memory_);
    return *this;
  }
  ~shared_loan() = default;

  std::span<const T> span() const noexcept { return {data(), size()}; }
  const T* data() const noexcept { return reinterpret_cast<const T*>(memory_.bytes().data()); }
  std::size_t size() const noexcept { return memory_.bytes().size() / sizeof(T); }
  explicit operator bool() const noexcept { return memory_.block() != nullptr; }

 private:
  friend class endpoint;
  detail::loan_memory memory_;
};

/// A received message, read where it lies. Its end gives the memory back to the sender: on any
/// thread that does not hold the progress lock of an external loop, also after the sender has died
/// and after the end of this context. Move-only; the elements are constant, and one thread at a
/// time moves or ends the object. In a child made by fork() it must not be used, and its end does
/// nothing.
/// \tparam T as of loan
template <class T>
class lent {
 public:
  lent() = default;
  lent(detail::lent_memory memory, const received& about) noexcept
      : memory_(std::move(memory)), about_(about) {
    detail::require_loan<T>();
  }

  /// Valid until this object ends. What of it may change meanwhile: see above.
  std::span<const T> span() const noexcept { return {data(), size()}; }
  const T* data() const noexcept { return reinterpret_cast<const T*>(memory_.bytes().data()); }
  std::size_t size() const noexcept { return memory_.bytes().size() / sizeof(T); }
  bool empty() const noexcept { return size() == 0; }
  const T* begin() const noexcept { return data(); }
  const T* end() const noexcept { return data() + size(); }
  const T& operator[](std::size_t i) const noexcept { return data()[i]; }

  /// Source, tag, bytes and immediate word of the message.
  const received& about() const noexcept { return about_; }
  peer_id source() const noexcept { return about_.source; }
  weft::tag tag() const noexcept { return about_.tag; }

  /// Whether the bytes are the sender's memory; false: they were copied, and no
  /// other process can change them.
  bool in_place() const noexcept { return memory_.in_place(); }

 private:
  detail::lent_memory memory_;
  received about_;
};

/// Memory for a message of `count` elements, out of the context's loan pool (of this lane). Any
/// thread. Allocates nothing once the pool has had a block of that size.
/// \tparam T as of loan
/// \param count any number that fits into options::loan_budget
/// \throws weft::error  out_of_memory: the loans that are held, under way or lent leave no room
///         (the text says how much there is); system: the kernel gives no memory
template <class T>
loan<T> context::make_loan(std::size_t count) {
  detail::require_loan<T>();
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  return loan<T>(detail::take_loan(*this, count > most / sizeof(T) ? most : count * sizeof(T)));
}

/// Sends a loan. Ends when the message is on its way: it has its place in the order of messages,
/// and the loan is weft's. It does not wait for the receiver, which decides when the memory goes
/// back to the pool: when its view ends, at once if it copies, or if it is lost. So a later failure
/// of this message is not reported, as with a small message. At most 65,535 messages to a peer wait
/// for its answer; a further one waits until one of these has ended.
/// \param t    the tag
/// \param what its memory; of this endpoint's lane. It goes back to the pool if the send fails or
/// is
///        stopped
/// \param immediate as of `send`
/// The request ends with the errors of the class, and with errc::invalid_argument for a loan
/// without memory or of another context or lane.
template <class T>
loan_send_request endpoint::send_loan(tag t, loan<T> what, std::uint64_t immediate) const {
  return {name(t), t, immediate, what.take()};
}

/// The same of a loan that others get, too.
template <class T>
loan_send_request endpoint::send_loan(tag t, const shared_loan<T>& what,
                                      std::uint64_t immediate) const {
  return {name(t), t, immediate, what.memory_.share()};
}

/// Receives a message in place, if it is a loan that this process can read, else into memory that
/// it makes.
/// \tparam T what the sender sends, or a type of the same bytes
/// \param t     a tag, `any_tag`, or a value with a mask
/// \param limit the longest message that is taken
/// \return when awaited, a lent<T>. Ends with the errors of the class, and with protocol_error for
///         a message that is no whole number of elements, truncated for one beyond the limit, and
///         out_of_memory if there is none to copy it to; then the message is lost
template <class T>
lent_recv_request<T> endpoint::recv_loan(tag_mask t, at_most limit) const {
  detail::require_loan<T>();
  return {recv(mutable_buffer{}, t), limit};
}

/// The same from any source.
template <class T>
lent_recv_request<T> context::recv_loan(tag_mask t, at_most limit) {
  detail::require_loan<T>();
  return {recv(mutable_buffer{}, t), limit};
}

}  // namespace weft
