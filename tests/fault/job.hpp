// SPDX-License-Identifier: Apache-2.0
// A job of four ranks that send messages to each other without end.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "board.hpp"
#include "world.hpp"

namespace fault {

/// `weft-run -n 4 traffic`, started; killed by the destructor if it has not ended.
class job {
 public:
  /// \param transport,mode values of WEFT_TRANSPORTS and WEFT_PROGRESS
  /// \param messages       after how many a rank leaves; empty: never
  /// \param wrapper        what to put in front of the command
  /// \param environment    NAME=value besides
  job(const std::string& transport, const std::string& mode, const std::string& messages,
      std::vector<std::string> wrapper = {}, std::vector<std::string> environment = {})
      : launcher_(command(std::move(wrapper), messages),
                  with(std::move(environment), transport, mode)) {}
  ~job() {
    ::munmap(&board_.notes, sizeof(board));
    ::close(board_.fd);
  }
  job(const job&) = delete;
  job& operator=(const job&) = delete;

  program& launcher() noexcept { return launcher_; }
  board& notes() noexcept { return board_.notes; }

  /// The ranks that have been started and have not ended, in their order.
  std::vector<pid_t> pids() const { return launcher_.children(); }

 private:
  struct shared {
    // Inherited by the ranks, which find it by its number.
    int fd = ::memfd_create("board", 0);
    board& notes = made();

   private:
    board& made() const {
      if (fd < 0 || ::ftruncate(fd, sizeof(board)) != 0)
        throw std::runtime_error("no memory for the board");
      return *map_board(fd);
    }
  };

  static std::vector<std::string> with(std::vector<std::string> environment,
                                       const std::string& transport, const std::string& mode) {
    environment.push_back("WEFT_TRANSPORTS=" + transport);
    environment.push_back("WEFT_PROGRESS=" + mode);
    return environment;
  }

  std::vector<std::string> command(std::vector<std::string> all,
                                   const std::string& messages) const {
    for (const std::string& word :
         {std::string(WEFT_TEST_BIN_DIR "/weft-run"), std::string("-n"), std::to_string(ranks),
          std::string(WEFT_TEST_BIN_DIR "/tests/traffic"), std::to_string(board_.fd)})
      all.push_back(word);
    if (!messages.empty()) all.push_back(messages);
    return all;
  }

  shared board_;
  program launcher_;
};

}  // namespace fault
