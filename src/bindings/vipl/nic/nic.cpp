// SPDX-License-Identifier: Apache-2.0
// A NIC's life, and what was made from it. Its calls are in nic_calls.cpp.
#include "bindings/vipl/nic/nic.hpp"

#include <sys/random.h>

#include <algorithm>
#include <new>
#include <utility>

#include "bindings/vipl/base/host_names.hpp"
#include "bindings/vipl/nic/nic_operations.hpp"
#include "bindings/vipl/vi/connecting.hpp"
#include "bindings/vipl/vi/vi.hpp"

namespace weft::vipl {

namespace {

options options_of_nic() {
  options o = options::from_environment();
  o.standalone = true;
  return o;
}

std::uint64_t draw_secret() {
  std::uint64_t secret = 0;
  if (::getrandom(&secret, sizeof secret, 0) != sizeof secret)
    throw error(errc::system, "getrandom gave no bytes for the keys of registered memory");
  return secret;
}

}  // namespace

time_point deadline_of(VIP_ULONG timeout) noexcept {
  if (timeout >= VIP_INFINITE) return time_point::max();
  return std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout);
}

nic::nic(std::string name)
    : name_(std::move(name)),
      address_(address_of_this_host()),
      secret_(draw_secret()),
      context_(std::in_place, options_of_nic()),
      loop_(*context_) {
  inbound_ =
      context_->on_inline(am{handler_number}, [this](const inline_call& c) { on_message(c); });
  service_.start([this] { wait(time_point::max(), [this] { return service_.wanted(); }); },
                 [this] { visit(); });
}

nic::~nic() {
  set_error_handler(nullptr, nullptr);
  while (!vis_.empty()) {
    vi* last = nullptr;
    {
      const locked lock(*this);
      while (!vis_.empty() && !vis_.back()) vis_.pop_back();
      if (!vis_.empty()) last = vis_.back();
    }
    if (!last) break;
    last->disconnect();
    const locked lock(*this);
    delete last;
  }
  service_.end();
  {
    const locked lock(*this);
    note_event();  // it may be the thread that waits
  }
  service_.join();  // callbacks may have used the queues until now
  queues.clear();
  requests.clear();
  listeners_.clear();
  inbound_ = {};
  memory.release_all();
}

/// A call of the error handler.
class nic::report final : public service::job {
 public:
  explicit report(nic& n) noexcept : nic_(n) {}
  void run() override {
    handler(context, &what);
    nic_.reports_.fetch_sub(1);
  }

  VIP_ERROR_DESCRIPTOR what{};
  VIP_ERROR_HANDLER handler = nullptr;
  VIP_PVOID context = nullptr;

 private:
  nic& nic_;
};

void nic::raise(const VIP_ERROR_DESCRIPTOR& e) noexcept {
  if (!error_handler_) return;
  std::unique_ptr<service::job> next(new (std::nothrow) report(*this));
  if (!next) next = std::move(last_report_);
  if (!next) return;
  auto& r = static_cast<report&>(*next);
  r.what = e;
  r.handler = error_handler_;
  r.context = error_context_;
  reports_.fetch_add(1);
  run_soon(std::move(next));
}

void nic::run_soon(std::unique_ptr<service::job> job) noexcept {
  service_.add(std::move(job));
  note_event();  // its thread may be the one that waits
}

std::uint32_t nic::add(vi& v) {
  std::size_t slot = 0;
  while (slot != vis_.size() && vis_[slot]) ++slot;
  if (slot == most_vis) return 0;
  if (slot == vis_.size()) {
    to_settle_.reserve(slot + 1);
    uses_.resize(slot + 1);
    vis_.push_back(nullptr);
  }
  vis_[slot] = &v;
  return std::uint32_t{++uses_[slot]} << 16 | static_cast<std::uint32_t>(slot + 1);
}

void nic::remove(vi& v) noexcept {
  std::replace(vis_.begin(), vis_.end(), &v, static_cast<vi*>(nullptr));
  to_settle_.erase_if([&v](const vi* other) { return other == &v; });
}

vi* nic::find(std::uint32_t number) const noexcept {
  const std::size_t slot = (number & 0xffff) - std::size_t{1};
  if (slot >= vis_.size() || uses_[slot] != number >> 16) return nullptr;
  return vis_[slot];
}

void nic::set_error_handler(VIP_ERROR_HANDLER handler, VIP_PVOID context) noexcept {
  int change = 0;
  std::unique_ptr<service::job> spare(new (std::nothrow) report(*this));
  {
    const locked lock(*this);
    if (handler && spare) last_report_.swap(spare);
    change = (handler != nullptr) - (error_handler_ != nullptr);
    error_handler_ = handler;
    error_context_ = context;
  }
  if (change != 0) service_.attend(change);
}

std::shared_ptr<listener> nic::listener_at(const std::string& where) {
  const std::lock_guard lock(listeners_mutex_);
  std::shared_ptr<listener>& known = listeners_[where];
  if (!known) {
    try {
      known = std::make_shared<listener>(
          blocking<listener>().run(context_->listen(where), time_point::max()));
    } catch (...) {
      listeners_.erase(where);
      throw;
    }
  }
  return known;
}

}  // namespace weft::vipl
