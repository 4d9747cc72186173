// SPDX-License-Identifier: Apache-2.0
// Stop tokens of two kinds: the standard's, and those of libraries of senders.
#pragma once

#include <stop_token>
#include <utility>

namespace weft::detail {

/// A chain's stop token with the members that libraries of senders expect; libstdc++ 12 has no
/// std::stop_token::callback_type.
class chain_stop_token {
 public:
  template <class F>
  using callback_type = std::stop_callback<F>;

  chain_stop_token() = default;
  chain_stop_token(std::stop_token of) noexcept : of_(std::move(of)) {}  // NOLINT: it is the same
  operator std::stop_token() const noexcept { return of_; }  // NOLINT: for its callbacks

  bool stop_requested() const noexcept { return of_.stop_requested(); }
  bool stop_possible() const noexcept { return of_.stop_possible(); }
  bool operator==(const chain_stop_token&) const noexcept = default;

 private:
  std::stop_token of_;
};

/// The callback of any stop token.
template <class Token, class F>
struct stop_callback_of {
  using type = typename Token::template callback_type<F>;
};
template <class F>
struct stop_callback_of<std::stop_token, F> {
  using type = std::stop_callback<F>;
};
template <class Token, class F>
using stop_callback_of_t = typename stop_callback_of<Token, F>::type;

}  // namespace weft::detail
