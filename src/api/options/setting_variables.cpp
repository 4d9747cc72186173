// SPDX-License-Identifier: Apache-2.0
// The WEFT_* variables that users set: docs/environment.md, "Settings".
#include <string>

#include <weft/environment.hpp>

#include "api/options/option_text.hpp"
#include "api/options/option_values.hpp"

namespace weft {

const std::vector<environment_variable>& setting_variables() {
  using namespace detail;
  static const std::vector<environment_variable> all{
      {"WEFT_PROGRESS", "progress",
       "which thread moves messages while the application computes: dedicated, polling, interrupt; "
       "two_threads for experiments",
       set_progress, [](const options& o) { return name_of(o.progress); }},
      {"WEFT_PROGRESS_CPUS", "progress_cpus",
       "cores that progress threads run on: auto, inherit, or a list such as 8-15,20",
       set_progress_cpus, [](const options& o) { return o.progress_cpus; }},
      {"WEFT_LANES", "lanes",
       "engines of each process that share nothing on a message's path, for its threads: 1 to 32",
       set_lanes, [](const options& o) { return std::to_string(o.lanes); }},
      {"WEFT_CALLS_AT_ONCE", "calls_at_once",
       "calls of peers that run at once, for one peer three quarters; further ones wait: 1 to "
       "65536",
       set_calls_at_once, [](const options& o) { return std::to_string(o.calls_at_once); }},
      {"WEFT_SPIN", "spin", "microseconds that a waiting thread polls before it sleeps", set_spin,
       [](const options& o) { return std::to_string(o.spin.count()); }},
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
      {"WEFT_TCP_TLS", "tcp_tls",
       "which connections over TCP are encrypted: auto (those to other hosts), yes, no",
       set_tcp_tls, [](const options& o) { return name_of(o.tcp_tls); }},
      {"WEFT_PEER_TIMEOUT", "peer_timeout", "seconds of silence after which another host is lost",
       set_peer_timeout, [](const options& o) { return std::to_string(o.peer_timeout.count()); }},
      {"WEFT_START_TIMEOUT", "start_timeout",
       "seconds that the ranks of a job without a launcher's directory wait for each other",
       set_start_timeout, [](const options& o) { return std::to_string(o.start_timeout.count()); }},
      {"WEFT_STOP_TIMEOUT", "stop_timeout",
       "seconds after which a peer is lost that does not let go of a stopped operation",
       set_stop_timeout, [](const options& o) { return std::to_string(o.stop_timeout.count()); }},
      {"WEFT_LINGER", "linger",
       "milliseconds that a context's end waits until what it has accepted and owes has left",
       set_linger, [](const options& o) { return std::to_string(o.linger.count()); }},
      {"WEFT_WAIT_SET", "wait_set", "where idle threads sleep: auto, uring, epoll", set_wait_set,
       [](const options& o) { return o.wait_set; }},
      {"WEFT_EAGER_LIMIT", "eager_limit",
       "bytes of the longest message that goes without a handshake (k, m, g), also for single "
       "transports: shm=256k,verbs=8k; auto: the transport's",
       set_eager_limit, text_of_eager_limits},
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
      {"WEFT_LOAN_BUDGET", "loan_budget", "bytes for messages that are lent to peers (k, m, g)",
       [](options& o, const char* n, const std::string& v) { o.loan_budget = bytes(n, v); },
       [](const options& o) { return std::to_string(o.loan_budget); }},
      {"WEFT_SOCKET_DIR", "socket_dir",
       "a folder that containers share, for the names of Unix sockets; empty: the network "
       "namespace",
       [](options& o, const char*, const std::string& v) { o.socket_dir = v; },
       [](const options& o) { return o.socket_dir; }},
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
      {"WEFT_METRICS", "metrics_file",
       "file for the counters as OpenMetrics text, replaced in intervals; empty: none",
       [](options& o, const char*, const std::string& v) { o.metrics_file = v; },
       [](const options& o) { return o.metrics_file; }},
      {"WEFT_METRICS_INTERVAL", "metrics_interval", "seconds between two of them",
       set_metrics_interval,
       [](const options& o) { return std::to_string(o.metrics_interval.count()); }},
      {"WEFT_CALL_TREE", "call_tree_file",
       "file for the steps of messages as text, or stderr; empty: none",
       [](options& o, const char*, const std::string& v) { o.call_tree_file = v; },
       [](const options& o) { return o.call_tree_file; }},
      {"WEFT_CALL_TREE_MESSAGES", "call_tree_messages",
       "messages after which the call tree ends; 0: it does not",
       [](options& o, const char* n, const std::string& v) { o.call_tree_messages = bytes(n, v); },
       [](const options& o) { return std::to_string(o.call_tree_messages); }},
      {"WEFT_DUMP_SIGNAL", "dump",
       "the signal for which a process prints what it waits for: auto, none, QUIT, USR1, USR2",
       set_dump, [](const options& o) { return name_of(o.dump); }},
      {"WEFT_LOG", "log.most", "what is reported to people: none, error, warning, info, debug",
       set_log, [](const options& o) { return name_of(o.log.most); }},
  };
  return all;
}

}  // namespace weft
