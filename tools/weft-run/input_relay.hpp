// SPDX-License-Identifier: Apache-2.0
// Terminal input for rank 0: rank 0 is not in the terminal's process group, so it cannot read
// itself.
#pragma once

#include <array>
#include <memory>

#include "runtime/descriptors/fd.hpp"
#include "wireup/loop/asio.hpp"

namespace weft::run {

/// Copies the terminal's input into a pipe while this process is in the foreground. Ends when the
/// input or the reader ends, or with `stop`.
class input_relay : public std::enable_shared_from_this<input_relay> {
 public:
  input_relay(asio::io_context& io, unique_fd terminal, unique_fd to);
  void start();
  void stop();

 private:
  void read();

  asio::posix::stream_descriptor terminal_;
  asio::posix::stream_descriptor to_;
  asio::steady_timer background_;
  std::array<char, 4096> buffer_{};
};

}  // namespace weft::run
