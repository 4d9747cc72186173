// SPDX-License-Identifier: Apache-2.0
#include "connections/transport_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "proto/peer/peer.hpp"
#include "proto/select/select.hpp"

namespace weft::connections {

void transport_list::add(std::unique_ptr<transports::transport> made, std::string name,
                         std::uint16_t place) {
  entries_.push_back({std::move(made), std::move(name), place});
}

void transport_list::exclude(std::string name, std::string reason, std::uint16_t place) {
  notes_ += fmt::format("{} is not used: {}\n", name, reason);
  excluded_.push_back({std::move(name), std::move(reason), place});
}

std::string transport_list::refusal_of(std::uint16_t place) const {
  std::vector<std::pair<std::uint16_t, std::string_view>> all;
  for (const exclusion& one : excluded_) {
    if (one.place == place) return "the other side cannot use it: " + one.reason;
    all.emplace_back(one.place, one.name);
  }
  for (const entry& one : entries_) all.emplace_back(one.place, one.name);
  std::sort(all.begin(), all.end());
  std::string names;
  for (const auto& [where, name] : all)
    names += fmt::format("{}{}", names.empty() ? "" : ",", name);
  return fmt::format(
      "the other side has another list of transports, {}; WEFT_TRANSPORTS must be the same on both "
      "sides",
      names);
}

std::optional<std::size_t> transport_list::find(std::uint16_t place) const noexcept {
  for (std::size_t i = 0; i != entries_.size(); ++i)
    if (entries_[i].place == place) return i;
  return {};
}

bool transport_list::pass_any_descriptor() const noexcept {
  return std::any_of(entries_.begin(), entries_.end(), [](const entry& one) {
    return one.transport->traits().passes_any_descriptor;
  });
}

std::size_t transport_list::links_per_peer(std::size_t index) const noexcept {
  return std::clamp<std::size_t>(entries_[index].transport->traits().links, 1, proto::most_links);
}

proto::multi_rail_link* transport_list::multi_rail_link_of(const proto::peer& p,
                                                           std::size_t index) const noexcept {
  proto::multi_rail_link* const several = p.connection().several();
  const auto& wanted = entries_[index].transport->traits().name;
  return several && several->traits().name == wanted ? several : nullptr;
}

std::vector<transports::frame_sink*> transport_list::frame_sinks_of(proto::peer& p,
                                                                    std::size_t index) const {
  if (links_per_peer(index) == 1) return {&p};
  std::vector<transports::frame_sink*> all;
  if (proto::multi_rail_link* const several = multi_rail_link_of(p, index))
    for (std::size_t i = 0; i != several->size(); ++i) all.push_back(&several->frame_sink(i));
  return all;
}

std::string transport_list::describe(const proto::peer& p) const {
  const auto& used = p.connection().link()->traits().name;
  for (std::size_t i = 0; i != entries_.size(); ++i) {
    if (entries_[i].name != used) continue;
    const transports::transport& t = *entries_[i].transport;
    proto::multi_rail_link* const several = multi_rail_link_of(p, i);
    if (!several) return t.describe(p);
    std::string text = fmt::format("{} links: ", several->size());
    for (std::size_t n = 0; n != several->size(); ++n)
      text += (n == 0 ? "" : "; ") + t.describe(several->frame_sink(n));
    return text;
  }
  return std::string(used);
}

}  // namespace weft::connections
