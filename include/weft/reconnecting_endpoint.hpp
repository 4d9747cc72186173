// SPDX-License-Identifier: Apache-2.0
// reconnecting_endpoint: a service at an address, which may go and come back.
#pragma once

#include <string>
#include <tuple>
#include <utility>

#include <weft/call.hpp>
#include <weft/context.hpp>
#include <weft/coro/as_result.hpp>
#include <weft/coro/mutex.hpp>
#include <weft/coro/retry.hpp>
#include <weft/endpoint.hpp>

namespace weft {

/// Connects to an address when it is needed, and again when the former connection has ended. For
/// programs without a launcher, whose service restarts.
///
///     reconnecting_endpoint service(ctx, "any://host:4567");
///     co_await service.call<void>(am{1}, order);                  // at most once
///     auto n = co_await service.call_idempotent<int>(am{2}, word);  // until it is answered
///     endpoint now = co_await service.connected();                // for all else
///
/// It repeats only what cannot have been served, which is connecting, and calls of which the caller
/// says that they are idempotent. An error names the address. All members but the destructor are
/// for any thread, and for any number of coroutines, of which one connects for all. Must outlive
/// its tasks, and not outlive the context.
class reconnecting_endpoint {
 public:
  /// Connects nothing yet.
  /// \param ctx     the context, or lane, that connects
  /// \param address as for context::connect
  /// \param policy  for connecting, and for idempotent calls;
  ///        the default tries more often than that of with_retry, and also where nothing listens
  ///        yet
  /// \param private_data, by as for context::connect
  reconnecting_endpoint(context& ctx, std::string address,
                        retry_policy policy = {.attempts = 20,
                                               .retriable = is_transient_or_refused},
                        std::string private_data = {}, tls_files by = {})
      : ctx_(&ctx),
        address_(std::move(address)),
        private_data_(std::move(private_data)),
        by_(std::move(by)),
        policy_(policy) {}
  reconnecting_endpoint(const reconnecting_endpoint&) = delete;
  reconnecting_endpoint& operator=(const reconnecting_endpoint&) = delete;

  /// The endpoint of now. Connects if there is none, or if it has ended. It may end at any time:
  /// then its operations end with peer_lost or closed, and the next `connected` gives another one.
  /// \throws weft::error  as context::connect and with_retry
  task<endpoint> connected();

  /// Calls a handler, as endpoint::call, once: if the connection ends before the reply comes, the
  /// call fails, and the caller decides whether it may be repeated.
  /// \tparam R, number, args as there, but all arguments are copied
  /// \throws weft::error  as `connected` and endpoint::call
  template <class R, class... Args>
  task<R> call(am number, Args... args) {
    return call_once<R, Args...>(number, std::tuple<Args...>(std::move(args)...));
  }

  /// The same, and calls again after an error that the policy finds retriable, and never after
  /// refused: the handler may then be called several times for one call.
  template <class R, class... Args>
  task<R> call_idempotent(am number, Args... args) {
    return call_often<R, Args...>(number, std::tuple<Args...>(std::move(args)...));
  }

  const std::string& address() const noexcept { return address_; }

 private:
  task<endpoint> connect_once();
  /// \throws weft::error with the address in its text
  [[noreturn]] void fail(const error& e) const;

  template <class R, class... Args>
  task<R> call_once(am number, std::tuple<Args...> args) {
    endpoint there = co_await connected();
    result<R> reply = co_await as_result(
        std::apply([&](const Args&... each) { return there.call<R>(number, each...); }, args));
    if (!reply) fail(reply.failure());
    co_return std::move(reply).value();
  }

  template <class R, class... Args>
  task<R> call_often(am number, std::tuple<Args...> args) {
    retry_policy policy = policy_;
    // What connecting has not brought about within the policy fails for good.
    policy.retriable = [](const error& e) { return is_loss(e.kind()); };
    co_return co_await with_retry(policy, [&] { return call_once<R, Args...>(number, args); });
  }

  context* ctx_;
  const std::string address_, private_data_;
  const tls_files by_;
  const retry_policy policy_;
  mutex connecting_;
  endpoint now_;  // with the mutex
};

}  // namespace weft
