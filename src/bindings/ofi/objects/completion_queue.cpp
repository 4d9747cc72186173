// SPDX-License-Identifier: Apache-2.0
#include "bindings/ofi/objects/completion_queue.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "bindings/ofi/endpoint/endpoint.hpp"

namespace weft::ofi {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

// Buffers renewed by one read; further completions wait for the next read.
constexpr std::size_t most_renewed = 16;

// An MPI library does much between two reads: without a few passes in each, a message would wait
// for it.
constexpr unsigned passes = 4;

std::size_t entry_size(fi_cq_format f) noexcept {
  switch (f) {
    case FI_CQ_FORMAT_CONTEXT:
      return sizeof(fi_cq_entry);
    case FI_CQ_FORMAT_MSG:
      return sizeof(fi_cq_msg_entry);
    case FI_CQ_FORMAT_DATA:
      return sizeof(fi_cq_data_entry);
    default:
      return sizeof(fi_cq_tagged_entry);
  }
}

/// Each format is the beginning of the next one.
fi_cq_tagged_entry entry_of(const record& r) noexcept {
  return {r.context, r.flags, std::min(r.size, r.room), r.buffer, r.data, r.tag & ~untagged};
}

}  // namespace

fi_ops completion_queue::object_ops{
    .size = sizeof(fi_ops),
    .close = [](fid_t f) { return close(object_of<completion_queue, fid_cq>(f)); },
    .bind = no,
    .control = &completion_queue::control,
    .ops_open = no,
    .tostr = no,
    .ops_set = no,
};

fi_ops_cq completion_queue::cq_ops{
    .size = sizeof(fi_ops_cq),
    .read =
        [](fid_cq* cq, void* into, std::size_t count) {
          return object<completion_queue>(cq).read(into, count, nullptr);
        },
    .readfrom =
        [](fid_cq* cq, void* into, std::size_t count, fi_addr_t* from) {
          return object<completion_queue>(cq).read(into, count, from);
        },
    .readerr = [](fid_cq* cq, fi_cq_err_entry* into,
                  std::uint64_t) { return object<completion_queue>(cq).read_error(*into); },
    .sread =
        [](fid_cq* cq, void* into, std::size_t count, const void*, int timeout) {
          return object<completion_queue>(cq).read_patiently(into, count, nullptr, timeout);
        },
    .sreadfrom =
        [](fid_cq* cq, void* into, std::size_t count, fi_addr_t* from, const void*, int timeout) {
          return object<completion_queue>(cq).read_patiently(into, count, from, timeout);
        },
    .signal =
        [](fid_cq* cq) {
          return guarded([&] {
            object<completion_queue>(cq).sleeper_.signal();
            return 0;
          });
        },
    .strerror = &completion_queue::explain,
};

completion_queue::completion_queue(domain& of, const fi_cq_attr& attr, void* context)
    : fid_cq{{FI_CLASS_CQ, context, &object_ops}, &cq_ops},
      domain_(of),
      format_(attr.format == FI_CQ_FORMAT_UNSPEC ? FI_CQ_FORMAT_CONTEXT : attr.format) {
  domain_.used.add();
}

completion_queue::~completion_queue() { domain_.used.remove(); }

int completion_queue::open(fid_domain* of, fi_cq_attr* attr, fid_cq** made,
                           void* context) noexcept {
  const bool waits_so = attr->wait_obj == FI_WAIT_NONE || attr->wait_obj == FI_WAIT_UNSPEC ||
                        attr->wait_obj == FI_WAIT_FD;
  if (!waits_so || attr->wait_cond != FI_CQ_COND_NONE || (attr->flags & ~FI_AFFINITY) != 0)
    return -FI_ENOSYS;
  return guarded([&] {
    auto queue = std::make_unique<completion_queue>(object<domain>(of), *attr, context);
    if (attr->wait_obj == FI_WAIT_FD) queue->sleeper_.descriptor();
    *made = queue.release();
    return 0;
  });
}

void completion_queue::add(completions& from) {
  const std::lock_guard lock(mutex_);
  sources_.push_back(&from);
  sleeper_.add(from.owner->moved());
}

void completion_queue::remove(completions& from) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(sources_, &from);
  sleeper_.remove(from.owner->moved());
}

/// Takes the entries of one endpoint. `left` becomes true when there are more.
/// \return how many entries; -FI_EAVAIL: an error is the first
ssize_t completion_queue::take(completions& c, std::byte* into, std::size_t count, fi_addr_t* from,
                               bool& left) noexcept {
  const std::size_t size = entry_size(format_);
  std::array<multi_buffer*, most_renewed> to_renew;
  std::size_t renewals = 0;
  std::size_t told = 0;
  bool failure = false;
  {
    external_loop::progress_guard hold(c.owner->moved());
    hold.poll(passes);
    for (record* r = c.waiting.first(); r && told != count; r = c.waiting.first()) {
      if (r->pinned || renewals == most_renewed) break;
      if ((failure = r->error != 0)) break;
      const fi_cq_tagged_entry entry = entry_of(*r);
      std::memcpy(into + told * size, &entry, size);
      if (from) from[told] = r->source;
      ++told;
      c.waiting.remove(*r);
      if (r->multi && (r->flags & FI_MULTI_RECV) == 0) to_renew[renewals++] = r->multi;
      c.owner->recycle(*r);
    }
    left = left || !c.waiting.empty();
  }
  if (from)
    for (std::size_t i = 0; i != told; ++i)
      from[i] = c.owner->address_of(static_cast<peer_id>(from[i]));
  for (std::size_t i = 0; i != renewals; ++i) c.owner->renew(*to_renew[i]);
  return told != 0 ? static_cast<ssize_t>(told) : failure ? -FI_EAVAIL : 0;
}

ssize_t completion_queue::read(void* into, std::size_t count, fi_addr_t* from) noexcept {
  // Programs read until the queue is empty: the read that finds that would cost as much as a
  // message.
  if (emptied_.load(std::memory_order_relaxed)) {
    emptied_.store(false, std::memory_order_relaxed);
    return -FI_EAGAIN;
  }
  std::size_t told = 0;
  bool left = false;
  for (completions* c : sources_) {
    const ssize_t n = take(*c, static_cast<std::byte*>(into) + told * entry_size(format_),
                           count - told, from ? from + told : nullptr, left);
    if (n < 0 && told == 0) return n;
    if (n > 0) told += static_cast<std::size_t>(n);
  }
  if (told != 0) {
    if (!left && told != count) emptied_.store(true, std::memory_order_relaxed);
    return static_cast<ssize_t>(told);
  }
  // Another thread may hold a lock of the library above (Open MPI: that of its progress), for which
  // threads of this process spin. A yield here would hold it for their time slices.
  for (const completions* c : sources_)
    if (external_loop& loop = c->owner->moved(); loop.is_owner_thread()) loop.back_off(passes);
  return -FI_EAGAIN;
}

ssize_t completion_queue::read_error(fi_cq_err_entry& into) noexcept {
  for (completions* c : sources_) {
    multi_buffer* to_renew = nullptr;
    {
      const external_loop::progress_guard hold(c->owner->moved());
      record* const r = c->waiting.first();
      if (!r || r->error == 0 || r->pinned) continue;
      const fi_cq_tagged_entry entry = entry_of(*r);
      const std::size_t beyond = r->size > r->room ? r->size - r->room : 0;
      // Not the whole entry: programs of older versions have a shorter one, without `src_addr`.
      into.op_context = entry.op_context;
      into.flags = entry.flags;
      into.len = entry.len;
      into.buf = entry.buf;
      into.data = entry.data;
      into.tag = entry.tag;
      into.olen = beyond;
      into.err = r->error;
      into.prov_errno = static_cast<int>(r->status);
      into.err_data = nullptr;
      into.err_data_size = 0;
      c->waiting.remove(*r);
      if (r->multi && (r->flags & FI_MULTI_RECV) == 0) to_renew = r->multi;
      c->owner->recycle(*r);
    }
    if (to_renew) c->owner->renew(*to_renew);
    return 1;
  }
  return -FI_EAGAIN;
}

bool completion_queue::may_sleep() noexcept {
  for (const completions* c : sources_) {
    const external_loop::progress_guard hold(c->owner->moved());
    if (!c->waiting.empty()) return false;
  }
  bool armed = false;
  guarded([&] {
    armed = sleeper_.arm();
    return 0;
  });
  if (!armed) return false;
  // A thread that ends an operation after `arm` rings; before it, another thread may have ended
  // one.
  return std::all_of(sources_.begin(), sources_.end(), [](const completions* c) {
    const external_loop::progress_guard hold(c->owner->moved());
    return c->waiting.empty();
  });
}

ssize_t completion_queue::read_patiently(void* into, std::size_t count, fi_addr_t* from,
                                         int timeout) noexcept {
  const auto begin = steady_clock::now();
  const auto end = timeout < 0 ? steady_clock::time_point::max() : begin + milliseconds(timeout);
  for (;;) {
    const ssize_t n = read(into, count, from);
    const auto now = steady_clock::now();
    if (n != -FI_EAGAIN || now >= end || sleeper_.take_signal()) return n;
    if (now < begin + time_to_spin || !may_sleep()) continue;
    const auto left = std::chrono::ceil<milliseconds>(end - now).count();
    const int slept = guarded([&] {
      sleeper_.sleep(timeout < 0 ? -1 : static_cast<int>(left));
      return 0;
    });
    if (slept != 0) return slept;
  }
}

int completion_queue::control(fid_t f, int command, void* argument) noexcept {
  completion_queue& self = object_of<completion_queue, fid_cq>(f);
  if (command != FI_GETWAIT) return -FI_ENOSYS;
  return guarded([&] {
    *static_cast<int*>(argument) = self.sleeper_.descriptor();
    return 0;
  });
}

const char* completion_queue::explain(fid_cq* /*cq*/, int code, const void* /*data*/, char* text,
                                      std::size_t size) noexcept {
  const char* const said = sentence_of(static_cast<errc>(code));
  if (text) std::snprintf(text, size, "%s", said);
  return said;
}

}  // namespace weft::ofi
