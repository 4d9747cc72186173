// SPDX-License-Identifier: Apache-2.0
// Starts the ranks, watches them, and reports the result.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "input_relay.hpp"
#include "options.hpp"
#include "output.hpp"
#include "rank_process.hpp"
#include "wireup/job/job_directory.hpp"
#include "wireup/loop/asio.hpp"

namespace weft::run {

/// All work runs on the thread that calls `run`. This thread must live as long as the program: the
/// ranks die with it.
class supervisor {
 public:
  /// \param inherited what the ranks are given back; must outlive this object
  /// \throws weft::error, std::system_error
  supervisor(const options& chosen, const runtime::inherited_state& inherited);

  /// Runs the job. \returns the exit status of weft-run
  int run();

 private:
  struct rank {
    pid_t pid = -1;
    bool living = false;
    std::uint32_t restarts = 0;
    std::shared_ptr<line_reader> output, errors;
  };

  bool start_all();
  bool start_one(std::uint32_t number);
  unique_fd make_reader(std::uint32_t number, sink& to, std::shared_ptr<line_reader>& reader);
  unique_fd make_file(std::uint32_t number, const char* kind) const;
  int input_of(std::uint32_t number);
  void say(const std::string& text);
  void on_lost(int fault);

  void watch_signals();
  void on_signal(int number, bool from_terminal);
  void pass_on(int number);
  void stop_with_ranks();

  void reap();
  void on_rank_end(std::uint32_t number, int status);
  bool may_restart(std::uint32_t number) const noexcept;
  void on_failure(std::uint32_t number, int exit_status, std::string text);
  void kill_later();
  void end_in_time();
  void on_timeout();
  void when_all_ended();
  void end_if_done();

  const options chosen_;
  const runtime::inherited_state& inherited_;
  const bool own_groups_;
  asio::io_context io_{1};
  sink out_;
  sink err_;
  wireup::job_directory directory_;
  std::vector<rank> ranks_;
  std::vector<int> cores_;
  unique_fd no_input_;
  unique_fd relay_end_;  // rank 0 reads the terminal's input here
  std::shared_ptr<input_relay> relay_;
  asio::posix::stream_descriptor signals_;
  asio::steady_timer grace_;
  asio::steady_timer time_;  // of --timeout
  std::uint32_t living_ = 0;
  unsigned open_readers_ = 0;
  int passed_on_ = 0;  // the last signal that asked the ranks to end
  bool interrupted_ = false;
  bool killing_ = false;
  bool timed_out_ = false;
  int status_ = 0;
  std::string first_failure_;  // empty: none, or one that weft-run itself caused
  unsigned later_failures_ = 0;
  bool output_lost_ = false;
};

}  // namespace weft::run
