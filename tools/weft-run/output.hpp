// SPDX-License-Identifier: Apache-2.0
// The output of the ranks: whole lines, labelled, each stream separate.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/descriptors/fd.hpp"
#include "wireup/loop/asio.hpp"

namespace weft::run {

/// The launcher's own standard output or error. Never blocks the launcher if the descriptor can be
/// watched: keeps the bytes that cannot be written yet, and `full` asks the ranks' readers to
/// pause.
class sink {
 public:
  /// \param fd   stays the caller's
  /// \param lost called once, with the errno, when the output cannot be written (a full disk); from
  ///        then on output is dropped, and the ranks continue
  sink(asio::io_context& io, int fd, std::function<void()> drained, std::function<void(int)> lost);

  void write(std::string_view text);
  bool full() const noexcept { return pending_.size() - done_ > most_pending; }
  bool idle() const noexcept { return pending_.empty(); }
  bool broken() const noexcept { return broken_; }  ///< the reader has gone
  bool coloured() const noexcept { return coloured_; }

 private:
  static constexpr std::size_t most_pending = std::size_t{256} << 10;

  void flush();
  bool write_some();

  const int fd_;
  asio::posix::stream_descriptor watch_;  // a copy of fd_, if it can be watched
  std::function<void()> drained_;
  std::function<void(int)> lost_;
  std::string pending_;
  std::size_t done_ = 0;  // bytes of pending_ that are written
  bool waiting_ = false;
  bool broken_ = false;
  bool dropping_ = false;
  bool coloured_ = false;
};

/// Reads one stream of one rank. Owned by the supervisor.
class line_reader : public std::enable_shared_from_this<line_reader> {
 public:
  /// \param closed called once, at the end of the stream
  line_reader(asio::io_context& io, unique_fd from, sink& to, std::string label,
              std::function<void()> closed);

  void start();
  /// Called when the sink has space again.
  void resume();
  /// Reads the available bytes and ends: the rank is gone, but a child of it may hold the other
  /// end.
  void finish();

 private:
  void wait();
  /// False: the end of the stream, or the sink is broken.
  bool take(bool& more);
  void emit(bool at_end);
  void end();

  asio::posix::stream_descriptor from_;
  sink& to_;
  const std::string label_;
  std::function<void()> closed_;
  std::string partial_;  // a line that has not ended
  bool waiting_ = false;
  bool resting_ = false;
};

/// "[3] ", in the rank's colour if requested.
std::string make_label(unsigned rank, bool coloured);

}  // namespace weft::run
