// SPDX-License-Identifier: Apache-2.0
// Two hosts on one machine: network namespaces joined by a cable, which is a veth pair. What
// processes there say to each other crosses it; they share neither the loopback nor any socket
// name.
#pragma once

#include <array>
#include <string>

namespace weft::bench {

/// The two hosts. Nothing of them has a name: the kernel removes them with the last process that is
/// there or holds this object, however that one ends.
class hosts {
 public:
  /// Makes them, or finds those that a program made which started this one. The calling process,
  /// and all that it starts, is on host 0 from then on. For a process with one thread.
  /// \throws std::runtime_error with cause and cure
  hosts();
  ~hosts();
  hosts(const hosts&) = delete;
  hosts& operator=(const hosts&) = delete;

  /// Joins the two by a second cable, `second_interface` on both. Once, by whoever made them. The
  /// caller is on host 0 afterwards.
  /// \throws std::runtime_error with cause and cure
  void add_cable() const;

  /// From now on no cable carries more than so many megabits a second, in either direction.
  void limit(unsigned megabits) const;

  /// Whether a program that started this one has made them.
  static bool are_given() noexcept;

  /// \throws std::invalid_argument when `transport` cannot reach another host
  static void check(const std::string& transport);

  /// The calling thread goes to host `which` (0 or 1); its sockets stay where they were opened.
  /// \throws std::system_error
  void enter(int which) const;

  /// /sys shows the host that the caller is on: UCX looks for network interfaces there. Without it,
  /// where mounting is forbidden, only UCX is lost.
  static void show_in_sys() noexcept;

  /// Where host `which` is reached from the other one: an IPv4 address in digits.
  static const char* address(int which) noexcept { return addresses[which]; }

  /// The end of the cable, on both.
  static constexpr const char* interface = "weft0";
  static constexpr const char* second_interface = "weft1";

 private:
  static constexpr const char* addresses[2] = {"10.77.0.1", "10.77.0.2"};

  void find(const std::string& where);
  void make();
  void plug_in(int which) const;
  void close() noexcept;

  std::array<int, 2> namespaces_{-1, -1};
};

}  // namespace weft::bench
