// SPDX-License-Identifier: Apache-2.0
// Whoever reaches a port and is nobody: bad connections of every kind, many at a time.
#pragma once

#include <netinet/in.h>
#include <sys/types.h>

#include <cstddef>
#include <list>
#include <random>
#include <string>
#include <vector>

#include "runtime/fd.hpp"

namespace fault {

/// Where a process listens over TCP, each place as one on this host connects to it.
std::vector<sockaddr_in> listening_places(pid_t pid);

/// Connects badly, again and again. One thread.
class strangers {
 public:
  enum class manner {
    leaves,         ///< connects and closes at once
    resets,         ///< the same, with a reset
    babbles,        ///< garbage
    half,           ///< half of what is to be said first, then silence
    silent,         ///< nothing
    wrong_key,      ///< the whole handshake with another key, and what would follow it
    wrong_token,    ///< what the transport's peers say first, with a token of its own
    too_much,       ///< a megabyte, beginning with a frame that says that it is larger than that
    half_answered,  ///< begins the handshake right, then stops
    slow,           ///< a byte at a time
    count
  };
  /// \param places where; each is treated alike, whatever protocol is spoken there
  /// \param at_once when more than so many are there, those who are silent or slow go
  strangers(std::vector<sockaddr_in> places, unsigned seed, std::size_t at_once)
      : places_(std::move(places)), at_once_(at_once), dice_(seed) {}

  /// Makes so many bad connections. Who is silent is there still when it returns.
  /// \param how in this manner; `count`: in each in turn
  void come(int count, manner how = manner::count);

  /// Everybody goes. Waits until those who have said something wrong were hung up on.
  void go();

  /// How many are there and have not been hung up on, as far as is known by now.
  std::size_t present();
  /// How many connections there were.
  int came() const noexcept { return came_; }
  /// One line for each thing that a stranger should not have got. Empty: all is well.
  const std::string& complaints() const noexcept { return complaints_; }

 private:
  struct one {
    manner how;
    weft::runtime::unique_fd fd;
    std::vector<std::byte> says = {};  ///< all that it will say, as far as it is known
    std::size_t said = 0;
    std::vector<std::byte> heard = {};
    bool connected = false;
    bool over = false;
  };

  void arrive(manner how);
  void go_on(one& s);
  void speak(one& s);
  void listen(one& s);
  void answer_challenge(one& s);
  void serve();
  bool waits(const one& s) const;
  std::vector<std::byte> garbage(std::size_t size);

  const std::vector<sockaddr_in> places_;
  const std::size_t at_once_;
  std::mt19937 dice_;
  std::list<one> there_;
  int came_ = 0;
  std::string complaints_;
};

}  // namespace fault
