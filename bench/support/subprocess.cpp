// SPDX-License-Identifier: Apache-2.0
#include "support/subprocess.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <system_error>
#include <utility>

namespace weft::bench {
namespace {

constexpr std::chrono::seconds time_for_dump{2}, time_for_end{3};

class unique_fd {
 public:
  unique_fd() = default;
  explicit unique_fd(int fd) noexcept : fd_(fd) {}
  unique_fd(unique_fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  unique_fd& operator=(unique_fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~unique_fd() { close(); }
  int get() const noexcept { return fd_; }
  void close() noexcept {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

std::pair<unique_fd, unique_fd> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::system_category(), "pipe");
  return {unique_fd(ends[0]), unique_fd(ends[1])};
}

/// This process's environment with the changes of `what`.
std::vector<std::string> environment_of(const command& what) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!what.environment.contains(std::string(text.substr(0, text.find('=')))))
      merged.emplace_back(text);
  }
  for (const auto& [name, value] : what.environment) merged.push_back(name + '=' + value);
  return merged;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (auto& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// Reads the available bytes; closes `from` at its end.
void drain(unique_fd& from, std::string& into) {
  std::array<char, 16384> block;
  const auto n = ::read(from.get(), block.data(), block.size());
  if (n > 0) into.append(block.data(), static_cast<std::size_t>(n));
  if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) from.close();
}

std::string last_lines(const std::string& text, std::size_t count) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (line.find_first_not_of(" \t-=*") != std::string::npos) lines.push_back(line);
  if (lines.size() > count) lines.erase(lines.begin(), lines.end() - static_cast<long>(count));
  return fmt::format("{}", fmt::join(lines, "\n"));
}

}  // namespace

std::string command::text() const {
  std::string result;
  for (const auto& [name, value] : environment) result += name + '=' + value + ' ';
  return result + fmt::format("{}", fmt::join(argv, " "));
}

std::string command_result::reason() const {
  if (ok()) return {};
  if (dump_at && err.size() > *dump_at)
    return "did not finish in time; what it waited for:\n" + err.substr(*dump_at);
  // Launchers print two dozen lines after those of the program.
  const std::string said = last_lines(err.empty() ? out : err, 30);
  const std::string how = timed_out      ? std::string("did not finish in time")
                          : status > 128 ? fmt::format("died by signal {} ({})", status - 128,
                                                       ::strsignal(status - 128))
                                         : fmt::format("exit code {}", status);
  return said.empty() ? how : how + "; it said:\n" + said;
}

command_result run_command(const command& what, std::chrono::milliseconds limit,
                           std::optional<std::chrono::milliseconds> silence) {
  auto [out_read, out_write] = make_pipe();
  auto [err_read, err_write] = make_pipe();
  auto arguments = what.argv;
  auto argv = pointers(arguments);
  auto variables = environment_of(what);
  auto envp = pointers(variables);

  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) throw std::system_error(errno, std::system_category(), "fork");
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(127);
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(out_write.get(), STDOUT_FILENO);
    ::dup2(err_write.get(), STDERR_FILENO);
    ::execvpe(argv[0], argv.data(), envp.data());
    const std::string message = fmt::format("cannot start {}: {}\n", argv[0], std::strerror(errno));
    [[maybe_unused]] const auto n = ::write(STDERR_FILENO, message.data(), message.size());
    ::_exit(127);
  }
  out_write.close();
  err_write.close();

  command_result result;
  using clock = std::chrono::steady_clock;
  auto end = clock::now() + limit, heard = clock::now();
  enum class stage { running, dumping, ending } now = stage::running;
  while (out_read.get() >= 0 || err_read.get() >= 0) {
    const auto until = silence && !result.timed_out ? std::min(end, heard + *silence) : end;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now());
    if (left.count() <= 0) {
      result.timed_out = true;
      if (now == stage::ending) {
        ::kill(pid, SIGKILL);
        break;
      }
      if (now == stage::running && what.dump_signal != 0) {
        now = stage::dumping;
        end = clock::now() + time_for_dump;
        result.dump_at = result.err.size();
        ::kill(pid, what.dump_signal);
      } else {
        now = stage::ending;
        end = clock::now() + time_for_end;
        ::kill(pid, SIGTERM);
      }
      continue;
    }
    pollfd ready[2] = {{out_read.get(), POLLIN, 0}, {err_read.get(), POLLIN, 0}};
    if (::poll(ready, 2, static_cast<int>(std::min<long>(left.count(), 1000))) <= 0) continue;
    heard = clock::now();
    if (ready[0].revents != 0) drain(out_read, result.out);
    if (ready[1].revents != 0) drain(err_read, result.err);
  }

  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

background_command::background_command(const command& what) {
  auto arguments = what.argv;
  auto argv = pointers(arguments);
  auto variables = environment_of(what);
  auto envp = pointers(variables);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) throw std::system_error(errno, std::system_category(), "fork");
  if (pid_ > 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, fd);
  ::execvpe(argv[0], argv.data(), envp.data());
  ::_exit(127);
}

background_command::~background_command() {
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::optional<std::filesystem::path> find_program(const std::string& program) {
  const auto executable = [](const std::filesystem::path& path) {
    return ::access(path.c_str(), X_OK) == 0 && !std::filesystem::is_directory(path);
  };
  if (program.find('/') != std::string::npos)
    return executable(program) ? std::optional<std::filesystem::path>(program) : std::nullopt;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const auto candidate = std::filesystem::path(folder) / program; executable(candidate))
      return candidate;
  return std::nullopt;
}

}  // namespace weft::bench
