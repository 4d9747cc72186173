// SPDX-License-Identifier: Apache-2.0
#include "transports/qdma/transfers.hpp"

#include <algorithm>
#include <new>

#include "transports/qdma/pair.hpp"

namespace weft::transports::qdma {

namespace {
// In one pass: enough that several proceed side by side, few enough that messages have their turn.
constexpr std::size_t slices_per_pass = 4;
}  // namespace

outcome transfer::go_on(peer& with) noexcept {
  const char* why = nullptr;
  for (std::size_t budget = transfers::slice; budget != 0 && left != 0;) {
    const std::size_t most = std::min(budget, left);
    mutable_buffer run = write ? mutable_buffer{} : into.run(most);
    if (write) {
      const const_buffer source = from.run(most);
      run = {const_cast<std::byte*>(source.data()), source.size()};  // a put only reads there
    }
    if (run.empty()) return outcome::failed;
    if (const outcome o = with.copy(write, key, offset, run.data(), run.size(), why);
        o != outcome::done)
      return o;
    write ? from.skip(run.size()) : into.skip(run.size());
    offset += run.size();
    left -= run.size();
    budget -= run.size();
  }
  return outcome::done;
}

bool transfers::add(const transfer& t) noexcept {
  if (!ends_.direct() && !ends_.reserve(all_.size() + 1)) return false;
  try {
    all_.push_back(t);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

bool transfers::chain(const queue_link& of, std::uint64_t cookie,
                      const transfer::frame& what) noexcept {
  if (all_.empty() || all_.back().of != &of || all_.back().cookie != cookie) return false;
  all_.back().chained = what;
  return true;
}

/// The message for this side is posted before the chained frame: so it comes before the answer.
void transfers::end(const transfer& t, bool well) noexcept {
  const bool noted = ends_.direct() || ends_.add(*t.of, t.cookie, well);
  frame_sink& asked_by = t.of->owner().frame_sink();
  if (well && noted && t.chained && t.of->send_chained(*t.chained)) asked_by.on_chained(t.cookie);
  if (ends_.direct()) asked_by.on_transferred(t.cookie, well);
}

unsigned transfers::run() noexcept {
  unsigned events = 0;
  for (std::size_t turns = std::min(all_.size(), slices_per_pass); turns != 0 && !all_.empty();
       --turns) {
    transfer t = all_.front();
    all_.pop_front();
    const outcome o = t.go_on(*t.of->owner().there());
    ++events;
    const bool goes_on = o == outcome::later || (o == outcome::done && t.left != 0);
    if (goes_on && add(t)) continue;
    end(t, o == outcome::done && t.left == 0);
  }
  return events;
}

void transfers::end_all_of(const queue_link& l) noexcept {
  std::erase_if(all_, [&l](const transfer& t) { return t.of == &l; });
  ends_.drop_all_of(l);
}

}  // namespace weft::transports::qdma
