// SPDX-License-Identifier: Apache-2.0
#include "api/options/option_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/build.hpp>
#include <weft/error.hpp>

#include "api/options/option_text.hpp"
#include "proto/frames/peer_number.hpp"
#include "runtime/os/cpu_set.hpp"
#include "transports/table/table.hpp"

namespace weft::detail {

namespace {

constexpr vocabulary<progress_mode, 4> modes{{{"dedicated", progress_mode::dedicated},
                                              {"polling", progress_mode::polling},
                                              {"interrupt", progress_mode::interrupt},
                                              {"two_threads", progress_mode::two_threads}}};

constexpr vocabulary<registration_caching, 3> cachings{
    {{"off", registration_caching::off},
     {"on", registration_caching::on},
     {"bounded", registration_caching::bounded}}};

constexpr vocabulary<dump_on, 5> dump_signals{{{"auto", dump_on::automatic},
                                               {"none", dump_on::none},
                                               {"QUIT", dump_on::sigquit},
                                               {"USR1", dump_on::sigusr1},
                                               {"USR2", dump_on::sigusr2}}};

constexpr vocabulary<log_level, 5> log_levels{{{"none", log_level::none},
                                               {"error", log_level::error},
                                               {"warning", log_level::warning},
                                               {"info", log_level::info},
                                               {"debug", log_level::debug}}};
constexpr vocabulary<tcp_encryption, 3> encryptions{{{"auto", tcp_encryption::automatic},
                                                     {"yes", tcp_encryption::yes},
                                                     {"no", tcp_encryption::no}}};

/// The default list may name transports that this build or host lacks; a list that was asked for
/// may not name what this build lacks. `entry` may be several joined by +.
void refuse_absent(const char* name, const std::string& value, std::string_view entry) {
  for (const build_part& part : build_parts()) {
    if (part.built_in) continue;
    for (std::string_view rest = entry; !rest.empty();) {
      const std::size_t end = std::min(rest.find('+'), rest.size());
      if (rest.substr(0, end) == part.name)
        throw error(errc::unsupported,
                    fmt::format("{}=\"{}\": the transport {} is not built in; build weft with "
                                "-D{}=ON, or leave the transport out",
                                name, value, part.name, part.option));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
}

/// Whether a name can stand in WEFT_TRANSPORTS, in this build or another one.
bool is_transport(std::string_view name, const options& o) {
  for (;;) {
    const std::size_t end = std::min(name.find('+'), name.size());
    if (!transports::find(name.substr(0, end), o.transport_factories)) return false;
    if (end == name.size()) return true;
    name.remove_prefix(end + 1);
  }
}

}  // namespace

void set_transports(options& o, const char* name, const std::string& value) {
  std::vector<std::string> all = words(value);
  if (all.empty() || std::set(all.begin(), all.end()).size() != all.size())
    bad(name, value,
        fmt::format("one or more of {}, with commas, each once",
                    transports::names_of(o.transport_factories)));
  if (all != options{}.transports)
    for (const std::string& one : all) refuse_absent(name, value, one);
  o.transports = std::move(all);
}

void set_progress_cpus(options& o, const char* name, const std::string& value) {
  if (value != "auto" && value != "inherit" && !runtime::parse_cpus(value))
    bad(name, value, "auto, inherit, or a list of cores such as 8-15,20");
  o.progress_cpus = value;
}

void set_wait_set(options& o, const char* name, const std::string& value) {
  if (value != "auto" && value != "uring" && value != "epoll")
    bad(name, value, "auto, uring or epoll");
  o.wait_set = value;
}

void set_progress(options& o, const char* name, const std::string& value) {
  o.progress = one_of(modes, name, value, "dedicated, polling, interrupt or two_threads");
}

void set_registration_caching(options& o, const char* name, const std::string& value) {
  o.regions.caching = one_of(cachings, name, value, "off, on or bounded");
}

/// An entry without a transport is for all that have none.
void set_eager_limit(options& o, const char* name, const std::string& value) {
  const std::string allowed = fmt::format(
      "auto, or bytes, also with k, m or g behind them, for all transports; and such limits for "
      "single ones of {}, with commas, each once, as in shm=256k,verbs=8k",
      transports::names_of(o.transport_factories));
  std::vector<std::string> entries = words(value);
  if (entries.empty()) bad(name, value, allowed);
  std::set<std::string> seen;
  options read;
  for (const std::string& entry : entries) {
    const std::size_t equals = entry.find('=');
    const std::string over = equals == entry.npos ? "" : entry.substr(0, equals);
    const std::string limit = entry.substr(equals + 1);  // npos + 1: all of it
    if (!seen.insert(over).second || (equals != entry.npos && !is_transport(over, o)))
      bad(name, value, allowed);
    if (limit == "auto") continue;
    const std::size_t n =
        bytes(over.empty() ? name : fmt::format("{}: {}", name, over).c_str(), limit);
    if (over.empty())
      read.eager_limit = n;
    else
      read.eager_limits[over] = n;
  }
  o.eager_limit = read.eager_limit;
  o.eager_limits = std::move(read.eager_limits);
}

std::string text_of_eager_limits(const options& o) {
  std::string text = o.eager_limit ? std::to_string(*o.eager_limit) : "";
  for (const auto& [over, limit] : o.eager_limits)
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", over, limit);
  return text.empty() ? "auto" : text;
}

void set_shm_limit(options& o, const char* name, const std::string& value) {
  o.shm_limit.reset();
  if (value != "none") o.shm_limit = bytes(name, value);
}

void set_region_entries(options& o, const char* name, const std::string& value) {
  o.regions.most_entries =
      number<std::size_t>(name, value, 0, std::numeric_limits<std::size_t>::max(), "a number");
}

void set_spin(options& o, const char* name, const std::string& value) {
  constexpr std::chrono::microseconds longest = std::chrono::hours{24};
  o.spin = std::chrono::microseconds{
      number<long>(name, value, 0, longest.count(),
                   fmt::format("a number of microseconds up to {}, a day", longest.count()))};
}

void set_peer_timeout(options& o, const char* name, const std::string& value) {
  o.peer_timeout = std::chrono::seconds{
      number<long>(name, value, 2, 86'400, "a number of seconds from 2 to 86400")};
}

void set_stop_timeout(options& o, const char* name, const std::string& value) {
  o.stop_timeout = std::chrono::seconds{
      number<long>(name, value, 1, 86'400, "a number of seconds from 1 to 86400")};
}

void set_start_timeout(options& o, const char* name, const std::string& value) {
  o.start_timeout = std::chrono::seconds{
      number<long>(name, value, 1, 86'400, "a number of seconds from 1 to 86400")};
}

void set_linger(options& o, const char* name, const std::string& value) {
  constexpr std::chrono::milliseconds longest = std::chrono::hours{24};
  o.linger = std::chrono::milliseconds{
      number<long>(name, value, 0, longest.count(),
                   fmt::format("a number of milliseconds up to {}, a day", longest.count()))};
}

void set_tcp_links(options& o, const char* name, const std::string& value) {
  o.tcp_links = number(name, value, 1u, 8u, "a number from 1 to 8");
}

void set_tcp_tls(options& o, const char* name, const std::string& value) {
  o.tcp_tls = one_of(encryptions, name, value, "auto, yes or no");
  if (o.tcp_tls == tcp_encryption::yes && !WEFT_BUILT_WITH_TLS)
    throw error(
        errc::unsupported,
        fmt::format("{}=\"{}\": weft is built without OpenSSL; install libssl-dev and build "
                    "it with -DWEFT_WITH_TLS=ON, or leave the setting out",
                    name, value));
}

void set_lanes(options& o, const char* name, const std::string& value) {
  o.lanes = number<unsigned>(name, value, 1, proto::most_lanes,
                             fmt::format("a number from 1 to {}", proto::most_lanes));
}

void set_calls_at_once(options& o, const char* name, const std::string& value) {
  constexpr unsigned most = 65'536;
  o.calls_at_once = number(name, value, 1u, most, fmt::format("a number from 1 to {}", most));
}

void set_verbs_gid_index(options& o, const char* name, const std::string& value) {
  if (value.empty()) return o.verbs_gid_index.reset();
  o.verbs_gid_index = number(name, value, 0u, 255u, "a number from 0 to 255, or empty");
}

std::string name_of(progress_mode m) { return word_for(modes, m); }

std::string name_of(registration_caching c) { return word_for(cachings, c); }

void set_dump(options& o, const char* name, const std::string& value) {
  o.dump = one_of(dump_signals, name, value, "auto, none, QUIT, USR1 or USR2");
}

std::string name_of(tcp_encryption e) { return word_for(encryptions, e); }

std::string name_of(dump_on d) { return word_for(dump_signals, d); }

void set_metrics_interval(options& o, const char* name, const std::string& value) {
  o.metrics_interval = std::chrono::seconds{
      number<long>(name, value, 1, 86'400, "a number of seconds from 1 to 86400")};
}

void set_log(options& o, const char* name, const std::string& value) {
  o.log.most = one_of(log_levels, name, value, "none, error, warning, info or debug");
}

std::string name_of(log_level l) { return word_for(log_levels, l); }

}  // namespace weft::detail
