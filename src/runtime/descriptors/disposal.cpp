// SPDX-License-Identifier: Apache-2.0
#include "runtime/descriptors/disposal.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <vector>

#include "runtime/descriptors/ending_thread.hpp"
#include "runtime/os/own_thread.hpp"

namespace weft::runtime {

namespace {

// Memory that is freed within some tens of microseconds.
constexpr std::size_t little = std::size_t{1} << 20;
// How long the destructor waits for threads that are nearly done.
constexpr auto moment = std::chrono::milliseconds(100);
// More packets than this find no room in a socket's queue.
constexpr int most_packets = 4096;

/// Memory files have seals, and no call on them waits. On no other file fstat may be called: a file
/// system in user space could hold the answer back.
bool is_memory_file(int fd) noexcept { return ::fcntl(fd, F_GET_SEALS) >= 0; }

/// Never blocks either, for any kind of file.
bool is_socket(int fd) noexcept {
  int family = 0;
  socklen_t size = sizeof family;
  return ::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size) == 0;
}

bool is_little(int memory_file) noexcept {
  struct stat info {};
  return ::fstat(memory_file, &info) == 0 &&
         static_cast<std::size_t>(info.st_blocks) <= little / 512;
}

}  // namespace

struct disposal::work {
  int fd = -1;
  void* at = nullptr;
  std::size_t size = 0;

  void run() const noexcept {
    if (at)
      ::munmap(at, size);
    else if (is_socket(fd))
      close_by_ending_thread(fd);
    else
      ::close(fd);
  }
};

struct disposal::line {
  explicit line(unsigned m) noexcept : most(m) {}

  const unsigned most;
  unsigned threads = 0;
  std::vector<work> waiting;
};

struct disposal::state {
  std::mutex mutex;
  std::condition_variable ended;
  line blocks{most_threads};  // what may block for ever
  line lasts{1};              // what takes long, and ends

  void run(line& of) noexcept {
    for (std::unique_lock lock(mutex);;) {
      if (of.waiting.empty()) {
        --of.threads;
        ended.notify_all();
        return;
      }
      const work next = of.waiting.back();
      of.waiting.pop_back();
      lock.unlock();
      next.run();
      lock.lock();
    }
  }
};

disposal::disposal() : state_(std::make_shared<state>()) {}

disposal::~disposal() {
  std::unique_lock lock(state_->mutex);
  state_->ended.wait_for(lock, moment,
                         [this] { return state_->blocks.threads + state_->lasts.threads == 0; });
}

void disposal::close(int fd) noexcept {
  if (!is_memory_file(fd))
    add(state_->blocks, {fd, nullptr, 0});
  else if (is_little(fd))
    ::close(fd);
  else
    add(state_->lasts, {fd, nullptr, 0});
}

void disposal::hang_up(int socket) noexcept {
  if (shut_down(socket))
    ::close(socket);
  else
    add(state_->blocks, {socket, nullptr, 0});
}

/// Discards the packets in front of the first one with descriptors. Takes none out: for a
/// descriptor without a number here the kernel would do the last close, on this thread.
bool disposal::shut_down(int socket) noexcept {
  ::shutdown(socket, SHUT_RDWR);  // nothing comes in from here on
  // With each packet comes its sender's identity, for which there is room: so the end differs from
  // a packet of no bytes.
  const int on = 1;
  if (::setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) return false;
  for (int n = 0; n != most_packets; ++n) {
    alignas(cmsghdr) std::byte control[CMSG_SPACE(sizeof(ucred))];
    msghdr message{};
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    if (::recvmsg(socket, &message, MSG_PEEK | MSG_DONTWAIT) < 0) {
      if (errno == EINTR || errno == ECONNRESET) continue;  // a reset is reported once
      return false;
    }
    if ((message.msg_flags & MSG_CTRUNC) != 0) return false;
    if (message.msg_controllen == 0) return true;
    static_cast<void>(::recv(socket, nullptr, 0, MSG_DONTWAIT));
  }
  return false;
}

void disposal::stop_listening(int socket) noexcept {
  ::shutdown(socket, SHUT_RDWR);  // no client connects from here on
  for (;;) {
    const int client = ::accept4(socket, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (client >= 0)
      hang_up(client);
    else if (errno != EINTR)
      break;
  }
  const bool is_empty = errno == EINVAL || errno == EAGAIN;
  if (is_empty)
    ::close(socket);
  else
    add(state_->blocks, {socket, nullptr, 0});
}

void disposal::unmap(void* at, std::size_t size) noexcept {
  if (size <= little)
    ::munmap(at, size);
  else
    add(state_->lasts, {-1, at, size});
}

bool disposal::is_saturated() noexcept {
  const std::lock_guard lock(state_->mutex);
  line& of = state_->blocks;
  if (of.waiting.size() <= most_waiting) return false;
  try {
    start_thread(of);
  } catch (const std::exception&) {
    // The next call may find one.
  }
  return true;
}

/// Without memory or a thread the descriptor or mapping is left open: that is better than to block
/// here.
void disposal::add(line& to, const work& w) noexcept {
  try {
    const std::lock_guard lock(state_->mutex);
    to.waiting.push_back(w);
    start_thread(to);
  } catch (const std::exception&) {
    // The next call may find some.
  }
}

/// Unless there are as many as may be. With the mutex held. \throws weft::error
void disposal::start_thread(line& of) {
  if (of.threads == of.most) return;
  start_own_thread("weft-disposal", "thread that closes what peers sent", [s = state_, &of] {
    s->run(of);
  }).detach();
  ++of.threads;
}

}  // namespace weft::runtime
