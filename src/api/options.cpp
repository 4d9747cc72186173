// SPDX-License-Identifier: Apache-2.0
// WEFT_* variables: one table, which weft-info prints and docs/environment.md describes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <set>
#include <utility>

#include <weft/build.hpp>
#include <weft/environment.hpp>
#include <weft/error.hpp>

#include "api/options.hpp"
#include "proto/peer_number.hpp"

namespace weft {

namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 62;
constexpr unsigned most_calls_at_once = 65'536;
constexpr std::chrono::microseconds longest_spin = std::chrono::hours{24};

[[noreturn]] void bad(const char* name, const std::string& value, std::string_view allowed) {
  throw error(errc::invalid_argument,
              fmt::format("{}=\"{}\" makes no sense; it can be {}", name, value, allowed));
}

template <class T, std::size_t n>
using vocabulary = std::array<std::pair<const char*, T>, n>;

template <class T, std::size_t n>
T one_of(const vocabulary<T, n>& all, const char* name, const std::string& value,
         const char* allowed) {
  for (const auto& [word, meaning] : all)
    if (value == word) return meaning;
  bad(name, value, allowed);
}

template <class T, std::size_t n>
std::string word_for(const vocabulary<T, n>& all, T wanted) {
  for (const auto& [word, meaning] : all)
    if (meaning == wanted) return word;
  return "?";
}

/// A number of bytes with an optional k, m or g.
std::size_t bytes(const char* name, const std::string& text) {
  std::size_t n = 0;
  const char* end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, n);
  unsigned shift = 0;
  if (failure == std::errc{} && rest + 1 == end) {
    switch (*rest | 0x20) {
      case 'k':
        shift = 10;
        break;
      case 'm':
        shift = 20;
        break;
      case 'g':
        shift = 30;
        break;
      default:
        bad(name, text, "a number of bytes, also with k, m or g behind it");
    }
  } else if (failure != std::errc{} || rest != end) {
    bad(name, text, "a number of bytes, also with k, m or g behind it");
  }
  if (n > (most_bytes >> shift)) bad(name, text, "at most 4 exabytes");
  return n << shift;
}

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> all;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    if (comma != from) all.push_back(text.substr(from, comma - from));
    from = comma + 1;
  }
  return all;
}

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

void set_transports(options& o, const char* name, const std::string& value) {
  std::vector<std::string> all = words(value);
  if (all.empty() || std::set(all.begin(), all.end()).size() != all.size())
    bad(name, value, "one or more of self, shm, qdma, verbs and tcp, with commas, each once");
  if (all != options{}.transports)
    for (const std::string& one : all) refuse_absent(name, value, one);
  o.transports = std::move(all);
}

void set_wait_set(options& o, const char* name, const std::string& value) {
  if (value != "auto" && value != "uring" && value != "epoll")
    bad(name, value, "auto, uring or epoll");
  o.wait_set = value;
}

void set_shm_copy(options& o, const char* name, const std::string& value) {
  if (value != "auto" && value != "pipeline" && value != "cma" && value != "direct")
    bad(name, value, "auto, pipeline, cma or direct");
  o.shm_copy = value;
}

constexpr std::array<std::pair<const char*, progress_mode>, 4> modes{
    {{"dedicated", progress_mode::dedicated},
     {"polling", progress_mode::polling},
     {"interrupt", progress_mode::interrupt},
     {"two_threads", progress_mode::two_threads}}};

void set_progress(options& o, const char* name, const std::string& value) {
  o.progress = one_of(modes, name, value, "dedicated, polling, interrupt or two_threads");
}

constexpr std::array<std::pair<const char*, poll_policy>, 3> policies{
    {{"order", poll_policy::in_order},
     {"adaptive", poll_policy::adaptive},
     {"toggle", poll_policy::toggle}}};

void set_poll_policy(options& o, const char* name, const std::string& value) {
  o.experimental.polling = one_of(policies, name, value, "order, adaptive or toggle");
}

constexpr std::array<std::pair<const char*, ring_read_policy>, 5> readings{
    {{"burst", ring_read_policy::burst},
     {"single", ring_read_policy::single},
     {"contiguous", ring_read_policy::contiguous},
     {"post", ring_read_policy::post},
     {"immediate", ring_read_policy::immediate}}};

void set_reading(options& o, const char* name, const std::string& value) {
  o.experimental.reading =
      one_of(readings, name, value, "burst, single, contiguous, post or immediate");
}

constexpr std::array<std::pair<const char*, ring_stores>, 3> storings{
    {{"auto", ring_stores::automatic},
     {"ordinary", ring_stores::ordinary},
     {"streaming", ring_stores::streaming}}};

/// "streaming" may have a size behind a colon.
void set_stores(options& o, const char* name, const std::string& value) {
  constexpr const char* allowed =
      "auto, ordinary, streaming, or streaming:BYTES for pieces of so many bytes and more, at "
      "least "
      "4k, as in streaming:16k";
  const std::size_t colon = std::min(value.find(':'), value.size());
  o.experimental.stores = one_of(storings, name, value.substr(0, colon), allowed);
  if (colon == value.size()) return;
  if (o.experimental.stores != ring_stores::streaming) bad(name, value, allowed);
  o.experimental.streamed_from = bytes(name, value.substr(colon + 1));
  if (o.experimental.streamed_from < smallest_streamed_from) bad(name, value, allowed);
}

constexpr std::array<std::pair<const char*, rendezvous_scheme>, 4> ways{
    {{"auto", rendezvous_scheme::automatic},
     {"frames", rendezvous_scheme::frames},
     {"get", rendezvous_scheme::get},
     {"put", rendezvous_scheme::put}}};

constexpr std::array<std::pair<const char*, registration_caching>, 3> cachings{
    {{"off", registration_caching::off},
     {"on", registration_caching::on},
     {"bounded", registration_caching::bounded}}};

void set_registration_caching(options& o, const char* name, const std::string& value) {
  o.regions.caching = one_of(cachings, name, value, "off, on or bounded");
}

/// Whether a name can stand in WEFT_TRANSPORTS, in this build or another one.
bool is_transport(std::string_view name) {
  constexpr std::array<std::string_view, 5> all{"self", "shm", "qdma", "verbs", "tcp"};
  for (;;) {
    const std::size_t end = std::min(name.find('+'), name.size());
    if (std::find(all.begin(), all.end(), name.substr(0, end)) == all.end()) return false;
    if (end == name.size()) return true;
    name.remove_prefix(end + 1);
  }
}

/// An entry without a transport is for all that have none.
void set_eager_limit(options& o, const char* name, const std::string& value) {
  constexpr const char* allowed =
      "auto, or bytes, also with k, m or g behind them, for all transports; and such limits for "
      "single ones of self, shm, qdma, verbs and tcp, with commas, each once, as in "
      "shm=256k,verbs=8k";
  std::vector<std::string> entries = words(value);
  if (entries.empty()) bad(name, value, allowed);
  std::set<std::string> seen;
  options read;
  for (const std::string& entry : entries) {
    const std::size_t equals = entry.find('=');
    const std::string over = equals == entry.npos ? "" : entry.substr(0, equals);
    const std::string limit = entry.substr(equals + 1);  // npos + 1: all of it
    if (!seen.insert(over).second || (equals != entry.npos && !is_transport(over)))
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

void set_region_entries(options& o, const char* name, const std::string& value) {
  std::size_t n = 0;
  const auto [rest, failure] = std::from_chars(value.data(), value.data() + value.size(), n);
  if (failure != std::errc{} || rest != value.data() + value.size()) bad(name, value, "a number");
  o.regions.most_entries = n;
}

void set_rendezvous(options& o, const char* name, const std::string& value) {
  o.experimental.rendezvous = one_of(ways, name, value, "auto, frames, read or write");
}

constexpr std::array<std::pair<const char*, rendezvous_eager_data>, 3> beginnings{
    {{"auto", rendezvous_eager_data::automatic},
     {"yes", rendezvous_eager_data::yes},
     {"no", rendezvous_eager_data::no}}};

void set_eager_data(options& o, const char* name, const std::string& value) {
  o.experimental.eager_data = one_of(beginnings, name, value, "auto, yes or no");
}

constexpr std::array<std::pair<const char*, chained_fin>, 3> chainings{
    {{"auto", chained_fin::automatic}, {"yes", chained_fin::yes}, {"no", chained_fin::no}}};

void set_chained(options& o, const char* name, const std::string& value) {
  o.experimental.chained = one_of(chainings, name, value, "auto, yes or no");
}

constexpr std::array<std::pair<const char*, bool>, 2> yes_or_no{{{"no", false}, {"yes", true}}};

void set_receiver_first(options& o, const char* name, const std::string& value) {
  o.experimental.receiver_first = one_of(yes_or_no, name, value, "yes or no");
}

constexpr std::array<std::pair<const char*, copy_completion>, 3> ends{
    {{"direct", copy_completion::direct},
     {"one_queue", copy_completion::one_queue},
     {"two_queues", copy_completion::two_queues}}};

void set_qdma_copy_completion(options& o, const char* name, const std::string& value) {
  o.experimental.qdma_copy_completion =
      one_of(ends, name, value, "direct, one_queue or two_queues");
}

void set_spin(options& o, const char* name, const std::string& value) {
  long us = 0;
  const auto [rest, failure] = std::from_chars(value.data(), value.data() + value.size(), us);
  if (failure != std::errc{} || rest != value.data() + value.size() || us < 0 ||
      us > longest_spin.count())
    bad(name, value, fmt::format("a number of microseconds up to {}, a day", longest_spin.count()));
  o.spin = std::chrono::microseconds{us};
}

void set_peer_timeout(options& o, const char* name, const std::string& value) {
  long seconds = 0;
  const auto [rest, failure] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (failure != std::errc{} || rest != value.data() + value.size() || seconds < 2 ||
      seconds > 86'400)
    bad(name, value, "a number of seconds from 2 to 86400");
  o.peer_timeout = std::chrono::seconds{seconds};
}

void set_tcp_links(options& o, const char* name, const std::string& value) {
  unsigned n = 0;
  const auto [rest, failure] = std::from_chars(value.data(), value.data() + value.size(), n);
  if (failure != std::errc{} || rest != value.data() + value.size() || n < 1 || n > 8)
    bad(name, value, "a number from 1 to 8");
  o.tcp_links = n;
}

void set_lanes(options& o, const char* name, const std::string& value) {
  unsigned n = 0;
  const auto [rest, failure] = std::from_chars(value.data(), value.data() + value.size(), n);
  if (failure != std::errc{} || rest != value.data() + value.size() || n < 1 ||
      n > proto::most_lanes)
    bad(name, value, fmt::format("a number from 1 to {}", proto::most_lanes));
  o.lanes = n;
}

void set_calls_at_once(options& o, const char* name, const std::string& value) {
  unsigned n = 0;
  const auto [rest, failure] = std::from_chars(value.data(), value.data() + value.size(), n);
  if (failure != std::errc{} || rest != value.data() + value.size() || n < 1 ||
      n > most_calls_at_once)
    bad(name, value, fmt::format("a number from 1 to {}", most_calls_at_once));
  o.calls_at_once = n;
}

void set_verbs_gid_index(options& o, const char* name, const std::string& value) {
  if (value.empty()) return o.verbs_gid_index.reset();
  unsigned n = 0;
  const auto [rest, failure] = std::from_chars(value.data(), value.data() + value.size(), n);
  if (failure != std::errc{} || rest != value.data() + value.size() || n > 255)
    bad(name, value, "a number from 0 to 255, or empty");
  o.verbs_gid_index = n;
}

std::string name_of(progress_mode m) { return word_for(modes, m); }

std::string name_of(poll_policy p) { return word_for(policies, p); }

std::string name_of(ring_read_policy r) { return word_for(readings, r); }

std::string name_of(const options::experiments& e) {
  const std::string word = word_for(storings, e.stores);
  return e.stores == ring_stores::streaming ? fmt::format("{}:{}", word, e.streamed_from) : word;
}

std::string name_of(registration_caching c) { return word_for(cachings, c); }

std::string name_of(rendezvous_scheme w) { return word_for(ways, w); }

std::string name_of(rendezvous_eager_data b) { return word_for(beginnings, b); }

std::string name_of(chained_fin c) { return word_for(chainings, c); }

std::string name_of(copy_completion e) { return word_for(ends, e); }

std::string join(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& w : all) text += (text.empty() ? "" : ",") + w;
  return text;
}

}  // namespace

const std::vector<environment_variable>& environment_variables() {
  static const std::vector<environment_variable> all{
      {"WEFT_PROGRESS", "progress",
       "which thread moves messages while the application computes: dedicated, polling, interrupt, "
       "two_threads",
       set_progress, [](const options& o) { return name_of(o.progress); }},
      {"WEFT_LANES", "lanes",
       "engines of each process that share nothing on a message's path, for its threads: 1 to 32",
       set_lanes, [](const options& o) { return std::to_string(o.lanes); }},
      {"WEFT_CALLS_AT_ONCE", "calls_at_once",
       "calls of peers that run at once; further ones wait: 1 to 65536", set_calls_at_once,
       [](const options& o) { return std::to_string(o.calls_at_once); }},
      {"WEFT_SPIN", "spin", "microseconds that a waiting thread polls before it sleeps", set_spin,
       [](const options& o) { return std::to_string(o.spin.count()); }},
      {"WEFT_POLL_POLICY", "experimental.polling",
       "how polling threads look at transports: order, adaptive, toggle", set_poll_policy,
       [](const options& o) { return name_of(o.experimental.polling); }},
      {"WEFT_SHM_READ_POLICY", "experimental.reading",
       "what is taken out of a peer's ring at once: burst, single, contiguous, post, immediate",
       set_reading, [](const options& o) { return name_of(o.experimental.reading); }},
      {"WEFT_TRANSPORTS", "transports",
       "transports to use, in order of preference: self, shm, qdma, verbs, tcp; + joins some",
       set_transports, [](const options& o) { return join(o.transports); }},
      {"WEFT_VERBS_DEVICE", "verbs_device",
       "the RDMA device that verbs uses; empty: the first one that works",
       [](options& o, const char*, const std::string& v) { o.verbs_device = v; },
       [](const options& o) { return o.verbs_device; }},
      {"WEFT_VERBS_GID_INDEX", "verbs_gid_index",
       "which of its port's addresses verbs uses; empty: the first one that works",
       set_verbs_gid_index,
       [](const options& o) {
         return o.verbs_gid_index ? std::to_string(*o.verbs_gid_index) : "";
       }},
      {"WEFT_TCP_INTERFACES", "tcp_interfaces",
       "network interfaces that tcp uses, with commas; empty: all that are up",
       [](options& o, const char*, const std::string& v) { o.tcp_interfaces = words(v); },
       [](const options& o) { return join(o.tcp_interfaces); }},
      {"WEFT_TCP_LINKS", "tcp_links",
       "connections to each peer over tcp, 1 to 8: large messages use them all, and one is enough",
       set_tcp_links, [](const options& o) { return std::to_string(o.tcp_links); }},
      {"WEFT_PEER_TIMEOUT", "peer_timeout", "seconds of silence after which another host is lost",
       set_peer_timeout, [](const options& o) { return std::to_string(o.peer_timeout.count()); }},
      {"WEFT_WAIT_SET", "wait_set", "where idle threads sleep: auto, uring, epoll", set_wait_set,
       [](const options& o) { return o.wait_set; }},
      {"WEFT_SHM_COPY", "shm_copy",
       "how large messages cross shared memory: auto, pipeline, cma, direct", set_shm_copy,
       [](const options& o) { return o.shm_copy; }},
      {"WEFT_SHM_STORES", "experimental.stores",
       "how payloads are written into shared memory: auto, ordinary, streaming:BYTES", set_stores,
       [](const options& o) { return name_of(o.experimental); }},
      {"WEFT_EAGER_LIMIT", "eager_limit",
       "bytes of the longest message that goes without a handshake (k, m, g), also for single "
       "transports: shm=256k,verbs=8k; auto: the transport's",
       set_eager_limit, text_of_eager_limits},
      {"WEFT_RENDEZVOUS", "experimental.rendezvous",
       "how the rest of a longer one crosses: auto, frames, get, put", set_rendezvous,
       [](const options& o) { return name_of(o.experimental.rendezvous); }},
      {"WEFT_RENDEZVOUS_EAGER_DATA", "experimental.eager_data",
       "whether its beginning goes with the handshake: auto, yes, no", set_eager_data,
       [](const options& o) { return name_of(o.experimental.eager_data); }},
      {"WEFT_RENDEZVOUS_CHAINED_FIN", "experimental.chained",
       "whether a copy's end is told by the copy itself: auto, yes, no", set_chained,
       [](const options& o) { return name_of(o.experimental.chained); }},
      {"WEFT_RENDEZVOUS_RECEIVER_FIRST", "experimental.receiver_first",
       "whether receives that wait are announced to their source, which then needs no handshake: "
       "yes, no",
       set_receiver_first,
       [](const options& o) { return std::string(o.experimental.receiver_first ? "yes" : "no"); }},
      {"WEFT_QDMA_COPY_COMPLETION", "experimental.qdma_copy_completion",
       "how qdma tells its own side of a copy's end: direct, one_queue, two_queues",
       set_qdma_copy_completion,
       [](const options& o) { return name_of(o.experimental.qdma_copy_completion); }},
      {"WEFT_REGISTRATION_CACHE", "regions.caching",
       "how long memory stays registered with devices: off, on, bounded", set_registration_caching,
       [](const options& o) { return name_of(o.regions.caching); }},
      {"WEFT_REGISTRATION_CACHE_BYTES", "regions.most_bytes",
       "bytes that are registered at most, with bounded (k, m, g)",
       [](options& o, const char* n, const std::string& v) { o.regions.most_bytes = bytes(n, v); },
       [](const options& o) { return std::to_string(o.regions.most_bytes); }},
      {"WEFT_REGISTRATION_CACHE_ENTRIES", "regions.most_entries",
       "ranges that are registered at most, with bounded", set_region_entries,
       [](const options& o) { return std::to_string(o.regions.most_entries); }},
      {"WEFT_UNEXPECTED_BUDGET", "unexpected_budget",
       "bytes for messages that arrive before their receive (k, m, g)",
       [](options& o, const char* n, const std::string& v) { o.unexpected_budget = bytes(n, v); },
       [](const options& o) { return std::to_string(o.unexpected_budget); }},
      {"WEFT_JOB_KEY", "job_key",
       "the secret that processes of a job share, for TCP: 32 to 128 hex digits",
       [](options& o, const char*, const std::string& v) { o.job_key = v; },
       [](const options& o) { return std::string(o.job_key.empty() ? "" : "(set, not shown)"); }},
      {"WEFT_JOB_KEY_FILE", "job_key_file", "a file that holds it and that only its owner may read",
       [](options& o, const char*, const std::string& v) { o.job_key_file = v; },
       [](const options& o) { return o.job_key_file; }},
      {"WEFT_TRACE", "trace_file", "file for a trace that opens in Perfetto; empty: none",
       [](options& o, const char*, const std::string& v) { o.trace_file = v; },
       [](const options& o) { return o.trace_file; }},
      {"WEFT_CALL_TREE", "call_tree_file",
       "file for the steps of messages as text, or stderr; empty: none",
       [](options& o, const char*, const std::string& v) { o.call_tree_file = v; },
       [](const options& o) { return o.call_tree_file; }},
      {"WEFT_CALL_TREE_MESSAGES", "call_tree_messages",
       "messages after which the call tree ends; 0: it does not",
       [](options& o, const char* n, const std::string& v) { o.call_tree_messages = bytes(n, v); },
       [](const options& o) { return std::to_string(o.call_tree_messages); }},
  };
  return all;
}

options detail::checked(options chosen) {
  const auto limit = [](std::size_t& n) { n = std::min(n, most_bytes); };  // SIZE_MAX: no limit
  if (chosen.eager_limit) limit(*chosen.eager_limit);
  for (auto& [over, most] : chosen.eager_limits) limit(most);
  limit(chosen.unexpected_budget);
  limit(chosen.regions.most_bytes);
  options again;
  for (const environment_variable& v : environment_variables())
    v.set(again, fmt::format("options::{} ({})", v.option, v.name).c_str(), v.get(chosen));
  return chosen;
}

}  // namespace weft
