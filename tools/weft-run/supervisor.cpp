// SPDX-License-Identifier: Apache-2.0
#include "supervisor.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "runtime/os/errno_hint.hpp"

namespace weft::run {

namespace {

// The time for output of children that a rank left behind.
constexpr auto time_for_orphans = std::chrono::milliseconds(500);

constexpr auto time_for_dumps = std::chrono::milliseconds(500);

std::chrono::steady_clock::duration seconds(double count) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(count));
}

unique_fd must(int fd, const char* what) {
  if (fd < 0) throw std::system_error(errno, std::system_category(), what);
  return unique_fd(fd);
}

bool has_ended(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid;
}

}  // namespace

supervisor::supervisor(const options& chosen, const runtime::inherited_state& inherited)
    : chosen_(chosen),
      inherited_(inherited),
      own_groups_(chosen.ranks > 1),
      out_(
          io_, STDOUT_FILENO, [this] { end_if_done(); }, [this](int fault) { on_lost(fault); }),
      err_(
          io_, STDERR_FILENO, [this] { end_if_done(); },
          [this](int) { output_lost_ = true; }),  // and no place to report it
      directory_(chosen.ranks),
      ranks_(chosen.ranks),
      signals_(io_),
      grace_(io_),
      time_(io_) {
  if (chosen_.bind) cores_ = usable_cores();
  // Two pipes and a connection for each rank.
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  if (!chosen_.output.empty()) std::filesystem::create_directories(chosen_.output);
  no_input_ = must(::open("/dev/null", O_RDONLY | O_CLOEXEC), "/dev/null");
}

int supervisor::run() {
  watch_signals();
  if (start_all()) {
    relay_end_ = unique_fd();
    end_in_time();
  } else {
    kill_later();
    pass_on(SIGKILL);
  }
  reap();
  end_if_done();
  io_.run();
  return status_ == 0 && output_lost_ ? 1 : status_;
}

// Starting.

bool supervisor::start_all() {
  for (std::uint32_t i = 0; i < chosen_.ranks; ++i)
    if (!start_one(i)) return false;
  return true;
}

bool supervisor::start_one(std::uint32_t number) {
  launch what;
  what.command = chosen_.command;
  what.environment = {fmt::format("WEFT_RANK={}", number),
                      fmt::format("WEFT_SIZE={}", chosen_.ranks),
                      fmt::format("WEFT_LOCAL_SIZE={}", chosen_.ranks),
                      fmt::format("WEFT_JOB={}", directory_.environment())};
  if (!chosen_.call_tree.empty()) {
    what.environment.push_back(fmt::format("WEFT_CALL_TREE={}", chosen_.call_tree));
    what.environment.push_back(
        fmt::format("WEFT_CALL_TREE_MESSAGES={}", chosen_.call_tree_messages));
  }
  if (!chosen_.trace.empty())
    what.environment.push_back(fmt::format("WEFT_TRACE={}", chosen_.trace));
  what.own_group = own_groups_;
  if (!cores_.empty()) what.core = cores_[number % cores_.size()];
  what.input = input_of(number);
  rank& r = ranks_[number];
  unique_fd output, errors;
  if (!chosen_.output.empty()) {
    output = make_file(number, "out");
    errors = make_file(number, "err");
    what.output = output.get();
    what.errors = errors.get();
  } else if (chosen_.label || own_groups_) {
    // A single rank without labels uses the terminal directly.
    output = make_reader(number, out_, r.output);
    errors = make_reader(number, err_, r.errors);
    what.output = output.get();
    what.errors = errors.get();
  }

  int fault = 0;
  r.pid = start(what, inherited_, fault);
  if (r.pid > 0) {
    r.living = true;
    ++living_;
    return true;
  }
  const std::string& program = chosen_.command.front();
  const bool missing = fault == ENOENT;
  const bool path = program.find('/') != std::string::npos;
  const bool short_of = fault == EMFILE || fault == ENFILE || fault == ENOMEM;
  say(fmt::format("cannot start '{}': {}{}", program, std::strerror(fault),
                  short_of ? fmt::format("; {}", runtime::errno_hint(fault))
                  : !missing || path
                      ? ""
                      : fmt::format("; it is not on the PATH. Is './{}' meant?", program)));
  status_ = missing ? 127 : 126;
  return false;
}

unique_fd supervisor::make_reader(std::uint32_t number, sink& to,
                                  std::shared_ptr<line_reader>& reader) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::system_category(), "pipe");
  unique_fd read(ends[0]), write(ends[1]);
  ++open_readers_;
  reader = std::make_shared<line_reader>(
      io_, std::move(read), to, chosen_.label ? make_label(number, to.coloured()) : std::string(),
      [this] {
        --open_readers_;
        end_if_done();
      });
  reader->start();
  return write;
}

unique_fd supervisor::make_file(std::uint32_t number, const char* kind) const {
  const std::string name = fmt::format("{}/rank.{}.{}", chosen_.output, number, kind);
  const int from = ranks_[number].restarts == 0 ? O_TRUNC : O_APPEND;
  return must(::open(name.c_str(), O_WRONLY | O_CREAT | from | O_CLOEXEC, 0666), name.c_str());
}

int supervisor::input_of(std::uint32_t number) {
  if (number > 0) return no_input_.get();
  if (!own_groups_ || ::isatty(STDIN_FILENO) != 1) return -1;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::system_category(), "pipe");
  relay_end_ = unique_fd(ends[0]);
  unique_fd write(ends[1]);
  relay_ = std::make_shared<input_relay>(
      io_, must(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), "dup"), std::move(write));
  relay_->start();
  return relay_end_.get();
}

void supervisor::say(const std::string& text) { err_.write(fmt::format("weft-run: {}\n", text)); }

void supervisor::on_lost(int fault) {
  output_lost_ = true;
  say(
      fmt::format("standard output cannot be written: {}; the ranks go on, what they print from "
                  "here on is lost",
                  std::strerror(fault)));
}

// Signals.

void supervisor::watch_signals() {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (int number : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT})
    sigaddset(&wanted, number);
  ::sigprocmask(SIG_BLOCK, &wanted, nullptr);
  // Output that cannot be written is an error, and not weft-run's end: the reader has gone, or the
  // limit on file size is reached.
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
  signals_.assign(must(::signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC), "signalfd").release());
  const auto wait = [this](const auto& again) -> void {
    signals_.async_wait(
        asio::posix::descriptor_base::wait_read, [this, again](const asio::error_code& fault) {
          if (fault) return;
          signalfd_siginfo info{};
          while (signals_.is_open() &&
                 ::read(signals_.native_handle(), &info, sizeof info) == sizeof info)
            on_signal(static_cast<int>(info.ssi_signo), info.ssi_code == SI_KERNEL);
          if (signals_.is_open()) again(again);
        });
  };
  wait(wait);
}

void supervisor::on_signal(int number, bool from_terminal) {
  switch (number) {
    case SIGCHLD:
      return reap();
    case SIGTSTP:
      return stop_with_ranks();
    case SIGINT:
    case SIGTERM:
      if (std::exchange(interrupted_, true)) {
        say("asked to end again: the ranks are killed");
        killing_ = true;
        return pass_on(SIGKILL);
      }
      break;
    default:
      break;
  }
  if (number != SIGCONT && number != SIGUSR1 && number != SIGUSR2) passed_on_ = number;
  // A rank without its own process group has the signal from the terminal already.
  if (own_groups_ || !from_terminal) pass_on(number);
}

void supervisor::pass_on(int number) {
  for (const rank& r : ranks_)
    if (r.living) ::kill(own_groups_ ? -r.pid : r.pid, number);
}

void supervisor::stop_with_ranks() {
  if (own_groups_) pass_on(SIGTSTP);
  ::raise(SIGSTOP);
}

// Ends.

void supervisor::reap() {
  for (std::uint32_t i = 0; i < ranks_.size(); ++i) {
    rank& r = ranks_[i];
    if (!r.living || !has_ended(r.pid)) continue;
    // Kill the processes that it left running, before the pid is released, so that the pid names no
    // other process.
    if (own_groups_) ::kill(-r.pid, SIGKILL);
    int status = 0;
    ::waitpid(r.pid, &status, 0);
    r.living = false;
    --living_;
    on_rank_end(i, status);
  }
  if (living_ > 0) return;
  // Ranks that lose a peer fail as well, and what they print hides the cause.
  if (later_failures_ > 0 && !first_failure_.empty())
    say(fmt::format("the first of {} failures: {}", later_failures_ + 1, first_failure_));
  when_all_ended();
}

void supervisor::on_rank_end(std::uint32_t number, int status) {
  const bool killed = WIFSIGNALED(status);
  const int exit_status = killed ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  directory_.ended(number, exit_status != 0);
  if (exit_status == 0) return;
  // An end that weft-run itself caused is not reported.
  const int signal = killed ? WTERMSIG(status) : 0;
  const bool ours = killed && (signal == passed_on_ || timed_out_ ||
                               (killing_ && (signal == SIGTERM || signal == SIGKILL)) ||
                               (signal == SIGPIPE && (out_.broken() || err_.broken())));
  std::string text;
  if (killed && !ours)
    text =
        fmt::format("rank {} (pid {}) was killed by signal {} ({}{})", number, ranks_[number].pid,
                    signal, ::strsignal(signal), WCOREDUMP(status) ? ", core dumped" : "");
  if (!killed)
    text = fmt::format("rank {} (pid {}) ended with status {}", number, ranks_[number].pid,
                       exit_status);
  if (!ours && may_restart(number)) {
    rank& r = ranks_[number];
    say(fmt::format("{}, and is started again ({} of {} times)", text, ++r.restarts,
                    chosen_.restarts));
    if (start_one(number)) return;
  }
  if (!text.empty() && !chosen_.output.empty())
    text += fmt::format("; see {}/rank.{}.err", chosen_.output, number);
  if (!text.empty()) say(text);
  on_failure(number, exit_status, std::move(text));
}

/// Only rank 0 can let it in.
bool supervisor::may_restart(std::uint32_t number) const noexcept {
  return number != 0 && ranks_[number].restarts < chosen_.restarts && ranks_[0].living &&
         !interrupted_ && !killing_ && !timed_out_;
}

void supervisor::on_failure(std::uint32_t number, int exit_status, std::string text) {
  if (status_ != 0) {
    if (!text.empty()) ++later_failures_;
    return;
  }
  status_ = exit_status;
  first_failure_ = std::move(text);
  if (!chosen_.kill_on_failure || living_ == 0) return;
  say(fmt::format("rank {} failed: the others are asked to end, and killed after {} seconds",
                  number, chosen_.grace));
  pass_on(SIGTERM);
  kill_later();
}

void supervisor::kill_later() {
  killing_ = true;
  grace_.expires_after(seconds(chosen_.grace));
  grace_.async_wait([this](const asio::error_code& fault) {
    if (!fault) pass_on(SIGKILL);
  });
}

void supervisor::end_in_time() {
  if (chosen_.timeout == 0) return;
  time_.expires_after(seconds(chosen_.timeout));
  time_.async_wait([this](const asio::error_code& fault) {
    if (!fault && living_ > 0) on_timeout();
  });
}

/// The ranks get a moment to say what they wait for.
void supervisor::on_timeout() {
  if (status_ == 0) status_ = 124;
  timed_out_ = true;
  say(fmt::format("{} of {} ranks still run after {} seconds (--timeout), and are ended", living_,
                  ranks_.size(), chosen_.timeout));
  passed_on_ = SIGQUIT;
  pass_on(SIGQUIT);
  time_.expires_after(time_for_dumps);
  time_.async_wait([this](const asio::error_code& fault) {
    if (fault) return;
    passed_on_ = SIGTERM;
    pass_on(SIGTERM);
    kill_later();
  });
}

void supervisor::when_all_ended() {
  if (open_readers_ == 0) return end_if_done();
  grace_.expires_after(time_for_orphans);
  grace_.async_wait([this](const asio::error_code& fault) {
    if (fault) return;
    for (const rank& r : ranks_) {
      if (r.output) r.output->finish();
      if (r.errors) r.errors->finish();
    }
  });
}

void supervisor::end_if_done() {
  for (const rank& r : ranks_) {
    if (r.output && !out_.full()) r.output->resume();
    if (r.errors && !err_.full()) r.errors->resume();
  }
  if (living_ > 0 || open_readers_ > 0 || !out_.idle() || !err_.idle()) return;
  grace_.cancel();
  time_.cancel();
  if (relay_) relay_->stop();
  asio::error_code ignored;
  signals_.close(ignored);
}

}  // namespace weft::run
