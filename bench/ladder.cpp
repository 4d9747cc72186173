// SPDX-License-Identifier: Apache-2.0
// The ladder of the RDMA channel: latency and bandwidth of a pipe of each rung, and of bare writes
// between registered memory, in turns in the same two processes. Or the same channel on plain
// shared memory.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "commands.hpp"
#include "memory_channel.hpp"
#include "report.hpp"
#include "runtime/memory_file.hpp"
#include "stage.hpp"
#include "support/clock.hpp"
#include "support/pattern.hpp"
#include "support/plan.hpp"
#include "support/spin.hpp"
#include "transports/verbs/finder.hpp"
#include "transports/verbs/ladder/connection.hpp"

namespace weft::bench::ladder_command {
namespace {

namespace verbs = transports::verbs;
namespace ladder = verbs::ladder;
using ladder::rung;

constexpr std::size_t kib = 1024, mib = kib * kib;

struct request {
  settings chosen{.transport = "verbs", .progress = "polling"};
  std::vector<std::size_t> small{8, 256, 4 * kib},
      large{64, kib, 4 * kib, 16 * kib, 64 * kib, 256 * kib, mib};
  std::vector<std::size_t> chunks{kib, 2 * kib, 4 * kib, 8 * kib, 16 * kib, 32 * kib};
  std::size_t window = 4;
  int rounds = 11;
  double effort = 1.0;

  /// Bytes of the longest message.
  std::size_t longest() const {
    std::size_t n = stamp_size;
    for (const auto* sizes : {&small, &large})
      for (const std::size_t size : *sizes) n = std::max(n, size);
    return n;
  }
};

std::unique_ptr<verbs::device> first_device() {
  std::string why;
  auto found = verbs::find({}, why);
  if (!found) throw std::runtime_error(why);
  return found;
}

/// A way for messages between two processes. A message is written at `out` and read at `in`; there
/// is a place for each message of a window, and one for the answer.
class way {
 public:
  way(std::string name, std::size_t chunk, std::unique_ptr<verbs::device> device)
      : name_(std::move(name)), chunk_(chunk), device_(std::move(device)) {}
  virtual ~way() = default;

  virtual std::span<const std::byte> card() const = 0;
  virtual void meet(std::span<const std::byte> card) = 0;
  virtual std::span<std::byte> out(std::size_t place, std::size_t size) = 0;
  virtual std::span<std::byte> in(std::size_t place, std::size_t size) = 0;
  virtual void send(std::span<const std::byte> message) = 0;
  /// \param sequence of its stamp
  virtual void receive(std::span<std::byte> message, std::uint64_t sequence) = 0;

  const std::string& name() const { return name_; }
  std::size_t chunk() const { return chunk_; }

 protected:
  verbs::device& device() { return *device_; }

 private:
  const std::string name_;
  const std::size_t chunk_;
  const std::unique_ptr<verbs::device> device_;
};

class by_pipe final : public way {
 public:
  by_pipe(std::string name, const ladder::settings& s, const request& wanted)
      : way(std::move(name), s.chunk, first_device()),
        pipe_(ladder::open(device(), s)),
        out_(wanted.window + 1, wanted.longest()),
        in_(wanted.window + 1, wanted.longest()) {}

  std::span<const std::byte> card() const override { return pipe_->card(); }
  void meet(std::span<const std::byte> card) override { pipe_->meet(card); }
  std::span<std::byte> out(std::size_t place, std::size_t size) override {
    return out_[place].first(size);
  }
  std::span<std::byte> in(std::size_t place, std::size_t size) override {
    return in_[place].first(size);
  }
  void send(const_buffer message) override {
    while (!message.empty()) {
      const std::size_t n = pipe_->put({&message, 1});
      message = message.subspan(n);
      if (n == 0) pipe_->progress();
    }
  }
  void receive(mutable_buffer message, std::uint64_t) override {
    while (!message.empty()) {
      const std::size_t n = pipe_->get({&message, 1});
      message = message.subspan(n);
      if (n == 0) pipe_->progress();
    }
  }

 private:
  std::unique_ptr<ladder::pipe> pipe_;
  heap_buffers out_, in_;
};

/// The device without a pipe: one write for a message, to memory where the other side polls the
/// last bytes.
class by_writes final : public way {
 public:
  explicit by_writes(const request& wanted)
      : way("raw", 0, first_device()),
        most_(wanted.longest()),
        line_(device(), {.step = rung::basic, .ring = (wanted.window + 1) * most_}) {}

  std::span<const std::byte> card() const override {
    return std::as_bytes(std::span(&line_.card(), 1));
  }
  void meet(std::span<const std::byte> card) override { line_.meet(card); }
  std::span<std::byte> out(std::size_t place, std::size_t size) override {
    return {line_.outbox() + place * most_, size};
  }
  std::span<std::byte> in(std::size_t place, std::size_t size) override {
    return {line_.inbox() + place * most_, size};
  }
  void send(std::span<const std::byte> message) override {
    while (line_.places() == 0) continue;
    line_.write(static_cast<std::size_t>(message.data() - line_.outbox()), message.size());
  }
  void receive(std::span<std::byte> message, std::uint64_t sequence) override {
    const auto* const last = reinterpret_cast<const volatile std::uint64_t*>(
        message.data() + message.size() - stamp_size);
    std::size_t looks = 0;
    spin_until([&] {
      if (++looks % 1024 == 0) line_.look();  // the connection may have broken
      return *last == sequence;
    });
  }

 private:
  const std::size_t most_;
  ladder::connection line_;
};

/// The channel on plain shared memory: the processes copy, and no device is needed. Each end owns
/// the memory of the ring that it writes; the other one opens it through /proc.
class by_memory final : public way {
 public:
  /// \param chunk 0: the head is written once for all that fits
  by_memory(std::string name, std::size_t chunk, const request& wanted)
      : way(std::move(name), chunk, nullptr),
        file_(runtime::make_memory_file("weft-bench-ladder", bytes)),
        own_(runtime::map_own(file_, bytes)),
        card_{::getpid(), file_.get()},
        to_peer_(channel(own_)),
        out_(wanted.window + 1, wanted.longest()),
        in_(wanted.window + 1, wanted.longest()) {}

  std::span<const std::byte> card() const override { return std::as_bytes(std::span(&card_, 1)); }
  void meet(std::span<const std::byte> card) override {
    place_of_file there;
    if (card.size() != sizeof there) throw std::runtime_error("a card of another size");
    std::memcpy(&there, card.data(), sizeof there);
    const auto path = fmt::format("/proc/{}/fd/{}", there.process, there.descriptor);
    const runtime::unique_fd file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!file)
      throw std::runtime_error(
          fmt::format("cannot open {}: {}; are both sides processes of one user on this host?",
                      path, std::strerror(errno)));
    peers_ = runtime::map_from_peer(file, bytes, true);
    from_peer_.emplace(channel(peers_));
  }
  std::span<std::byte> out(std::size_t place, std::size_t size) override {
    return out_[place].first(size);
  }
  std::span<std::byte> in(std::size_t place, std::size_t size) override {
    return in_[place].first(size);
  }
  void send(std::span<const std::byte> message) override {
    while (!message.empty()) message = message.subspan(to_peer_.put(message));
  }
  void receive(std::span<std::byte> message, std::uint64_t) override {
    while (!message.empty()) message = message.subspan(from_peer_->get(message));
  }

 private:
  static constexpr std::size_t bytes = memory_channel::bytes(256 * kib);
  struct place_of_file {
    pid_t process = 0;
    int descriptor = -1;
  };

  memory_channel channel(const runtime::mapping& memory) const {
    return {{static_cast<std::byte*>(memory.get()), bytes}, chunk()};
  }

  runtime::unique_fd file_;
  runtime::mapping own_, peers_;
  place_of_file card_;
  memory_channel to_peer_;
  std::optional<memory_channel> from_peer_;
  heap_buffers out_, in_;
};

/// \param sequence of the next message; is advanced
void round_trips(way& w, int rank, std::size_t size, std::size_t count, std::uint64_t& sequence) {
  const auto send = [&] {
    const auto message = w.out(0, size);
    stamp(message, sequence);
    w.send(message);
  };
  for (std::size_t i = 0; i != count; ++i) {
    ++sequence;
    if (rank == 0) send();
    const auto box = w.in(0, size);
    w.receive(box, sequence);
    check_stamp(box, sequence);
    if (rank == 1) send();
  }
}

void windows(way& w, int rank, std::size_t size, std::size_t window, std::size_t count,
             std::uint64_t& sequence) {
  for (std::size_t i = 0; i != count; ++i) {
    ++sequence;
    for (std::size_t k = 0; k != window; ++k)
      if (rank == 0) {
        stamp(w.out(k, size), sequence);
        w.send(w.out(k, size));
      } else {
        w.receive(w.in(k, size), sequence);
        check_stamp(w.in(k, size), sequence);
      }
    const auto answer = rank == 1 ? w.out(window, stamp_size) : w.in(window, stamp_size);
    if (rank == 1) {
      stamp(answer, sequence);
      w.send(answer);
    } else {
      w.receive(answer, sequence);
    }
  }
}

/// The ways, and the way that each is compared with.
struct contestants {
  std::vector<std::unique_ptr<way>> all;
  std::vector<std::size_t> below;  ///< the rung below; itself: none
  std::size_t rungs;               ///< all others are chunk sizes

  explicit contestants(const request& wanted) {
    const auto add = [&](std::unique_ptr<way> w, std::size_t on) {
      all.push_back(std::move(w));
      below.push_back(on);
    };
    const std::size_t usual = ladder::settings{}.chunk;
    // The usual chunk is measured among the rungs.
    std::vector<std::size_t> chunks = wanted.chunks;
    std::erase(chunks, usual);
    if (wanted.chosen.transport == "shm") {
      const auto channel = [&](const char* name, std::size_t chunk) {
        return std::make_unique<by_memory>(name, chunk, wanted);
      };
      add(channel("basic", 0), 0);
      add(channel("pipelined", usual), 0);
      rungs = all.size();
      for (const std::size_t chunk : chunks) add(channel("pipelined", chunk), all.size());
      return;
    }
    const auto pipe = [&](const char* name, rung step, std::size_t chunk) {
      return std::make_unique<by_pipe>(name, ladder::settings{.step = step, .chunk = chunk},
                                       wanted);
    };
    add(std::make_unique<by_writes>(wanted), 0);
    add(pipe("basic", rung::basic, usual), 1);
    add(pipe("piggyback", rung::piggyback, usual), 1);
    add(pipe("pipelined", rung::pipelined, usual), 2);
    add(pipe("zero-copy, read", rung::read, usual), 3);
    add(pipe("zero-copy, written", rung::written, usual), 3);
    rungs = all.size();
    for (const std::size_t chunk : chunks)
      add(pipe("pipelined", rung::pipelined, chunk), all.size());
  }

  void meet(pair_member& member) {
    for (const auto& one : all) one->meet(member.exchange(one->card()));
    member.barrier();
  }
};

/// Medians of each round, for the ways from `first` to `last`, in turns.
std::vector<std::vector<double>> measure(contestants& them, std::size_t first, std::size_t last,
                                         const request& wanted, pair_member& member,
                                         std::size_t size, bool one_way) {
  static constexpr std::size_t most_bytes = mib;
  const std::size_t bytes = size * (one_way ? wanted.window : 1);
  const plan loops = plan{.warm_up = 2,
                          .batches = 5,
                          .per_batch = std::clamp<std::size_t>(most_bytes / 8 / bytes, 1, 40)}
                         .scaled(wanted.effort);
  std::vector<std::vector<double>> samples(last - first);
  std::vector<std::uint64_t> sequence(last - first);
  for (int round = 0; round != wanted.rounds; ++round)
    for (std::size_t turn = 0; turn != samples.size(); ++turn) {
      // The order changes, so that no way always follows the same other one.
      const std::size_t which = (turn + static_cast<std::size_t>(round)) % samples.size();
      way& w = *them.all[first + which];
      const auto go = [&](std::size_t count) {
        try {
          if (one_way)
            windows(w, member.rank(), size, wanted.window, count, sequence[which]);
          else
            round_trips(w, member.rank(), size, count, sequence[which]);
        } catch (const std::exception& e) {
          throw std::runtime_error(fmt::format("{}, {} bytes: {}", w.name(), size, e.what()));
        }
      };
      member.barrier();
      go(loops.warm_up);
      std::vector<double> batches;
      for (std::size_t i = 0; i != loops.batches; ++i) {
        const auto start = now_ns();
        go(loops.per_batch);
        const double us = us_between(start, now_ns()) / static_cast<double>(loops.per_batch);
        batches.push_back(one_way ? static_cast<double>(bytes) / us : us / 2);
      }
      samples[which].push_back(median(std::move(batches)));
    }
  return samples;
}

/// The factor by which `a` is better than `b`, as the median of the pairs.
double gain(const std::vector<double>& a, const std::vector<double>& b, bool more_is_better) {
  return median(more_is_better ? paired_ratios(a, b) : paired_ratios(b, a));
}

void act(pair_member& member, const request& wanted) {
  contestants them(wanted);
  them.meet(member);
  report out({{"size", "size"},
              {"step", "step"},
              {"chunk", "chunk"},
              {"half round trip µs", "half_rtt_us"},
              {"MB/s", "mb_s"},
              {"p10", "p10"},
              {"p90", "p90"},
              {"of raw", "of_raw"},
              {"gain", "gain"}},
             wanted.chosen.as_json);
  const bool tells = member.rank() == 0;
  if (tells)
    out.title(
        fmt::format("{}; one way {} in flight; {} rounds in turns; of raw, and gain on "
                    "the rung below: medians of the pairs",
                    wanted.chosen.transport, wanted.window, wanted.rounds));
  const auto tell = [&](std::size_t size, bool one_way, std::size_t first,
                        const std::vector<std::vector<double>>& samples) {
    for (std::size_t i = 0; tells && i != samples.size(); ++i) {
      const way& w = *them.all[first + i];
      auto line = make_line(head_of("ladder", wanted.chosen, size), one_way ? mb_s : half_rtt_us,
                            samples[i]);
      line["step"] = w.name();
      if (w.chunk() != 0) line["chunk"] = size_text(w.chunk());
      const std::size_t below = them.below[first + i];
      if (first == 0 && wanted.chosen.transport != "shm")
        line["of_raw"] = gain(samples[i], samples[0], one_way);
      if (below != first + i) line["gain"] = gain(samples[i], samples[below - first], one_way);
      out.add(line);
    }
  };
  for (const std::size_t size : wanted.small)
    tell(size, false, 0, measure(them, 0, them.rungs, wanted, member, size, false));
  for (const std::size_t size : wanted.large)
    tell(size, true, 0, measure(them, 0, them.rungs, wanted, member, size, true));
  for (const std::size_t size : wanted.large)
    if (them.all.size() != them.rungs)
      tell(size, true, them.rungs,
           measure(them, them.rungs, them.all.size(), wanted, member, size, true));
  if (tells) out.finish();
  member.barrier();
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto* sub = app.add_subcommand("ladder", "The rungs of the RDMA channel against bare writes");
  const auto sizes = [&](const char* name, std::vector<std::size_t>& into, const char* about) {
    sub->add_option(name, into, about)
        ->delimiter(',')
        ->transform(CLI::AsSizeValue(false) & CLI::Range(stamp_size, std::size_t{16} * mib));
  };
  sizes("--size", wanted->small, "Bytes of a message, there and back");
  sizes("--large", wanted->large, "Bytes of a message, one way");
  sizes("--chunk", wanted->chunks, "Bytes of a chunk: every message one way, pipelined");
  sub->add_option("--window", wanted->window, "Messages in flight, one way")
      ->check(CLI::PositiveNumber);
  sub->add_option("--rounds", wanted->rounds, "Turns of all ways")->check(CLI::PositiveNumber);
  sub->add_option("--effort", wanted->effort, "Factor on the samples of each round")
      ->check(CLI::PositiveNumber);
  sub->add_option("--transport", wanted->chosen.transport,
                  "verbs: the rungs over a device; shm: the channel on plain shared memory")
      ->check(CLI::IsMember({"verbs", "shm"}));
  add_settings(*sub, wanted->chosen, {.transport = false, .progress = false});
  add_side_options(*sub, wanted->chosen);
  sub->callback([wanted] {
    on_sides("ladder", wanted->chosen, [&](pair_member& member) { act(member, *wanted); });
  });
}

}  // namespace weft::bench::ladder_command
