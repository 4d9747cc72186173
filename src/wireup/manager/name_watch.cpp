// SPDX-License-Identifier: Apache-2.0
#include "wireup/manager/name_watch.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <utility>

#include "runtime/descriptors/fd.hpp"

namespace weft::wireup {

name_watch::name_watch(loop& on, std::string path, std::function<void()> lost)
    : path_(std::move(path)),
      which_(runtime::file_identity::of(path_)),
      lost_(std::move(lost)),
      events_(on.io()) {
  unique_fd fd(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  // The socket keeps its inode, so its end tells nothing: but the number of its names does.
  if (!fd || ::inotify_add_watch(fd.get(), path_.c_str(), IN_ATTRIB | IN_MOVE_SELF) < 0) return;
  asio::error_code fault;
  events_.assign(fd.get(), fault);
  if (!fault) fd.release();
}

void name_watch::start() {
  if (!events_.is_open()) return;
  look();  // it may be gone already
}

void name_watch::close() noexcept {
  asio::error_code ignored;
  events_.close(ignored);
}

void name_watch::wait() {
  events_.async_wait(asio::posix::descriptor_base::wait_read,
                     [self = shared_from_this()](const asio::error_code& fault) {
                       if (!fault && self->events_.is_open()) self->look();
                     });
}

void name_watch::look() {
  // Which events there were does not matter.
  std::array<std::byte, 4096> events;
  while (::read(events_.native_handle(), events.data(), events.size()) > 0) {
  }
  if (runtime::file_identity::of(path_) == which_) return wait();
  close();
  lost_();
}

}  // namespace weft::wireup
