// SPDX-License-Identifier: Apache-2.0
#include "bindings/ofi/objects/counter.hpp"

#include <algorithm>
#include <chrono>

namespace weft::ofi {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

fi_ops_cntr counter::cntr_ops{
    .size = sizeof(fi_ops_cntr),
    .read = [](fid_cntr* c) -> std::uint64_t {
      object<counter>(c).look();
      return object<counter>(c).ended_.load();
    },
    .readerr = [](fid_cntr* c) -> std::uint64_t { return object<counter>(c).failed_.load(); },
    .add =
        [](fid_cntr* c, std::uint64_t n) {
          object<counter>(c).ended_.fetch_add(n);
          return 0;
        },
    .set =
        [](fid_cntr* c, std::uint64_t n) {
          object<counter>(c).ended_.store(n);
          return 0;
        },
    .wait = [](fid_cntr* c, std::uint64_t threshold,
               int timeout) { return object<counter>(c).wait(threshold, timeout); },
    .adderr =
        [](fid_cntr* c, std::uint64_t n) {
          object<counter>(c).failed_.fetch_add(n);
          return 0;
        },
    .seterr =
        [](fid_cntr* c, std::uint64_t n) {
          object<counter>(c).failed_.store(n);
          return 0;
        },
};

counter::counter(domain& of, void* context) noexcept
    : fid_cntr{{FI_CLASS_CNTR, context, &only_closes<counter, fid_cntr>}, &cntr_ops}, domain_(of) {
  domain_.used.add();
}

counter::~counter() { domain_.used.remove(); }

int counter::open(fid_domain* of, fi_cntr_attr* attr, fid_cntr** made, void* context) noexcept {
  if (attr && (attr->events != FI_CNTR_EVENTS_COMP || attr->flags != 0 ||
               (attr->wait_obj != FI_WAIT_NONE && attr->wait_obj != FI_WAIT_UNSPEC)))
    return -FI_ENOSYS;
  return guarded([&] {
    *made = new counter(object<domain>(of), context);
    return 0;
  });
}

void counter::add(external_loop& p) {
  const std::lock_guard lock(mutex_);
  loops_.add(p);
  sleeper_.add(p);
}

void counter::remove(external_loop& p) noexcept {
  const std::lock_guard lock(mutex_);
  loops_.remove(p);
  sleeper_.remove(p);
}

void counter::look() noexcept {
  const std::lock_guard lock(mutex_);
  for (const auto& [loop, users] : loops_) {
    unsigned ended = 0;
    {
      external_loop::progress_guard hold(*loop);
      ended = hold.poll();
    }
    if (ended == 0) loop->back_off();
  }
}

/// An operation that fails meanwhile ends the wait: the threshold may never be reached.
int counter::wait(std::uint64_t threshold, int timeout) noexcept {
  const auto begin = steady_clock::now();
  const auto end = timeout < 0 ? steady_clock::time_point::max() : begin + milliseconds(timeout);
  const std::uint64_t failed = failed_.load();
  for (;;) {
    look();
    if (failed_.load() != failed) return -FI_EAVAIL;
    if (ended_.load() >= threshold) return 0;
    const auto now = steady_clock::now();
    if (now >= end) return -FI_ETIMEDOUT;
    if (now < begin + time_to_spin) continue;
    const int slept = guarded([&] {
      if (!sleeper_.arm() || ended_.load() >= threshold) return 0;
      const auto left = std::chrono::ceil<milliseconds>(end - now).count();
      sleeper_.sleep(timeout < 0 ? -1 : static_cast<int>(left));
      return 0;
    });
    if (slept != 0) return slept;
  }
}

}  // namespace weft::ofi
