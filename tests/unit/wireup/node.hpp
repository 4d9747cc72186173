// SPDX-License-Identifier: Apache-2.0
// A connection manager whose events are recorded, so that a test can wait for them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/no_events.hpp"
#include "wireup/manager/connection_manager.hpp"
#include "wireup/sockets/unix_socket.hpp"

namespace weft::wireup::test {

/// Events from another thread, in order.
template <class T>
class record {
 public:
  void add(T t) {
    // Notified under the lock: the waiting thread may destroy this record next.
    const std::lock_guard lock(mutex_);
    things_.push_back(std::move(t));
    changed_.notify_all();
  }

  /// The next event; throws when none comes, which only a defect can cause.
  T next() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::seconds(30), [&] { return !things_.empty(); }))
      throw std::runtime_error("what the test waits for did not happen");
    T t = std::move(things_.front());
    things_.pop_front();
    return t;
  }

  bool empty() {
    const std::lock_guard lock(mutex_);
    return things_.empty();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<T> things_;
};

struct outcome {
  channel_ptr channel;
  std::string failure;
  errc kind = errc::ok;
};
struct arrived {
  channel_ptr channel;
  transports::wireup_message wireup_message;
};
struct end_of {
  channel_ptr channel;
  proto::ended how;
};
struct arrived_request {
  std::uint64_t listener_number = 0;
  std::unique_ptr<incoming_request> request;
};

/// Members are destroyed after the manager, which is last.
class node : public weft::tests::no_events {
 public:
  explicit node(identity self = {}, tcp_settings tcp = {}, bool lets_in = true,
                lane_number lanes = 1)
      : manager(std::make_unique<connection_manager>(
            std::move(self), static_cast<manager_events&>(*this), std::move(tcp), lanes)) {
    if (lets_in) manager->start_accepting();
  }

  connection_manager* operator->() { return manager.get(); }

  outcome connect(const std::string& locator) {
    return wait([&](auto done) { manager->connect(locator, std::move(done)); });
  }
  outcome request_connection(const std::string& address, const std::string& private_data = {}) {
    return wait(
        [&](auto done) { manager->request_connection(address, private_data, std::move(done)); });
  }

  /// A callback that writes into `into`, which must outlive the manager.
  static channel_ready into(record<outcome>& into) {
    return [&into](channel_ptr c, const failure& why) {
      into.add({std::move(c), why.text, why.kind});
    };
  }

  record<arrived> wireup_messages;
  record<end_of> ends;
  record<arrived_request> arrived_requests;
  record<std::string> notices;
  record<outcome> outcomes;
  std::unique_ptr<connection_manager> manager;

 private:
  template <class F>
  outcome wait(F start) {
    start(into(outcomes));
    return outcomes.next();
  }

  void on_wireup_message(const channel_ptr& c, transports::wireup_message m) override {
    wireup_messages.add({c, std::move(m)});
  }
  void on_ended(const channel_ptr& c, const proto::ended& how) override { ends.add({c, how}); }
  void on_connection_request(std::uint64_t listener_number,
                             std::unique_ptr<incoming_request> r) override {
    arrived_requests.add({listener_number, std::move(r)});
  }
  void on_notice(const std::string& text) override { notices.add(text); }
};

inline transports::wireup_message make_wireup_message(std::uint8_t kind, const std::string& text) {
  transports::wireup_message p;
  p.kind = kind;
  for (char c : text) p.bytes.push_back(static_cast<std::byte>(c));
  return p;
}

inline std::string text_of(const transports::wireup_message& p) {
  return {reinterpret_cast<const char*>(p.bytes.data()), p.bytes.size()};
}

}  // namespace weft::wireup::test
