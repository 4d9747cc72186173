// SPDX-License-Identifier: Apache-2.0
// weft-run as a child of a test.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "runtime/descriptors/fd.hpp"
#include "support/catch.hpp"

namespace weft::tests {

struct pipe_ends {
  pipe_ends() {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
    read = unique_fd(fds[0]);
    write = unique_fd(fds[1]);
  }
  unique_fd read, write;
};

/// A running weft-run. Its output is collected while the test waits.
class launcher {
 public:
  explicit launcher(std::vector<std::string> arguments, const std::string& input = {}) {
    pipe_ends in, out, err;
    arguments.insert(arguments.begin(), WEFT_TEST_BIN_DIR "/weft-run");
    std::vector<char*> argv;
    for (std::string& a : arguments) argv.push_back(a.data());
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(in.read.get(), 0);
      ::dup2(out.write.get(), 1);
      ::dup2(err.write.get(), 2);
      ::execv(argv[0], argv.data());
      ::_exit(99);
    }
    REQUIRE(pid_ > 0);
    REQUIRE(::write(in.write.get(), input.data(), input.size()) ==
            static_cast<ssize_t>(input.size()));
    streams_ = {stream{std::move(out.read), {}}, stream{std::move(err.read), {}}};
  }
  ~launcher() {
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  pid_t pid() const { return pid_; }
  const std::string& out() const { return streams_[0].text; }
  const std::string& err() const { return streams_[1].text; }
  void signal(int number) const { ::kill(pid_, number); }

  void wait_for_output(const std::string& text) { wait_for(text, 0); }
  /// The same for the standard error.
  void wait_for_errors(const std::string& text) { wait_for(text, 1); }

  /// The exit status, after all output was read.
  int wait() {
    while (collect()) {
    }
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }

 private:
  struct stream {
    unique_fd fd;
    std::string text;
  };

  void wait_for(const std::string& text, std::size_t in) {
    while (streams_[in].text.find(text) == std::string::npos)
      if (!collect()) throw std::runtime_error("ended without saying " + text + ":\n" + err());
  }

  /// False at the end of both streams.
  bool collect() {
    std::array<pollfd, 2> ready{pollfd{streams_[0].fd.get(), POLLIN, 0},
                                pollfd{streams_[1].fd.get(), POLLIN, 0}};
    if (!streams_[0].fd && !streams_[1].fd) return false;
    if (::poll(ready.data(), 2, 60000) == 0) throw std::runtime_error("nothing happens");
    for (std::size_t i = 0; i < 2; ++i) {
      if (ready[i].revents == 0) continue;
      std::array<char, 65536> buffer;
      const ssize_t n = ::read(streams_[i].fd.get(), buffer.data(), buffer.size());
      if (n > 0)
        streams_[i].text.append(buffer.data(), static_cast<std::size_t>(n));
      else
        streams_[i].fd = unique_fd();
    }
    return true;
  }

  pid_t pid_ = -1;
  std::array<stream, 2> streams_;
};

inline std::vector<std::string> shell(std::vector<std::string> options, const std::string& script) {
  options.insert(options.end(), {"sh", "-c", script});
  return options;
}

}  // namespace weft::tests
