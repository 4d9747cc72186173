// SPDX-License-Identifier: Apache-2.0
#include "peers/ucx.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "support/affinity.hpp"
#include "support/plan.hpp"
#include "support/subprocess.hpp"

namespace weft::bench {
namespace {

constexpr std::chrono::seconds time_limit{60}, time_to_listen{10};

/// A port that was free a moment ago.
int free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof any;
  const auto address = reinterpret_cast<sockaddr*>(&any);
  const bool found =
      fd >= 0 && ::bind(fd, address, length) == 0 && ::getsockname(fd, address, &length) == 0;
  const int why = errno;
  if (fd >= 0) ::close(fd);
  if (!found) throw std::system_error(why, std::system_category(), "a port for ucx_perftest");
  return ntohs(any.sin_port);
}

std::vector<std::string> fields(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> all;
  for (std::string one; std::getline(in, one, ',');) all.push_back(one);
  return all;
}

/// The last line of CSV, by the names in the line of headers: "overall_lat" and so on. The median's
/// name has its percentile before it.
std::map<std::string, double> figures_in(const std::string& out) {
  std::vector<std::string> names;
  std::map<std::string, double> found;
  std::istringstream in(out);
  for (std::string line; std::getline(in, line);) {
    const auto words = fields(line);
    if (line.starts_with("iterations,")) {
      names = words;
    } else if (!names.empty() && words.size() == names.size()) {
      for (std::size_t i = 0; i != words.size(); ++i) {
        const bool is_median =
            names[i].ends_with("percentile_lat") || names[i].starts_with("typical");
        found[is_median ? "median_lat" : names[i]] = std::strtod(words[i].c_str(), nullptr);
      }
    }
  }
  for (const char* name : {"median_lat", "overall_lat", "overall_mr"})
    if (!found.contains(name))
      throw std::runtime_error(
          fmt::format("ucx_perftest printed no {}, but:\n{}", name, out.substr(0, 500)));
  return found;
}

struct work {
  const char* test;
  std::size_t size;
  std::size_t outstanding;  // 0: of a latency
  std::size_t iterations;
  std::size_t warm_up;
};

/// One test. The server waits for one client, so a client may only try again when it was refused.
std::map<std::string, double> run_once(const ucx_installation& which, const work& w,
                                       const std::string& transport) {
  const auto cores = pair_cores();
  command server{{which.perftest.string(), "-p", fmt::format("{}", free_port()), "-c",
                  fmt::format("{}", cores[1])},
                 {{"UCX_TLS", transport == "tcp" ? "tcp,self" : "sm,self"},
                  {"UCX_WARN_UNUSED_ENV_VARS", "n"}}};
  if (transport == "tcp") server.environment["UCX_NET_DEVICES"] = "lo";
  command client = server;
  client.argv.back() = fmt::format("{}", cores[0]);
  for (const auto& word :
       {std::string("127.0.0.1"), std::string("-t"), std::string(w.test), std::string("-s"),
        fmt::format("{}", w.size), std::string("-n"), fmt::format("{}", w.iterations),
        std::string("-w"), fmt::format("{}", w.warm_up), std::string("-f"), std::string("-v")})
    client.argv.push_back(word);
  if (w.outstanding != 0) {
    client.argv.emplace_back("-O");
    client.argv.push_back(fmt::format("{}", w.outstanding));
  }
  const background_command listens(server);
  const auto until = std::chrono::steady_clock::now() + time_to_listen;
  for (;;) {
    const auto result = run_command(client, time_limit);
    if (result.ok()) return figures_in(result.out);
    const bool refused = (result.out + result.err).find("refused") != std::string::npos;
    if (!refused || std::chrono::steady_clock::now() > until)
      throw std::runtime_error(fmt::format("{}\n  command: {}", result.reason(), client.text()));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

/// As many repetitions as the others do, or as the time allows: a short run tells.
work work_of(const ucx_installation& which, const job& what, std::size_t size,
             const std::string& transport) {
  const bool latency = what.bench == "latency";
  const plan loops =
      latency ? latency_plan(size, what.effort) : window_plan(size, what.window, what.effort);
  const auto each = latency ? 1 : what.window;
  work result{latency ? "tag_lat" : "tag_bw", size, latency ? 0 : what.window,
              loops.batches * loops.per_batch * each, loops.warm_up * each};
  if (what.for_ms <= 0) return result;
  result.iterations = 200;
  result.warm_up = 50;
  const double us = 1e6 / run_once(which, result, transport).at("overall_mr");
  const double trips = latency ? 2 : 1;
  result.iterations =
      static_cast<std::size_t>(std::clamp(what.for_ms * 1e3 / (trips * us), 100., 1e8));
  return result;
}

}  // namespace

ucx_installation find_ucx(const std::filesystem::path& prefix) {
  const auto bin = std::filesystem::absolute(prefix) / "bin";
  ucx_installation found{bin / "ucx_perftest", "UCX"};
  if (!find_program(found.perftest.string()))
    throw std::runtime_error(fmt::format("--ucx {}: {} is not there, or may not be run",
                                         prefix.string(), found.perftest.string()));
  const auto said =
      run_command({{(bin / "ucx_info").string(), "-v"}, {}}, std::chrono::seconds(30));
  std::istringstream in(said.out);
  for (std::string word; in >> word;)
    if ((word == "Version" || word == "version:") && in >> word) {
      found.name += ' ' + word;
      break;
    }
  return found;
}

bool ucx_takes_part(const job& what) {
  if (what.hosts) return false;
  return what.bench == "latency" ||
         ((what.bench == "rate" || what.bench == "bandwidth") && what.buffers == "warm");
}

std::vector<json> run_ucx(const ucx_installation& which, const job& what,
                          const std::string& transport) {
  std::vector<json> lines;
  for (const auto size : what.sizes) {
    const auto found = run_once(which, work_of(which, what, size, transport), transport);
    json line = {{"bench", what.bench},
                 {"transport", transport == "qdma" ? "shm" : transport},
                 {"progress", "polling"},
                 {"size", size}};
    if (what.bench == "latency") {
      line[std::string(half_rtt_us)] = found.at("median_lat");
      line["mean"] = found.at("overall_lat");
    } else {
      const bool bytes = what.bench == "bandwidth";
      const double rate = found.at("overall_mr") * (bytes ? static_cast<double>(size) : 1) / 1e6;
      line[std::string(bytes ? mb_s : mmsg_s)] = rate;
      line["mean"] = rate;
      line["window"] = what.window;
    }
    line["library"] = which.name;
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace weft::bench
