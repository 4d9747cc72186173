// SPDX-License-Identifier: Apache-2.0
#include "sim/service.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "proto/frames/call_wire.hpp"

namespace sim {

using namespace std::chrono_literals;

namespace {
bool same(weft::const_buffer a, const std::vector<std::byte>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}
}  // namespace

conduct service::conduct_of(unsigned i) const {
  static constexpr conduct all[] = {conduct::answers,      conduct::answers,   conduct::answers,
                                    conduct::answers_late, conduct::is_silent, conduct::throws,
                                    conduct::throws_late};
  return of(i).part(1).one_of(all);
}

nanoseconds service::work_of(unsigned i) const {
  dice d = of(i).part(2);
  return d.percent(70) ? d.up_to(30us) : d.up_to(2ms);
}

std::vector<std::byte> service::bytes(dice d, std::size_t least) const {
  std::vector<std::byte> all(d.percent(50) ? d.between(least, std::min<std::size_t>(longest_, 64))
                                           : d.between(least, longest_));
  for (std::byte& b : all) b = static_cast<std::byte>(d.throw_one());
  return all;
}

std::vector<std::byte> service::arguments(unsigned i) const {
  std::vector<std::byte> all = bytes(of(i).part(3), sizeof i);
  std::memcpy(all.data(), &i, sizeof i);
  return all;
}

std::vector<std::byte> service::reply(unsigned i) const {
  std::vector<std::byte> all = bytes(of(i).part(4), 0);
  if (is_inline) all.resize(std::min(all.size(), weft::proto::longest_inline));
  return all;
}

std::size_t service::room(unsigned i) const {
  dice d = of(i).part(5);
  const std::size_t whole = reply(i).size();
  return d.percent(85) ? whole : d.below(whole + 1);
}

void service::begun(unsigned i) {
  was_registered_[i] = registered;
  in_order_.push_back(i);
}

std::string service::judge_arguments(weft::const_buffer bytes, unsigned ticket) {
  unsigned i = 0;
  if (bytes.size() < sizeof i)
    return fmt::format("{} bytes, of no call of this service", bytes.size());
  std::memcpy(&i, bytes.data(), sizeof i);
  if (!was_registered_.contains(i)) return fmt::format("there was no call {} of the service", i);
  if (!same(bytes, arguments(i))) return fmt::format("call {} did not come as it was made", i);
  if (!tickets_of_.emplace(i, ticket).second) return fmt::format("call {} is served twice", i);
  return {};
}

std::optional<unsigned> service::index_of(unsigned ticket) const {
  for (const auto& [i, t] : tickets_of_)
    if (t == ticket) return i;
  return {};
}

bool service::excuses(const call_record& c, errc status) const {
  const unsigned i = c.index;
  if (status == errc::timed_out) return c.has_deadline;
  if (c.what == "post") return false;
  if (status == errc::truncated) return reply(i).size() > room(i);
  const bool may_be_absent = ended || !was_registered_.at(i);
  if (status == errc::closed) return may_be_absent;
  const bool too_long = is_inline && arguments(i).size() > weft::proto::longest_inline;
  return status == errc::refused && (may_be_absent || too_long || conduct_of(i) == conduct::throws);
}

std::string service::judge_end(const call_record& c, std::size_t size) const {
  if (!c.went_well() || c.what == "post") return {};
  if (!has_served(c.index)) return "it has a reply, and was not served";
  const conduct how = conduct_of(c.index);
  if (how == conduct::throws) return "it has a reply of a handler that threw";
  const std::vector<std::byte> whole =
      how == conduct::is_silent ? std::vector<std::byte>() : reply(c.index);
  const auto got = std::span(c.memory).first(std::min(c.size(), size));
  if (size != whole.size() || !std::equal(got.begin(), got.end(), whole.begin()))
    return fmt::format("its reply of {} bytes is not the handler's, of {}", size, whole.size());
  if ((c.status == errc::truncated) != (size > c.size())) return "the wrong status for its room";
  return {};
}

std::string service::judge_order() const {
  unsigned latest = 0;
  unsigned before = 0;
  for (const unsigned i : in_order_) {
    const auto at = tickets_of_.find(i);
    if (at == tickets_of_.end()) continue;
    if (at->second < latest) return fmt::format("call {} was served before call {}", i, before);
    latest = at->second;
    before = i;
  }
  return {};
}

}  // namespace sim
