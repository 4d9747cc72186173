// SPDX-License-Identifier: Apache-2.0
// The errors of weft, as values and as one exception type.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <variant>

#include <weft/coro/detail/requirements.hpp>

namespace weft {

/// Every way in which an operation of weft can end. `ok` is zero, so that an `errc` converts to a
/// false `std::error_code`. docs/reliability.md has a row per value: cause, promise, test.
enum class errc : int {
  ok = 0,
  stopped,           ///< a stop token asked for it; not a failure of anything
  timed_out,         ///< the deadline given to `within` or `until` passed first
  peer_lost,         ///< the other process died or its connection broke
  closed,            ///< this side, or the peer in good order, closed the endpoint or the context;
                     ///< or a channel<T> was closed, or the object of a wait destroyed
  refused,           ///< the peer rejected a connection, or access to its memory
  truncated,         ///< the message was longer than the buffer; the buffer holds its beginning
  unreachable,       ///< no transport reaches that address; the message says why, one by one
  protocol_error,    ///< the peer sent something that no correct peer sends
  invalid_argument,  ///< the call itself is wrong; the message says how
  out_of_memory,     ///< an allocation or a memory budget failed
  unsupported,       ///< this transport, kernel or container cannot do it
  system             ///< a system call failed; the message names it and its errno
};

/// Whether the other side of an operation has gone: it died (peer_lost), or left in good order
/// (closed). Of a collective: a member has gone, and `group::shrink` helps. An operation of a
/// context that ends, and a wait at a closed channel<T>, end with closed, too.
constexpr bool is_loss(errc e) noexcept { return e == errc::peer_lost || e == errc::closed; }

/// The name of a value: "peer_lost".
const char* name_of(errc e) noexcept;

/// The category of `errc`; its messages are complete sentences for people.
const std::error_category& error_category() noexcept;

/// The category's message for a value, without an allocation.
const char* sentence_of(errc e) noexcept;

inline std::error_code make_error_code(errc e) noexcept {
  return {static_cast<int>(e), error_category()};
}

/// Thrown by `co_await op`. `code()` carries an `errc`, `what()` the cause and the cure.
class error : public std::system_error {
 public:
  explicit error(errc e) : error(e, make_error_code(e).message()) {}
  error(errc e, const std::string& detail)
      : std::system_error(make_error_code(e)), detail_(detail) {}

  const char* what() const noexcept override { return detail_.what(); }

  errc kind() const noexcept { return static_cast<errc>(code().value()); }

 private:
  std::runtime_error detail_;  // its copies never throw
};

/// A value of T or an error: the result of `co_await as_result(op)`. T may be void. Not
/// thread-safe; a plain value.
template <class T>
class [[nodiscard]] result {
  using stored = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

 public:
  result(stored value)
      : state_(std::in_place_index<0>, std::move(value)) {}          // NOLINT: a value is a result
  result(error e) : state_(std::in_place_index<1>, std::move(e)) {}  // NOLINT: so is an error
  result()
    requires std::is_void_v<T>
      : state_(std::in_place_index<0>) {}

  bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  /// `errc::ok` when there is a value.
  errc code() const noexcept { return has_value() ? errc::ok : std::get<1>(state_).kind(); }

  /// Call only when !has_value().
  const error& failure() const { return std::get<1>(state_); }

  /// The value; throws the stored `weft::error` when there is none.
  decltype(auto) value() & {
    check();
    if constexpr (!std::is_void_v<T>) return (std::get<0>(state_));
  }
  T value() && {
    check();
    if constexpr (!std::is_void_v<T>) return std::move(std::get<0>(state_));
  }

 private:
  void check() const {
    if (!has_value()) throw std::get<1>(state_);
  }

  std::variant<stored, error> state_;
};

}  // namespace weft

/// \cond
template <>
struct std::is_error_code_enum<weft::errc> : std::true_type {};
/// \endcond
