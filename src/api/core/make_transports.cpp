// SPDX-License-Identifier: Apache-2.0
#include "api/core/make_transports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "connections/link_message.hpp"
#include "transports/composite/factory.hpp"
#include "transports/table/table.hpp"

namespace weft::detail {

namespace {

using transport_ptr = std::unique_ptr<transports::transport>;

bool is_name(std::string_view name) noexcept {
  constexpr std::string_view allowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  return !name.empty() && name.find_first_not_of(allowed) == name.npos;
}

/// \throws weft::error (invalid_argument)
void check(const std::vector<transports::factory>& others) {
  for (auto one = others.begin(); one != others.end(); ++one) {
    const auto refuse = [&](const std::string& why) {
      throw error(errc::invalid_argument,
                  fmt::format("options::transport_factories: \"{}\": {}", one->name, why));
    };
    if (!is_name(one->name)) refuse("a name has letters, digits, - and _, and at least one");
    if (transports::find(one->name, {})) refuse("weft has a transport of that name");
    if (std::any_of(others.begin(), one, [&](const auto& o) { return o.name == one->name; }))
      refuse("two have that name");
    if (!one->make) refuse("its function `make` is empty");
    if (one->version != transports::interface_version)
      refuse(
          fmt::format("it was compiled with version {} of the interface for transports, and "
                      "this weft has version {}; compile it with this weft's headers",
                      one->version, transports::interface_version));
  }
}

/// \return null: it cannot be used here, and `why` says why
transport_ptr make_one(const std::string& name, runtime::engine& e, const options& chosen,
                       std::string& why) {
  const transports::factory* const kind = transports::find(name, chosen.transport_factories);
  if (!kind)
    throw error(errc::invalid_argument,
                fmt::format("there is no transport \"{}\"; WEFT_TRANSPORTS can name {}, and "
                            "several of them joined by +",
                            name, transports::names_of(chosen.transport_factories)));
  transport_ptr made = kind->make(e, chosen, why);
  if (!made && why.empty()) why = "its factory gives no reason";
  if (made && made->traits().name != name)
    throw error(errc::invalid_argument,
                fmt::format("options::transport_factories: \"{}\" makes a transport whose traits "
                            "have the name \"{}\"; they must be equal",
                            name, made->traits().name));
  return made;
}

/// One entry of the list: a transport, or several that are used together.
transport_ptr make_entry(const std::string& entry, runtime::engine& e, const options& chosen,
                         std::string& why) {
  std::vector<transport_ptr> parts;
  for (std::size_t from = 0; from <= entry.size();) {
    const std::string name = entry.substr(from, entry.find('+', from) - from);
    from += name.size() + 1;
    transport_ptr made = make_one(name, e, chosen, why);
    if (!made) {
      if (name != entry) why = fmt::format("{} cannot be used: {}", name, why);
      return {};
    }
    parts.push_back(std::move(made));
  }
  for (const transport_ptr& part : parts)
    if (pollable* const hook = part->poll_hook()) e.add(*hook);
  return parts.size() == 1 ? std::move(parts.front())
                           : transports::composite::make(entry, std::move(parts), chosen.shm_limit);
}

}  // namespace

void make_transports(runtime::engine& e, const options& chosen, connections::transport_list& into) {
  check(chosen.transport_factories);
  for (std::size_t place = 0; place != chosen.transports.size(); ++place) {
    const std::string& entry = chosen.transports[place];
    const std::uint16_t known_as = connections::place_in(chosen.transports, place);
    std::string why;
    if (transport_ptr made = make_entry(entry, e, chosen, why))
      into.add(std::move(made), entry, known_as);
    else
      into.exclude(entry, why, known_as);
  }
}

}  // namespace weft::detail
