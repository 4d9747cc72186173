// SPDX-License-Identifier: Apache-2.0
#include "input_relay.hpp"

#include <unistd.h>

#include <chrono>

namespace weft::run {

input_relay::input_relay(asio::io_context& io, unique_fd terminal, unique_fd to)
    : terminal_(io, terminal.release()), to_(io, to.release()), background_(io) {}

void input_relay::start() {
  terminal_.async_wait(asio::posix::descriptor_base::wait_read,
                       [self = shared_from_this()](const asio::error_code& fault) {
                         if (!fault) self->read();
                       });
}

void input_relay::read() {
  if (::tcgetpgrp(terminal_.native_handle()) != ::getpgrp()) {
    // The terminal's input is for another program now; a read would stop this one.
    background_.expires_after(std::chrono::milliseconds(200));
    background_.async_wait([self = shared_from_this()](const asio::error_code& fault) {
      if (!fault) self->start();
    });
    return;
  }
  const ssize_t n = ::read(terminal_.native_handle(), buffer_.data(), buffer_.size());
  if (n <= 0) return stop();
  asio::async_write(to_, asio::buffer(buffer_.data(), static_cast<std::size_t>(n)),
                    [self = shared_from_this()](const asio::error_code& fault, std::size_t) {
                      fault ? self->stop() : self->start();
                    });
}

void input_relay::stop() {
  asio::error_code ignored;
  terminal_.close(ignored);
  to_.close(ignored);
  background_.cancel();
}

}  // namespace weft::run
