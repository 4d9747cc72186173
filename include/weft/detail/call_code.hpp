// SPDX-License-Identifier: Apache-2.0
// The code of handlers behind one interface: with bytes or with values, in a coroutine or inline.
// Applications do not name these types.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <weft/call.hpp>
#include <weft/coro/async_generator.hpp>
#include <weft/detail/announced_memory.hpp>
#include <weft/detail/kept_arguments.hpp>

namespace weft::detail {

/// The code of a handler, without its type. Destroyed when no call of it runs.
class call_code {
 public:
  virtual ~call_code() = default;
  virtual task<void> serve(call) = 0;
  /// Null: it takes bytes.
  virtual const call_signature* signature() const noexcept { return nullptr; }
  virtual bool is_inline() const noexcept { return false; }
  /// Of an inline handler. \return bytes of the reply \throws to refuse the call
  virtual std::size_t answer(const inline_call&) { return 0; }
};

template <class T>
struct is_generator : std::false_type {};
template <class T>
struct is_generator<async_generator<T>> : std::true_type {};

template <class T>
struct is_task : std::false_type {};
template <class T>
struct is_task<task<T>> : std::true_type {
  using value_type = T;
};

/// R(Args...), taken apart.
template <class Signature>
struct call_types;
template <class R, class... Args>
struct call_types<R(Args...)> {
  using result = R;
  using arguments = std::tuple<stored_t<Args>...>;
  static constexpr const call_signature& signature = signature_of_call<R, Args...>;
  static constexpr call_sizes sizes = sizes_of_call<std::remove_cvref_t<Args>...>();
  using landing = value_landing<stored_t<Args>...>;
  /// \param before arguments whose memory is to be used; none: it is made
  static void make_room(landing& l, std::size_t size, const_buffer beginning, row_limits limits,
                        std::optional<arguments>& before) {
    const auto with = [&](auto*... each) { l.make_room(size, beginning, limits, each...); };
    if (before)
      std::apply([&](auto&... each) { with(&each...); }, *before);
    else
      with(static_cast<stored_t<Args>*>(nullptr)...);
  }
  static arguments take(landing& l, std::optional<arguments>& before) {
    if (!before) return l.take();
    std::apply([&](auto&... each) { l.take_into(each...); }, *before);
    return std::move(*before);
  }
  static arguments unpack(const_buffer from) {
    return unpack_values<std::remove_cvref_t<Args>...>(from);
  }

  template <class F>
  static decltype(auto) invoke(F& f, arguments& a) {
    return std::apply([&f](auto&... each) -> decltype(auto) { return f(pass<Args>(each)...); }, a);
  }

 private:
  /// A parameter by value takes the decoded one; others refer to it, or to its elements.
  template <class Arg, class Stored>
  static decltype(auto) pass(Stored& s) {
    if constexpr (!std::is_same_v<std::remove_cvref_t<Arg>, Stored>)
      return std::remove_cvref_t<Arg>(s.data(), s.size());
    else if constexpr (std::is_lvalue_reference_v<Arg>)
      return (s);
    else
      return std::move(s);
  }
};

/// Before there is memory for arguments of a size that the peer chooses.
/// \throws weft::error (refused)
void check_size(std::size_t size, call_sizes taken);
/// \throws weft::error (refused) if the caller awaits a stream, and the handler gives none, or the
///   other way round
void check_kind(const call& c, bool gives_stream);

template <class F>
class raw_code final : public call_code {
 public:
  explicit raw_code(F f) : f_(std::move(f)) {}
  task<void> serve(call c) override { return f_(c); }

 private:
  F f_;
};

template <class Signature, class F>
class typed_code final : public call_code {
  using types = call_types<Signature>;
  using arguments = typename types::arguments;
  using result = typename types::result;

 public:
  explicit typed_code(F f, bool keeps_memory = false) : f_(std::move(f)), kept_(keeps_memory) {}
  const call_signature* signature() const noexcept override { return &types::signature; }

  task<void> serve(call c) override {
    check_kind(c, is_generator<result>::value);
    std::optional<typename types::landing> landing;
    std::optional<arguments> before;
    if (c.data().size() != c.size()) {
      check_size(c.size(), types::sizes);
      before = kept_.take();
      const announced_memory::share filled(announced_, c.size());
      types::make_room(landing.emplace(), c.size(), c.beginning(),
                       {shortest_row_in_place, filled.bytes()}, before);
      const claimed_request rest = c.recv(landing->room());
      co_await rest;
    }
    arguments all = landing ? types::take(*landing, before) : types::unpack(c.data());
    const typename kept_arguments<arguments>::giver back(kept_, all, landing.has_value());
    c.discard();
    before.reset();
    landing.reset();
    using returned = decltype(types::invoke(f_, all));
    if constexpr (is_generator<result>::value) {
      result values = types::invoke(f_, all);
      while (auto* value = co_await values.next()) {
        call_bytes::pieces list;
        const call_bytes packed = pack_view(*value);
        const item_request item = c.reply_next(packed.list(list));
        co_await item;
      }
    } else if constexpr (std::is_void_v<result>) {
      if constexpr (is_task<returned>::value)
        co_await types::invoke(f_, all);
      else
        types::invoke(f_, all);
    } else if constexpr (is_task<returned>::value) {
      result value = co_await types::invoke(f_, all);
      call_bytes::pieces list;
      const call_bytes packed = pack_view(value);
      const reply_request whole = c.reply(packed.list(list));
      co_await whole;
    } else {
      result value = types::invoke(f_, all);
      call_bytes::pieces list;
      const call_bytes packed = pack_view(value);
      const reply_request whole = c.reply(packed.list(list));
      co_await whole;
    }
  }

 private:
  F f_;
  kept_arguments<arguments> kept_;
  announced_memory announced_;
};

template <class F>
class raw_inline_code final : public call_code {
 public:
  explicit raw_inline_code(F f) : f_(std::move(f)) {}
  task<void> serve(call) override { co_return; }
  bool is_inline() const noexcept override { return true; }
  std::size_t answer(const inline_call& c) override {
    if constexpr (std::is_void_v<std::invoke_result_t<F&, const inline_call&>>) {
      f_(c);
      return 0;
    } else {
      return f_(c);
    }
  }

 private:
  F f_;
};

/// Copies a packed reply into the room for it. \throws weft::error (refused)
std::size_t put_inline_reply(const inline_call& c, const call_bytes& packed);

template <class Signature, class F>
class typed_inline_code final : public call_code {
  using types = call_types<Signature>;

 public:
  explicit typed_inline_code(F f) : f_(std::move(f)) {}
  const call_signature* signature() const noexcept override { return &types::signature; }
  task<void> serve(call) override { co_return; }
  bool is_inline() const noexcept override { return true; }
  std::size_t answer(const inline_call& c) override {
    typename types::arguments all = types::unpack(c.data);
    if constexpr (std::is_void_v<typename types::result>) {
      types::invoke(f_, all);
      return 0;
    } else {
      const typename types::result value = types::invoke(f_, all);
      return put_inline_reply(c, pack_view(value));
    }
  }

 private:
  F f_;
};

}  // namespace weft::detail
