// SPDX-License-Identifier: Apache-2.0
// A transport between two processes of a host without the protocols: a link, a frame sink, and an
// engine that polls them like every transport.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include <weft/transport/transport.hpp>

#include "runtime/progress/engine.hpp"

namespace weft::bench {

/// One process's end. One thread. Messages are single frames, one at a time: each side sends after
/// it has received.
class bare_link final : transports::frame_sink {
 public:
  /// Connects to the other end, which is made at the same time.
  /// \param transport "shm" or "qdma"
  /// \param line a connected socket, SOCK_SEQPACKET, to the other process
  /// \throws weft::error, std::runtime_error when no shared memory is available
  bare_link(const std::string& transport, progress_mode mode, int line);
  bare_link(const bare_link&) = delete;
  bare_link& operator=(const bare_link&) = delete;
  ~bare_link();

  void send(std::span<const std::byte> message);
  /// Waits for a message. \return its length
  /// \throws std::runtime_error when it does not fit, or the other end has gone
  std::size_t receive(std::span<std::byte> into);

 private:
  bool on_frame(const transports::frame_header& header,
                const transports::frame_extension* extension,
                const std::byte* payload) noexcept override;
  void on_writable() noexcept override {}
  void on_broken(errc why) noexcept override { engine_.end(awaited_, why); }

  /// The awaited message.
  struct arrival final : operation {
    arrival() noexcept
        : operation([](operation& op) noexcept { static_cast<arrival&>(op).over = true; }) {}
    std::span<std::byte> into;
    std::size_t size = 0;
    bool over = false;
  };

  runtime::engine engine_;
  std::unique_ptr<transports::transport> transport_;
  std::unique_ptr<transports::link> link_;
  arrival awaited_;
};

}  // namespace weft::bench
