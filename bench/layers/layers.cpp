// SPDX-License-Identifier: Apache-2.0
// The time that each layer adds to a message: the transport alone (shared memory and qdma on one
// host), with the protocols, with coroutines; over qdma also the queue below the transport, with as
// many bytes. The paper on Open MPI over Elan4 measures its layers in section 6.3 and figure 9. All
// take turns, so that drift of the machine affects all of them.
#include <fmt/format.h>
#include <sys/socket.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include <weft/external_loop.hpp>

#include "commands.hpp"
#include "layers/bare_link.hpp"
#include "layers/native_queue.hpp"
#include "stage/local_line.hpp"
#include "stage/plain_loop.hpp"
#include "stage/report.hpp"
#include "stage/ways.hpp"

namespace weft::bench::layers_command {
namespace {

constexpr std::size_t target_size = 8;
constexpr double bound_ns = 25;   // of the design, for protocol and API together
constexpr double paper_ns = 500;  // "PML layer cost" in section 6.3

struct request {
  settings chosen{.progress = "polling"};
  std::vector<std::size_t> sizes{8};
  int rounds = 31;
  double effort = 1;
};

/// Messages by operations of the protocol layer, started without coroutines.
class by_hand {
 public:
  explicit by_hand(place& at) : peer_(at.peer), external_loop_(at.ctx) {}

  void send(std::span<const std::byte> data) {
    started<send_operation> op(peer_.send(data, data_tag));
    end(op);
  }
  std::size_t receive(std::span<std::byte> into) {
    started<recv_operation> op(peer_.recv(into, data_tag));
    end(op);
    return op.take().size;
  }

 private:
  template <class Operation>
  struct started : Operation {
    template <class Request>
    explicit started(const Request& r) : Operation(r, &ended) {}
    static void ended(operation& op) noexcept { static_cast<started&>(op).over = true; }
    bool over = false;
  };

  template <class Operation>
  void end(started<Operation>& op) {
    if (!external_loop_.start(op))
      while (!op.over) external_loop::progress_guard(external_loop_).poll(passes_in_turn);
    if (op.status != errc::ok) throw error(op.status, op.explain());
  }

  const endpoint peer_;
  external_loop external_loop_;
};

/// The contestants: each has one layer more than the one before.
enum layer : std::size_t { native, transport, protocol, coroutines, layer_count };
constexpr std::array<const char*, layer_count> names{"native queue", "transport", "with protocol",
                                                     "with coroutines"};
using figures = std::array<std::vector<double>, layer_count>;

/// Nanoseconds that `a` takes longer than `b`, as the median of the rounds.
double longer_by(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> all;
  for (std::size_t i = 0; i < a.size(); ++i) all.push_back((a[i] - b[i]) * 1000);
  return median(std::move(all));
}

void tell(report& out, const request& wanted, std::size_t size, const figures& of) {
  const bool on_queue = !of[native].empty(), on_transport = !of[transport].empty();
  for (std::size_t i = 0; i < layer_count; ++i) {
    if (of[i].empty()) continue;
    auto line = make_line(head_of("layers", wanted.chosen, size), half_rtt_us, of[i]);
    line["layer"] = names[i];
    if (i == native) line["native_bytes"] = size + native_queue::header_bytes;
    if (i != native && on_queue) line["to_native"] = median_ratio(of[i], of[native]);
    if (i != native && !of[i - 1].empty()) line["layer_ns"] = longer_by(of[i], of[i - 1]);
    if (i > transport && on_transport) {
      const double above = longer_by(of[i], of[transport]);
      line["above_transport_ns"] = above;
      if (i == coroutines) {
        line["paper_ns"] = paper_ns;
        if (size == target_size)
          line["target"] =
              fmt::format("≤ {} ns: {}", bound_ns, above <= bound_ns ? "met" : "falls short");
      }
    }
    out.add(line);
  }
}

/// The queue alone; null where it cannot be had.
std::unique_ptr<native_queue> queue_alone(const request& wanted, const unique_fd& line) {
  if (!line || wanted.chosen.transport != "qdma") return {};
  return std::make_unique<native_queue>(line.get());
}

/// The transport alone; null where it cannot be had. `line` is for its making.
std::unique_ptr<bare_link> transport_alone(const request& wanted, const unique_fd& line) {
  const std::string& name = wanted.chosen.transport;
  if (!line || (name != "shm" && name != "qdma")) return {};
  return std::make_unique<bare_link>(name, options_of(wanted.chosen).progress, line.get());
}

void act(pair_member& member, const request& wanted) {
  const unique_fd line = local_line(member, SOCK_SEQPACKET);
  const std::unique_ptr<native_queue> queue = queue_alone(wanted, line);
  const std::unique_ptr<bare_link> bare = transport_alone(wanted, line);
  place for_hand(options_of(wanted.chosen));
  place for_coroutines(options_of(wanted.chosen));
  for_hand.meet(member);
  for_coroutines.meet(member);
  by_hand hand(for_hand);
  const side me{for_coroutines.ctx, for_coroutines.peer, member.rank()};

  const bool tells = member.rank() == 0;
  report out({{"size", "size"},
              {"layers", "layer"},
              {"half round trip µs", "half_rtt_us"},
              {"p10", "p10"},
              {"p90", "p90"},
              {"to native", "to_native"},
              {"this layer, ns", "layer_ns"},
              {"above the transport, ns", "above_transport_ns"},
              {"paper, ns", "paper_ns"},
              {"target", "target"}},
             wanted.chosen.as_json);
  if (tells)
    out.title(fmt::format("{}; {} rounds in turns; differences: medians of the paired ones",
                          wanted.chosen.transport, wanted.rounds));
  const plan loops = plan{.warm_up = 500, .batches = 9, .per_batch = 1000}.scaled(wanted.effort);
  const auto measure = [&](std::size_t which, std::size_t size) {
    member.barrier();
    if (which == native) return half_round_trips_by(*queue, me.rank, size, loops);
    if (which == transport) return half_round_trips_by(*bare, me.rank, size, loops);
    if (which == protocol) return half_round_trips_by(hand, me.rank, size, loops);
    return run(me.ctx, half_round_trips(me, size, loops));
  };
  for (const std::size_t size : wanted.sizes) {
    figures of;
    in_turns(wanted.rounds, layer_count, [&](std::size_t which) {
      if (which == native && (!queue || size > native_queue::most_bytes)) return;
      if (which == transport && !bare) return;
      if (tells) out.measuring(fmt::format("{}, {}", size_text(size), names[which]));
      const auto samples = measure(which, size);
      if (tells) of[which].push_back(median(samples));
    });
    if (tells) tell(out, wanted, size, of);
  }
  if (tells) out.finish();
  member.barrier();
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto* sub = app.add_subcommand("layers", "What each layer of weft adds to a small message");
  sub->add_option("--rounds", wanted->rounds, "Turns of each layer")->check(CLI::PositiveNumber);
  sub->add_option("--effort", wanted->effort, "Factor on the samples of each round")
      ->check(CLI::PositiveNumber);
  add_sizes(*sub, wanted->sizes, "Messages of one frame, at most 8K")->check(CLI::Range(0, 8192));
  add_settings(*sub, wanted->chosen);
  add_side_options(*sub, wanted->chosen);
  sub->callback([wanted] {
    on_sides("layers", wanted->chosen, [&](pair_member& member) { act(member, *wanted); });
  });
}

}  // namespace weft::bench::layers_command
