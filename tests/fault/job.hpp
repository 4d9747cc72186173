// SPDX-License-Identifier: Apache-2.0
// A job of four ranks that send messages to each other without end.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "board.hpp"
#include "hosts.hpp"
#include "wireup/auth/job_key.hpp"
#include "world.hpp"

namespace fault {

/// An empty board; programs that are started while it lives inherit its descriptor.
class shared_board {
 public:
  shared_board() {
    if (fd_ < 0 || ::ftruncate(fd_, sizeof(board)) != 0)
      throw std::runtime_error("no memory for the board");
    notes_ = map_board(fd_);
  }
  ~shared_board() {
    ::munmap(notes_, sizeof(board));
    ::close(fd_);
  }
  shared_board(const shared_board&) = delete;
  shared_board& operator=(const shared_board&) = delete;

  int fd() const noexcept { return fd_; }
  board& notes() noexcept { return *notes_; }

 private:
  int fd_ = ::memfd_create("board", 0);
  board* notes_ = nullptr;
};

/// `weft-run -n 4 traffic`, started; killed by the destructor if it has not ended.
class job {
 public:
  /// \param where          its transports and hosts
  /// \param mode           a value of WEFT_PROGRESS
  /// \param messages       after how many a rank leaves; empty: never
  /// \param wrapper        a command to put in front
  /// \param environment    further NAME=value
  job(const setting& where, const std::string& mode, const std::string& messages,
      std::vector<std::string> wrapper = {}, std::vector<std::string> environment = {})
      : launcher_(command(where, std::move(wrapper), messages),
                  with(std::move(environment), where, mode)) {}
  program& launcher() noexcept { return launcher_; }
  /// Asks the ranks to leave; checks that each leaves in good order and has lost no other rank.
  void end_well();
  board& notes() noexcept { return board_.notes(); }

  /// The ranks that have started and have not ended, in rank order.
  std::vector<pid_t> pids() const { return launcher_.children(); }

 private:
  static std::vector<std::string> with(std::vector<std::string> environment, const setting& where,
                                       const std::string& mode) {
    environment.push_back("WEFT_TRANSPORTS=" + where.transports);
    environment.push_back("WEFT_PROGRESS=" + mode);
    if (where.hosts == 2)
      environment.push_back("WEFT_JOB_KEY=" + weft::wireup::job_key::random().to_text());
    return environment;
  }

  std::vector<std::string> command(const setting& where, std::vector<std::string> all,
                                   const std::string& messages) const {
    for (const std::string& word : {bin + "/weft-run", std::string("-n"), std::to_string(ranks)})
      all.push_back(word);
    if (where.hosts == 2)
      for (const std::string& word :
           {bin + "/tests/on_host", std::to_string(second_host()), std::to_string(ranks / 2)})
        all.push_back(word);
    for (const std::string& word : {bin + "/tests/traffic", std::to_string(board_.fd())})
      all.push_back(word);
    if (!messages.empty()) all.push_back(messages);
    return all;
  }

  shared_board board_;
  program launcher_;
};

}  // namespace fault
