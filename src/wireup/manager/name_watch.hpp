// SPDX-License-Identifier: Apache-2.0
// Notices that the file of a socket is removed under its process.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "runtime/descriptors/socket_folder.hpp"
#include "wireup/loop/loop.hpp"

namespace weft::wireup {

/// Watches the name of a socket in a folder (options::socket_dir), which others may remove: a
/// program that cleans up old files, or an operator who takes the folder for that of another job.
/// Peers do not find the process any more then, nor the bells that lie beside its name, and waits
/// would last for ever without a word. The kernel tells of it (inotify), so that nothing is polled.
/// Where it has no instance left for that, nothing is noticed. On the loop's thread, once that
/// runs.
class name_watch : public std::enable_shared_from_this<name_watch> {
 public:
  /// \param path of the socket, which is there
  /// \param lost called once, when another file has that name, or none has
  name_watch(loop& on, std::string path, std::function<void()> lost);

  void start();
  /// Before the process removes the file itself.
  void close() noexcept;

 private:
  void wait();
  void look();

  const std::string path_;
  const runtime::file_identity which_;
  std::function<void()> lost_;
  asio::posix::stream_descriptor events_;
};

}  // namespace weft::wireup
