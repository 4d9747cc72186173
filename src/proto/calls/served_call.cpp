// SPDX-License-Identifier: Apache-2.0
#include "proto/calls/served_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "proto/peer/peer.hpp"

namespace weft::proto {

using runtime::engine;

namespace {
// Short: it is assigned where there is no memory.
constexpr const char* handler_ended = "it has ended";
}  // namespace

served_call::served_call(const protocol_services& services, call_table& table, peer& from,
                         std::shared_ptr<call_handler> h, inbound_message* m,
                         const call_facts& what)
    : operation(&begun),
      services_(services),
      table_(table),
      from_(from.shared_from_this()),
      handler_(std::move(h)),
      message_(m),
      what_(what) {
  is_whole_ = m && m->complete();
  if (is_whole_) whole_ = m->stored;
  on = handler_ && handler_->on ? handler_->on : services.engine.coroutine_home();
  table.began(*this);
}

void served_call::begin() noexcept { services_.engine.end_unposted(*this, errc::ok); }

void served_call::answer(call_status status, std::string text) noexcept {
  only_answers_ = ending_ = true;
  status_ = status;
  text_ = std::move(text);
  if (status != call_status::ok && text_.size() > longest_refusal) text_.resize(longest_refusal);
  begin();
}

/// A call that came before the external loop is completed with the progress lock held, in which no
/// handler may run: it goes to where coroutines resume now.
void served_call::begun(operation& op) noexcept {
  auto& self = static_cast<served_call&>(op);
  engine& e = self.services_.engine;
  if (!e.completes_held(op)) return self.run();
  self.on = e.coroutine_home();
  self.begin();
}

/// A small call whose bytes wait at the caller, as those of a caller without credit do: they are
/// received for the inline handler.
task<void> served_call::serve_inline() {
  const std::shared_ptr<call_handler> code = handler_;
  std::vector<std::byte> body(static_cast<std::size_t>(what_.size));
  co_await call(*this).recv(body);
  std::string reply;
  std::optional<std::size_t> size;
  {
    const engine::holder hold(services_.engine);
    size = table_.run_inline(*code, *from_, body, reply);
    if (size) reply.assign(reinterpret_cast<const char*>(table_.room()), *size);
  }
  if (!size) throw error(errc::refused, reply);
  co_await call(*this).reply(std::as_bytes(std::span(reply)));
}

/// The first part: the handler's coroutine. It is the root of a chain.
void served_call::run() noexcept {
  engine& e = services_.engine;
  if (!handler_) {
    if (!only_answers_ && what_.tag.number >= first_reserved_am && table_.its_host())
      table_.its_host()->serve_own_calls();
    {
      const engine::holder hold(e);
      if (!only_answers_ && find_handler()) return begin();  // on the handler's executor
    }
    discard();  // the caller may need the credit of the call before it can take the reply
    {
      const engine::holder hold(e);
      table_.runs_no_more(*this);
      send_last(status_);
    }
    return leave();
  }
  try {
    task_environment start{on, stop_.get_token(), &e, &e, what_.deadline};
    if (what_.deadline != detail::time_point::max()) {
      parts_.fetch_add(1, std::memory_order_relaxed);
      deadline_.emplace(*this, &served_call::rang);
      deadline_->when = what_.deadline;
      e.start(*deadline_);
    }
    task<void> code = handler_->is_inline ? serve_inline() : handler_->code().serve(call(*this));
    detail::start_detached(*this, std::move(start), std::move(code), [] {});
  } catch (...) {
    task_ended(std::current_exception());
  }
}

/// There was no handler when the call arrived. \return whether there is one now; an inline one has
/// been called
bool served_call::find_handler() noexcept {
  metrics& counts = services_.counts;
  call_handler* const now = table_.find(what_.tag.number);
  const bool whole = whole_ || what_.size == 0;
  const bool fits = now && now->takes(what_.tag.kind, what_.fingerprint);
  if (fits && (!now->is_inline || (!whole && what_.size <= longest_inline))) {
    handler_ = now->shared_from_this();
    ++now->running;
    if (now->on) on = now->on;
    return true;
  }
  only_answers_ = ending_ = true;
  status_ = call_status::refused;
  if (fits && whole && what_.size <= longest_inline) {
    ++from_->connection().traffic().calls_served;
    if (const auto n = table_.run_inline(*now, *from_, data(), text_)) {
      try {
        text_.assign(reinterpret_cast<const char*>(table_.room()), *n);
        status_ = call_status::ok;
        return false;
      } catch (const std::bad_alloc&) {
      }
    }
  } else {
    try {
      text_ = now && !fits ? std::string(now->signature()->whole.text())
                           : table_.no_handler(what_.tag.number);
      if (now && !fits) status_ = call_status::types;
      if (!now && table_.has_ended(what_.tag.number)) {
        text_ = handler_ended;
        status_ = call_status::closed;
      }
    } catch (const std::bad_alloc&) {
      // Refused without words.
    }
  }
  ++(wants_reply() ? counts.calls_refused : counts.posts_dropped);
  return false;
}

void served_call::rang() {
  if (deadline_->status == errc::ok) stop_.request_stop();
  leave();
}

void served_call::stop() noexcept {
  if (ending_ || std::exchange(stop_queued_, true)) return;
  parts_.fetch_add(1, std::memory_order_relaxed);
  stopping_.emplace(*this, &served_call::stop_came);
  services_.engine.end_unposted(*stopping_, errc::ok);
}

void served_call::stop_came() {
  stop_.request_stop();
  leave();
}

// --- the handler's chain -----------------------------------------------------------------------

const_buffer served_call::data() const noexcept {
  return whole_ ? const_buffer(whole_, what_.size) : const_buffer();
}

const_buffer served_call::beginning() {
  if (whole_) return data().first(std::min<std::size_t>(data().size(), longest_head));
  if (beginning_.empty() && message_) {
    beginning_.resize(longest_head);
    const engine::holder hold(services_.engine);
    const std::size_t n = std::min<std::uint64_t>(message_->arrived, longest_head);
    beginning_.resize(message_->stored ? n : 0);
    std::copy_n(message_->stored, beginning_.size(), beginning_.begin());
  }
  return beginning_;
}

void served_call::discard() noexcept {
  whole_ = nullptr;
  inbound_message* const m = std::exchange(message_, nullptr);
  if (!m) return;
  const engine::holder hold(services_.engine);
  m->from->receiver().discard(*m, is_whole_);
}

send_request served_call::reply_request(const detail::buffer_list<const_buffer>& data,
                                        call_status status) const noexcept {
  const call_tag t{call_kind::reply, what_.tag.id, static_cast<std::uint32_t>(status)};
  // The end of a stream follows the values, which wait for credit in their order.
  const bool overtakes = what_.tag.kind == call_kind::request;
  return {from_.get(), tag{t.packed()}, data,
          overtakes ? detail::send_mode::answer : detail::send_mode::standard};
}

bool served_call::begin_reply(const send_operation& by) noexcept {
  if (!may_reply()) return false;
  replying_ = &by;
  return true;
}

void served_call::reply_ended(errc how) noexcept {
  replying_ = nullptr;
  replied_ = how == errc::ok;
}

/// The handler's frames are gone. A caller gets one reply in every case.
void served_call::task_ended(std::exception_ptr failure) noexcept {
  engine& e = services_.engine;
  if (deadline_) e.cancel(*deadline_);
  discard();
  if (failure) {
    status_ = call_status::refused;
    try {
      std::rethrow_exception(failure);
    } catch (const error& x) {
      if (x.kind() == errc::stopped && stop_requested()) status_ = call_status::stopped;
      text_ = x.what();
    } catch (const std::exception& x) {
      text_ = x.what();
    } catch (...) {
      text_ = "the handler threw something that is no std::exception";
    }
    if (text_.size() > longest_refusal) text_.resize(longest_refusal);
    failure = nullptr;
  }
  std::shared_ptr<call_handler> code;
  {
    const engine::holder hold(e);
    ending_ = true;
    metrics& counts = services_.counts;
    ++from_->connection().traffic().calls_served;
    if (status_ == call_status::stopped && handler_ends_) {
      status_ = call_status::closed;
      text_ = handler_ended;
    }
    if (status_ == call_status::refused)
      ++(wants_reply() ? counts.calls_refused : counts.posts_dropped);
    table_.runs_no_more(*this);
    if (!replied_) send_last(status_);
    code = std::move(handler_);
    table_.release(*code);
  }
  code.reset();  // its captures may be the application's, which may call weft
  leave();
}

void served_call::send_last(call_status status) noexcept {
  if (!wants_reply()) return;
  parts_.fetch_add(1, std::memory_order_relaxed);
  last_.emplace(*this, &served_call::part_left,
                reply_request(const_buffer(std::as_bytes(std::span(text_))), status));
  replying_ = &*last_;
  if (!last_->start_held()) return;
  parts_.fetch_sub(1, std::memory_order_relaxed);
  replied_ = true;
}

void served_call::leave() noexcept {
  if (parts_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  call_table::host* const waits = table_.its_host();
  discard();
  {
    const engine::holder hold(services_.engine);
    table_.ended(*this);
  }
  delete this;
  if (waits) waits->call_ended();
}

}  // namespace weft::proto

namespace weft {

reply_operation::reply_operation(const reply_request& r, complete_fn f) noexcept
    : send_operation(r.to->reply_request(r.data, proto::call_status::ok), &ended),
      call_(*r.to),
      then_(f) {}

void reply_operation::ended(operation& op) noexcept {
  auto& self = static_cast<reply_operation&>(op);
  {
    const runtime::engine::completion_holder hold(self.call_.from()->engine(), op);
    self.call_.reply_ended(op.status);
  }
  self.then_(op);
}

bool reply_operation::try_start() noexcept {
  const runtime::engine::holder hold(call_.from()->engine());
  if (!call_.wants_reply()) return true;
  if (!call_.may_reply() || !request.try_held()) return false;
  call_.reply_ended(errc::ok);
  return true;
}

bool reply_operation::start() noexcept {
  const runtime::engine::holder hold(call_.from()->engine());
  return start_held();
}

/// A post needs no reply, and drops it.
bool reply_operation::start_held() noexcept {
  if (!call_.wants_reply()) return true;
  refused_ = !call_.begin_reply(*this);
  if (refused_) {
    status = errc::invalid_argument;
    return true;
  }
  if (!send_operation::start_held()) return false;
  call_.reply_ended(status);
  return true;
}

std::string reply_operation::explain() const {
  if (refused_) return "this call has its reply, or it is under way; a call has one";
  return send_operation::explain();
}

}  // namespace weft
