// SPDX-License-Identifier: Apache-2.0
#include "runtime/trace/trace.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <new>
#include <string>
#include <system_error>

#include <weft/error.hpp>

#include "runtime/os/held_back_signal.hpp"

namespace weft::runtime {

namespace {

struct closer {
  void operator()(std::FILE* f) const noexcept { std::fclose(f); }
};
using file_handle = std::unique_ptr<std::FILE, closer>;

const char* name_of(trace::kind k) noexcept {
  switch (k) {
    case trace::kind::posted:
      return "posted";
    case trace::kind::sent:
      return "sent";
    case trace::kind::received:
      return "received";
    case trace::kind::unexpected:
      return "unexpected";
    case trace::kind::send_rendezvous:
      return "rendezvous send";
    case trace::kind::receive_rendezvous:
      return "rendezvous receive";
    case trace::kind::caller_sleeps:
    case trace::kind::progress_sleeps:
      return "asleep";
    case trace::kind::progress_polls:
      return "active";
    case trace::kind::state:
      return "state";
  }
  return "?";
}

bool of_progress_thread(trace::kind k) noexcept {
  return k == trace::kind::progress_sleeps || k == trace::kind::progress_polls;
}

/// The trace format counts in microseconds.
double microseconds(std::chrono::nanoseconds d) noexcept {
  return std::chrono::duration<double, std::micro>(d).count();
}

/// Equal for processes whose steady clocks are the same: those of one kernel, since it was booted,
/// and of one time namespace.
std::string name_of_clock() {
  std::string name;
  if (std::ifstream boot("/proc/sys/kernel/random/boot_id"); !std::getline(boot, name))
    name.clear();
  std::error_code unknown;
  const auto of_namespace = std::filesystem::read_symlink("/proc/self/ns/time", unknown);
  return unknown ? name : name + " " + of_namespace.string();
}

/// What is to be added to a time of the steady clock for the time of day, in microseconds.
double time_of_day() {
  return microseconds(std::chrono::system_clock::now().time_since_epoch()) -
         microseconds(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace

trace::~trace() {
  if (!events_) return;
  held_back_signal too_large(SIGXFSZ);
  if (write()) return;
  too_large.drop();
  log_->error("the trace {} could not be written: {}", file_, std::strerror(errno));
}

void trace::open(std::string file, std::uint32_t rank, log_ptr reports) {
  // Checked now, while the user can still correct the setting.
  if (!file_handle(std::fopen(file.c_str(), "we")))
    throw error(errc::system,
                fmt::format("the trace \"{}\" cannot be written: {}. Set WEFT_TRACE to a file in a "
                            "directory that exists and is yours",
                            file, std::strerror(errno)));
  try {
    events_ = std::make_unique<event[]>(capacity);
  } catch (const std::bad_alloc&) {
    throw error(errc::out_of_memory, "no memory for the trace; unset WEFT_TRACE");
  }
  file_ = std::move(file);
  rank_ = rank;
  log_ = std::move(reports);
  on_ = true;
}

void trace::open_tree(const std::string& file, std::uint32_t rank, std::uint64_t messages) {
  tree_ = std::make_unique<call_tree>(file, rank, messages);
  on_ = true;
}

void trace::record_now(phase how, kind what, std::uint32_t peer, std::uint16_t id,
                       std::uint64_t size) noexcept {
  if (tree_) note(how, what, peer, size);
  if (!events_) return;
  record({std::chrono::steady_clock::now(), {}, size, peer, this_thread(), id, what, how});
}

/// A rendezvous is told by its frames.
void trace::note(phase how, kind what, std::uint32_t peer, std::uint64_t size) noexcept {
  if (how != phase::instant || what == kind::posted) return;  // of which the tree has a step
  if (what == kind::sent)
    tree_->end_message("sent to", {.peer = peer, .bytes = size});
  else if (what == kind::received)
    tree_->end_message("received from", {.peer = peer, .bytes = size});
  else
    tree_->note("unexpected, from", {.peer = peer, .bytes = size});
}

void trace::record_slice(kind what, moment from, moment until, std::uint64_t count) noexcept {
  if (tree_ && what != kind::progress_polls && count != 0) tree_->note_sleep(until - from, count);
  if (events_) record({from, until, count, 0, this_thread(), 0, what, phase::slice});
}

/// One system call per thread, not per event.
std::int32_t trace::this_thread() noexcept {
  static thread_local const std::int32_t id = ::gettid();
  return id;
}

void trace::record(const event& e) noexcept { events_[recorded_++ % capacity] = e; }

bool trace::write() const noexcept try {
  const file_handle out(std::fopen(file_.c_str(), "we"));
  if (!out) return false;
  const auto pid = ::getpid();
  const std::uint64_t first = recorded_ > capacity ? recorded_ - capacity : 0;
  fmt::print(out.get(),
             "{{\"otherData\":{{\"rank\":{},\"clock\":\"{}\",\"time_of_day_us\":{:.0f},"
             "\"overwritten_events\":{}}},\"traceEvents\":[\n",
             rank_, name_of_clock(), time_of_day(), first);

  std::map<std::int32_t, bool> threads;  // and whether each is the progress thread
  for (std::uint64_t i = first; i != recorded_; ++i) {
    const event& e = events_[i % capacity];
    threads[e.thread] |= of_progress_thread(e.what);
    const std::string head = fmt::format(
        "{{\"name\":\"{}\",\"cat\":\"weft\",\"pid\":{},\"tid\":{},\"ts\":{:.3f}",
        e.what == kind::state ? name_of(static_cast<progress_state>(e.size)) : name_of(e.what), pid,
        e.thread, microseconds(e.at.time_since_epoch()));
    switch (e.how) {
      case phase::instant:
        fmt::print(out.get(),
                   "{},\"ph\":\"i\",\"s\":\"t\",\"args\":{{\"peer\":{},\"bytes\":{}}}}},\n", head,
                   e.peer, e.size);
        break;
      case phase::begin:
        fmt::print(out.get(),
                   "{},\"ph\":\"b\",\"id2\":{{\"local\":\"{:#x}\"}},\"args\":{{\"peer\":{},"
                   "\"bytes\":{}}}}},\n",
                   head, std::uint64_t{e.peer} << 16 | e.id, e.peer, e.size);
        break;
      case phase::end:
        fmt::print(out.get(), "{},\"ph\":\"e\",\"id2\":{{\"local\":\"{:#x}\"}}}},\n", head,
                   std::uint64_t{e.peer} << 16 | e.id);
        break;
      case phase::slice:
        fmt::print(out.get(), "{},\"ph\":\"X\",\"dur\":{:.3f},\"args\":{{\"count\":{}}}}},\n", head,
                   microseconds(e.until - e.at), e.size);
        break;
    }
  }
  for (const auto& [thread, progress] : threads)
    fmt::print(out.get(),
               "{{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":"
               "\"{}\"}}}},\n",
               pid, thread,
               thread == no_thread ? "state of progress"
               : progress          ? "progress thread"
                                   : "application");
  fmt::print(
      out.get(),
      "{{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":{},\"args\":{{\"name\":\"weft\"}}}}\n]}}\n",
      pid);
  return std::fflush(out.get()) == 0 && std::ferror(out.get()) == 0;
} catch (const std::exception&) {
  return false;  // a full disk; fmt throws for it
}

}  // namespace weft::runtime
