// SPDX-License-Identifier: Apache-2.0
#include "jobs/crowd.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace weft::bench {
namespace {

constexpr char connect_word = 'c';
constexpr char greet_word = 'g';

struct one {
  std::unique_ptr<context> ctx;
  std::vector<endpoint> peers = {};
};

task<void> greet_all(const one& who) {
  std::array<std::byte, 8> word{};
  for (const endpoint& peer : who.peers) {
    co_await peer.send(word, data_tag);
    co_await peer.recv(word, data_tag);
  }
}

/// The crowd's side of the socket: a request is a packet, and so is its answer; an empty text means
/// "done".
void serve(int line, std::size_t contexts, const settings& chosen) {
  std::vector<one> all(contexts);
  std::array<char, 512> text;
  for (;;) {
    const ssize_t n = ::recv(line, text.data(), text.size(), 0);
    if (n <= 0) return;
    std::string answer = "done";
    try {
      for (one& who : all) {
        if (!who.ctx) who.ctx = std::make_unique<context>(options_of(chosen));
        if (text[0] == connect_word)
          who.peers.push_back(
              run(*who.ctx,
                  who.ctx->connect(std::string(text.data() + 1, static_cast<std::size_t>(n) - 1))));
        else
          run(*who.ctx, greet_all(who));
      }
    } catch (const std::exception& error) {
      answer = error.what();
    }
    ::send(line, answer.data(), answer.size(), MSG_NOSIGNAL);
  }
}

}  // namespace

void allow_many_files() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

crowd::crowd(std::size_t contexts, const settings& chosen) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::system_error(errno, std::system_category(), "socketpair");
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::close(ends[0]);
    int code = 0;
    try {
      serve(ends[1], contexts, chosen);
    } catch (...) {
      code = 1;
    }
    ::_exit(code);
  }
  const int failure = errno;
  ::close(ends[1]);
  line_ = ends[0];
  if (pid_ < 0) {
    ::close(line_);
    throw std::system_error(failure, std::system_category(), "fork");
  }
}

crowd::~crowd() {
  ::close(line_);
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void crowd::ask(char what, const std::string& more) {
  const std::string text = what + more;
  if (::send(line_, text.data(), text.size(), MSG_NOSIGNAL) < 0)
    throw std::system_error(errno, std::system_category(), "the crowd of idle peers is gone");
}

void crowd::connect(const std::string& address) { ask(connect_word, address); }

void crowd::greet() { ask(greet_word, {}); }

void crowd::wait() {
  std::array<char, 512> text;
  ssize_t n = 0;
  do {
    n = ::recv(line_, text.data(), text.size(), 0);
  } while (n < 0 && errno == EINTR);
  const std::string_view answer(text.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
  if (answer == "done") return;
  throw std::runtime_error(fmt::format("the crowd of idle peers failed: {}",
                                       n > 0 ? std::string(answer) : std::string("it died")));
}

}  // namespace weft::bench
