// SPDX-License-Identifier: Apache-2.0
// Requests whose operations report to the ledger. They are weft's own operations and go through
// scopes, deadlines and stop tokens like any other.
#pragma once

#include <weft/call.hpp>
#include <weft/operations/access.hpp>

#include "proto/messenger/messenger.hpp"
#include "proto/operations/closed_operation.hpp"
#include "sim/ledger.hpp"

namespace sim {

template <class Request, class Record>
class watched_operation;

/// \tparam Request of weft: send_request, recv_request, ...
/// \tparam Record  its kind of record in the ledger
template <class Request, class Record>
struct watched {
  using value_type = typename Request::value_type;
  using operation_type = watched_operation<Request, Record>;
  Request request;
  ledger* book;
  Record* page;
};

template <class Request, class Record>
class watched_operation : public Request::operation_type {
  using base = typename Request::operation_type;

 public:
  watched_operation(const watched<Request, Record>& w, weft::operation::complete_fn f) noexcept
      : base(w.request, &complete_and_tell), book_(*w.book), page_(*w.page), complete_(f) {
    if constexpr (std::is_same_v<Record, call_record>)
      page_.has_left = [this] {
        if constexpr (std::is_same_v<Request, weft::raw_call_request>)
          return base::has_left();
        else
          return base::begun;
      };
  }

  bool try_start() noexcept
    requires requires(base& b) { b.try_start(); }
  {
    if (!base::try_start()) return false;
    book_.begun(page_);
    tell();
    return true;
  }
  bool start() noexcept {
    book_.begun(page_);
    if (!base::start()) return false;
    tell();
    return true;
  }
  void heed_deadline(const weft::task_environment& of) noexcept
    requires requires(base& b) { b.heed_deadline(of); }
  {
    if constexpr (std::is_same_v<Record, call_record>)
      page_.has_deadline = of.deadline != weft::detail::time_point::max();
    base::heed_deadline(of);
  }
  void cancel() noexcept {
    book_.asked_to_stop(page_);
    base::cancel();
  }

 private:
  static void complete_and_tell(weft::operation& op) noexcept {
    auto& self = static_cast<watched_operation&>(op);
    if (!self.tell()) return;
    if (self.book_.ends_twice()) op.complete();  // a planted fault
    self.complete_(op);
  }

  bool tell() noexcept {
    if (!book_.ended(page_, this->status)) return false;
    if constexpr (std::is_same_v<Record, receive_record>)
      book_.ended(page_, this->got);
    else if constexpr (std::is_same_v<Record, message_record>)
      book_.ended(page_);
    else if constexpr (std::is_same_v<Request, weft::notified_request>)
      book_.ended(page_, this->got.value);
    else if constexpr (std::is_same_v<Request, weft::region_end_request>)
      book_.ended(page_, 0);
    else if constexpr (std::is_same_v<Request, weft::raw_call_request>)
      book_.ended(page_, this->reply_size());
    else if constexpr (std::is_same_v<Record, call_record>)
      book_.ended(page_, 0);
    else if constexpr (std::is_same_v<Record, served_record>)
      book_.ended(page_);
    else if constexpr (std::is_same_v<Record, access_record>)
      book_.ended(page_, this->found);
    return true;
  }

  ledger& book_;
  Record& page_;
  const weft::operation::complete_fn complete_;
};

using watched_send = watched<weft::send_request, message_record>;
using watched_receive = watched<weft::recv_request, receive_record>;
using watched_probe = watched<weft::probe_request, receive_record>;
using watched_transfer = watched<weft::transfer_request, access_record>;
using watched_update = watched<weft::update_request, access_record>;
using watched_notified = watched<weft::notified_request, access_record>;
using watched_region_end = watched<weft::region_end_request, access_record>;
using watched_call = watched<weft::raw_call_request, call_record>;
using watched_post = watched<weft::send_request, call_record>;
using watched_arguments = watched<weft::claimed_request, served_record>;
using watched_reply = watched<weft::reply_request, served_record>;
using watched_end = watched<weft::proto::closed_request, record>;

/// Found by argument-dependent lookup, as weft's own is for its requests.
using weft::detail::operator co_await;

}  // namespace sim
