// SPDX-License-Identifier: Apache-2.0
// What weft's own layers know of a call in flight; weft/operations/calls.hpp has what users know of
// it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <weft/coro/detail/timer.hpp>
#include <weft/detail/call_signature.hpp>
#include <weft/operations/messages.hpp>

namespace weft {

/// The number of a handler (GASNet's and UCX's active message id).
struct am {
  std::uint32_t number = 0;
  friend bool operator==(am, am) = default;
};

/// The numbers from this one on are weft's own (topics): context::on refuses them.
inline constexpr std::uint32_t first_reserved_am = 0xffff'ff00;

}  // namespace weft

namespace weft::proto {
class call_table;
class served_call;
class value_stream;
struct calls_of_peer;
}  // namespace weft::proto

namespace weft::detail {

/// The tag of a call that goes one way, and its word.
tag post_tag(am number) noexcept;
std::uint64_t post_word(const call_signature& types) noexcept;

/// A call that waits for its reply. The members are touched with the progress lock held, until its
/// end.
class call_operation : public operation {
 public:
  /// Where a reply goes. Not ok: the caller's type cannot take so many bytes.
  struct room {
    buffer_list<mutable_buffer> into = mutable_buffer();
    errc status = errc::ok;
  };

  /// \param types of the call; null: it has bytes. Lives until the end
  call_operation(peer_name to, am number, complete_fn f,
                 const call_signature* types = nullptr) noexcept
      : operation(f), to_(to), number_(number), types_(types) {}

  bool start() noexcept;
  bool start_held() noexcept;  ///< the progress lock is held
  void cancel() noexcept;
  std::string explain() const;
  void heed_deadline(const task_environment& of) noexcept { deadline_ = of.deadline; }
  const peer_name& to() const noexcept { return to_; }
  am handler() const noexcept { return number_; }

 protected:
  ~call_operation() = default;
  std::size_t reply_size() const noexcept { return static_cast<std::size_t>(reply_size_); }
  bool awaits_reply() const noexcept { return awaits_; }
  bool has_left() const noexcept { return !sends_ || out_->begun; }  ///< while it is in flight
  std::uint16_t number_at_peer() const noexcept { return id_; }      ///< while it awaits its reply

 private:
  friend class proto::call_table;
  friend struct proto::calls_of_peer;

  /// The bytes of the call, which live until the end, as does a list of them.
  virtual buffer_list<const_buffer> arguments() const noexcept = 0;
  /// Makes room for the reply, and says where its bytes go. Once, with the progress lock held.
  /// \param size bytes of the reply \param beginning the first ones, as far as they have come
  virtual room place(std::uint64_t size, const_buffer beginning) noexcept = 0;
  /// The values that come before the reply; null: it is not that kind of call.
  virtual proto::value_stream* stream() noexcept { return nullptr; }

  /// A message of this call that cannot come or go at once.
  template <class Operation>
  struct part final : Operation {
    template <class Request>
    part(call_operation& c, const Request& r) noexcept : Operation(r, &ended), whole(c) {
      this->on = c.on;
    }
    static void ended(operation& op) noexcept {
      static_cast<part&>(op).whole.part_ended(std::is_same_v<Operation, send_operation>);
    }
    call_operation& whole;
  };

  void part_ended(bool sent) noexcept;

  const peer_name to_;
  const am number_;
  const call_signature* const types_;
  bool other_types_ = false;  ///< of the handler, whose signature is `text_`
  time_point deadline_ = time_point::max();
  std::uint16_t id_ = 0;  ///< its number at the peer, while `awaits_` or abandoned
  bool cancel_requested_ = false;
  bool awaits_ = false;    ///< the reply has not come
  bool sends_ = false;     ///< `out_` is in flight
  bool lands_ = false;     ///< `in_` is in flight
  bool started_ = false;   ///< and not over: completed, or in the completion queue
  bool answered_ = false;  ///< the reply, which may be a refusal, tells the status
  std::uint64_t reply_size_ = 0;
  std::size_t room_ = 0;  ///< bytes of the room for the reply
  std::string text_;
  std::optional<part<send_operation>> out_;
  std::optional<part<recv_operation>> in_;
};

}  // namespace weft::detail
