// SPDX-License-Identifier: Apache-2.0
// Dumps for other processes of the same user, which ask by the context's socket.
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "api/core/dump_report.hpp"
#include "runtime/os/exit_gate.hpp"

namespace weft::detail {

/// Makes them on a thread that lives while there are questions, because the control plane's thread,
/// which gets them, must not wait for the progress lock. Owned by the first lane.
class dump_answers {
 public:
  using answer = std::function<void(std::string text)>;

  /// \param from outlives this
  explicit dump_answers(dump_report& from) : report_(from) {}
  ~dump_answers() { close(); }
  dump_answers(const dump_answers&) = delete;
  dump_answers& operator=(const dump_answers&) = delete;

  /// The control plane's thread. \param told called there or on the own thread, once, with a text
  ///   that says why if there is no dump; not after `close`
  void ask(dump_format as, answer told);
  /// Drops the questions, and waits for the one that is being answered. Afterwards none is.
  void close() noexcept;

 private:
  struct question {
    dump_format as;
    answer told;
  };
  static constexpr std::size_t most_waiting = 8;

  void loop() noexcept;

  dump_report& report_;
  std::mutex mutex_;
  std::deque<question> waiting_;  // guarded by mutex_, as the next two
  bool runs_ = false;             // the thread will look at waiting_ again
  bool closed_ = false;
  runtime::exit_gate exit_gate_{};
  std::thread thread_;  // the control plane's thread, until `close`
};

}  // namespace weft::detail
