// SPDX-License-Identifier: Apache-2.0
// Bad connections of every kind, many at a time, to the TCP ports of a process.
#pragma once

#include <netinet/in.h>
#include <sys/types.h>

#include <cstddef>
#include <list>
#include <random>
#include <string>
#include <vector>

#include "runtime/descriptors/fd.hpp"

namespace fault {

/// The addresses at which a process listens over TCP, as a process on this host connects to them.
std::vector<sockaddr_in> listening_places(pid_t pid);
/// The abstract names of its Unix sockets, without the zero in front, as every process finds them.
std::vector<std::string> abstract_names(pid_t pid);

/// Makes bad connections, again and again. One thread.
class bad_clients {
 public:
  enum class manner {
    leaves,         ///< connects and closes at once
    resets,         ///< the same, with a reset
    babbles,        ///< garbage
    half,           ///< half of the client's first message, then silence
    silent,         ///< nothing
    wrong_key,      ///< the whole handshake with another key, and the bytes that would follow it
    wrong_token,    ///< the first message of the transport's peers, with a made-up token
    too_much,       ///< a megabyte, beginning with a frame that claims to be larger than that
    half_answered,  ///< begins the handshake correctly, then stops
    slow,           ///< a byte at a time
    count
  };
  /// \param places each is treated alike, independent of its protocol
  /// \param at_once when more connections are open, the silent and slow ones are closed
  bad_clients(std::vector<sockaddr_in> places, unsigned seed, std::size_t at_once)
      : places_(std::move(places)), at_once_(at_once), dice_(seed) {}

  /// Makes so many bad connections. The silent ones are still open when it returns.
  /// \param how the manner of all of them; `count`: each manner in turn
  void come(int count, manner how = manner::count);

  /// Closes all connections. Waits until the server has hung up on those that have sent something
  /// wrong.
  void go();

  /// How many connections are open and, as far as is known, not hung up on.
  std::size_t present();
  /// The number of connections made.
  int came() const noexcept { return came_; }
  /// One line for each thing that a bad client should not have received. Empty: all is well.
  const std::string& complaints() const noexcept { return complaints_; }

 private:
  struct one {
    manner how;
    weft::unique_fd fd;
    std::vector<std::byte> says = {};  ///< all bytes that it will send, as far as they are known
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
