// SPDX-License-Identifier: Apache-2.0
// Two hosts on one machine: network namespaces joined by a cable, which is a veth pair. Messages
// between their processes cross it; the hosts share neither the loopback nor any socket name.
#pragma once

#include <array>
#include <string>

namespace weft::bench {

/// The two hosts. They have no names: the kernel removes them with the last process that is there
/// or holds this object, after any end of that process.
class hosts {
 public:
  /// Makes them, or finds those of the program that started this one. The calling process, and all
  /// processes that it starts, is on host 0 from then on. For a process with one thread.
  /// \throws std::runtime_error with cause and cure
  hosts();
  ~hosts();
  hosts(const hosts&) = delete;
  hosts& operator=(const hosts&) = delete;

  /// Joins the two by a second cable, `second_interface` on both. Once, by the process that made
  /// the hosts. The caller is on host 0 afterwards.
  /// \throws std::runtime_error with cause and cure
  void add_cable() const;

  /// Limits each cable to that many megabits a second, in each direction.
  void limit(unsigned megabits) const;

  /// Whether the program that started this one has made them.
  static bool are_given() noexcept;

  /// \throws std::invalid_argument when `transport` cannot reach another host
  static void check(const std::string& transport);

  /// Moves the calling thread to host `which` (0 or 1); its sockets stay on the host where they
  /// were opened.
  /// \throws std::system_error
  void enter(int which) const;

  /// Makes /sys show the caller's host: UCX looks for network interfaces there. If mounting is
  /// forbidden, only UCX does not work.
  static void show_in_sys() noexcept;

  /// The address of host `which` for the other one: an IPv4 address in digits.
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
