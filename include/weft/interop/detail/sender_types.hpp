// SPDX-License-Identifier: Apache-2.0
// What weft's senders say of themselves, and how their operations complete a receiver.
#pragma once

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include <weft/error.hpp>
#include <weft/interop/detail/execution_library.hpp>

namespace weft::detail {

/// The signature of set_value for a value of T.
template <class T>
struct value_signature {
  using type = exec::set_value_t(T);
  template <template <class...> class Tuple>
  using in_tuple = Tuple<T>;
};
template <>
struct value_signature<void> {
  using type = exec::set_value_t();
  template <template <class...> class Tuple>
  using in_tuple = Tuple<>;
};

/// The base of senders that complete with a T, an exception_ptr, or stopped; for both kinds of
/// library.
template <class T>
struct sender_types {
  using sender_concept = exec::sender_tag;
  using completion_signatures =
      exec::completion_signatures<typename value_signature<T>::type,
                                  exec::set_error_t(std::exception_ptr), exec::set_stopped_t()>;

  template <template <class...> class Variant, template <class...> class Tuple>
  using value_types = Variant<typename value_signature<T>::template in_tuple<Tuple>>;
  template <template <class...> class Variant>
  using error_types = Variant<std::exception_ptr>;
  static constexpr bool sends_done = true;
};

/// Passes the request of a receiver's stop token to an operation, from `heed` until `ignore`.
template <class Receiver, class Stop>
class receiver_stop {
  using token = std::remove_cvref_t<decltype(exec::stop_token_of(std::declval<const Receiver&>()))>;

 public:
  void heed(const Receiver& r, Stop stop) {
    token t = exec::stop_token_of(r);
    if (t.stop_possible()) callback_.emplace(std::move(t), std::move(stop));
  }
  /// Waits for a callback that is under way on another thread.
  void ignore() noexcept { callback_.reset(); }

 private:
  std::optional<stop_callback_of_t<token, Stop>> callback_;
};

template <class Receiver>
void complete_with_failure(Receiver&& r, const std::exception_ptr& failure) noexcept {
  try {
    std::rethrow_exception(failure);
  } catch (const error& e) {
    if (e.kind() == errc::stopped) return exec::set_stopped(std::forward<Receiver>(r));
  } catch (...) {  // NOLINT: it is passed on below
  }
  exec::set_error(std::forward<Receiver>(r), failure);
}

}  // namespace weft::detail
