// SPDX-License-Identifier: Apache-2.0
#include "world.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "support/transports.hpp"

namespace fault {

using namespace std::chrono_literals;

namespace {

// No test takes a tenth of this, on a slow and loaded machine with a sanitizer.
constexpr auto hang_limit = 100s;

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  DIR* d = ::opendir(folder.c_str());
  if (!d) return names;
  while (const dirent* e = ::readdir(d))
    if (e->d_name[0] != '.') names.emplace_back(e->d_name);
  ::closedir(d);
  return names;
}

/// Whether the namespaces belong to this process only, so that its children made everything in
/// them.
bool alone = false;
/// Another network namespace of this process.
int other_network = -1;

/// The loopback of a new network namespace is down.
bool raise_loopback() {
  const int any = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq loopback{};
  std::strcpy(loopback.ifr_name, "lo");
  loopback.ifr_flags = IFF_UP;
  const bool up = any >= 0 && ::ioctl(any, SIOCSIFFLAGS, &loopback) == 0;
  ::close(any);
  return up;
}

std::string enter() {
  // This process becomes the parent of orphans, instead of init: no process that was left running
  // is missed.
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return "no subreaper";
  if (::unshare(CLONE_NEWNET | CLONE_NEWNS) != 0)
    return std::string("no namespaces of its own (") + std::strerror(errno) +
           "): leftover sockets and names are not looked for";
  if (!raise_loopback()) return std::string("no loopback: ") + std::strerror(errno);
  ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  if (::mount("tmpfs", "/dev/shm", "tmpfs", 0, "size=64m") != 0)
    return std::string("no /dev/shm of its own: ") + std::strerror(errno);
  alone = true;
  return {};
}

/// The abstract sockets of the network namespace that the calling thread is in.
std::string sockets_here() {
  std::ostringstream found;
  std::ifstream sockets("/proc/thread-self/net/unix");
  std::string line;
  std::getline(sockets, line);  // the heading
  while (std::getline(sockets, line)) found << "socket " << line << '\n';
  return found.str();
}

std::string look_for_leftovers() {
  std::ostringstream found;
  siginfo_t info{};
  while (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG) == 0 && info.si_pid != 0) {
    info = {};  // an orphan that has ended in the meantime
  }
  if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0)
    for (const std::string& task : names_in("/proc/self/task")) {
      std::ifstream children("/proc/self/task/" + task + "/children");
      for (pid_t pid = 0; children >> pid;) {
        std::ifstream comm("/proc/" + std::to_string(pid) + "/comm");
        std::string name;
        std::getline(comm, name);
        found << "process " << pid << " (" << name << ")\n";
      }
    }
  if (!alone) return found.str();
  found << sockets_here();
  if (other_network >= 0)
    std::thread([&] {
      if (::setns(other_network, CLONE_NEWNET) == 0) found << sockets_here();
    }).join();
  for (const std::string& name : names_in("/dev/shm")) found << "/dev/shm/" << name << '\n';
  return found.str();
}

}  // namespace

bool on_a_device() { return std::getenv("WEFT_TEST_TRANSPORT") != nullptr; }

const std::vector<std::string>& transports() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> found;
    for (const std::string& one : weft::tests::transports()) found.push_back("self," + one);
    return found;
  }();
  return all;
}

const std::string& enter_private_world() {
  static const std::string missing = enter();
  return missing;
}

std::string leftovers() {
  std::string found = look_for_leftovers();
  for (int i = 0; i < 500 && !found.empty(); ++i) {
    std::this_thread::sleep_for(10ms);
    found = look_for_leftovers();
  }
  return found;
}

void look_for_leftovers_in(int network) { other_network = network; }

std::size_t open_descriptors(pid_t of) {
  return names_in("/proc/" + (of == 0 ? "self" : std::to_string(of)) + "/fd").size();
}

std::size_t memory_of(pid_t pid, const std::string& line) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  std::size_t kib = 0;
  for (std::string word; file >> word;)
    if (word == line + ":") file >> kib;
  return kib;
}

program::program(std::vector<std::string> command, std::vector<std::string> environment) {
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  output_ = ::memfd_create("output", MFD_CLOEXEC);
  if (output_ < 0) throw std::runtime_error("memfd_create failed");
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // the child ends when the test is killed
    ::setpgid(0, 0);
    const int nothing = ::open("/dev/null", O_RDONLY);
    ::dup2(nothing, 0);
    ::dup2(output_, 1);
    ::dup2(output_, 2);
    for (std::string& variable : environment) ::putenv(variable.data());
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  if (pid_ < 0) throw std::runtime_error("fork failed");
  ::setpgid(pid_, pid_);
}

program::~program() {
  if (!ended_) {
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(output_);
}

std::vector<pid_t> program::children() const {
  const std::string own = std::to_string(pid_);
  std::ifstream list("/proc/" + own + "/task/" + own + "/children");
  std::vector<pid_t> all;
  for (pid_t pid = 0; list >> pid;) all.push_back(pid);
  return all;
}

bool program::has_ended() {
  int status = 0;
  if (!ended_ && ::waitpid(pid_, &status, WNOHANG) == pid_) {
    ended_ = true;
    status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  return ended_;
}

int program::wait() {
  if (eventually([this] { return has_ended(); })) return status_;
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  ended_ = true;
  return -1;
}

std::string program::output() const {
  std::string text;
  char part[4096];
  for (off_t at = 0;;) {
    const ssize_t n = ::pread(output_, part, sizeof part, at);
    if (n <= 0) return text;
    text.append(part, static_cast<std::size_t>(n));
    at += n;
  }
}

outcome run(std::vector<std::string> command, std::vector<std::string> environment) {
  program p(std::move(command), std::move(environment));
  const int status = p.wait();
  return {status, p.output()};
}

bool eventually(const std::function<bool()>& what) {
  const auto give_up = std::chrono::steady_clock::now() + hang_limit;
  while (!what()) {
    if (std::chrono::steady_clock::now() > give_up) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

std::size_t count(std::string_view text, std::string_view what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++n;
  return n;
}

}  // namespace fault
