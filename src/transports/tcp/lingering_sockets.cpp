// SPDX-License-Identifier: Apache-2.0
#include "transports/tcp/lingering_sockets.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <vector>

namespace weft::transports::tcp {

void lingering_sockets::add(int fd, std::span<const std::byte> bytes) noexcept {
  try {
    rest r;
    r.fd = runtime::duplicate(fd);
    r.fork_guard = std::make_unique<runtime::close_on_fork>(r.fd.get());
    r.bytes.reset(new std::byte[bytes.size()]);
    std::memcpy(r.bytes.get(), bytes.data(), bytes.size());
    r.end = bytes.size();
    r.until = clock::now() + time_for_each_;
    if (all_.size() == most) all_.pop_front();
    all_.push_back(std::move(r));
  } catch (const std::exception&) {
    // No descriptor or memory: the bytes are lost, as they would be after their time.
  }
}

bool lingering_sockets::rest::move() noexcept {
  while (begin != end) {
    const ssize_t n =
        ::send(fd.get(), bytes.get() + begin, end - begin, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      return (errno != EAGAIN && errno != ENOBUFS && errno != ENOMEM) || clock::now() > until;
    begin += static_cast<std::size_t>(n);
  }
  return true;
}

unsigned lingering_sockets::move() noexcept {
  unsigned events = 0;
  for (auto it = all_.begin(); it != all_.end();) {
    const std::size_t before = it->begin;
    const bool over = it->move();
    events += over || it->begin != before ? 1 : 0;
    it = over ? all_.erase(it) : std::next(it);
  }
  return events;
}

void lingering_sockets::finish() noexcept {
  for (move(); !all_.empty(); move()) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(all_.back().until - clock::now());
    pollfd sockets[most];
    nfds_t count = 0;
    for (const rest& r : all_) sockets[count++] = {r.fd.get(), POLLOUT, 0};
    if (left.count() > 0) ::poll(sockets, count, static_cast<int>(left.count()));
  }
}

}  // namespace weft::transports::tcp
