// SPDX-License-Identifier: Apache-2.0
#include "scene.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <thread>

#include "acts.hpp"
#include "frames.hpp"
#include "services.hpp"

namespace hostile {

using namespace weft;

namespace {

constexpr std::uint64_t most_acts = 40;
constexpr unsigned polls_until_idle = 20;
constexpr unsigned most_looks = 2000;
constexpr std::size_t most_guises = 6;

// Parts of the dice besides those of the acts, which have their own numbers.
constexpr std::uint64_t of_the_beginning = 1'000'000, of_the_end = 1'000'001;

}  // namespace

scene::scene(board& on, const settings& s, std::uint64_t seed)
    : board_(on), settings_(s), seed_(seed), dice_(seed) {}

void scene::print(const std::string& line) const {
  std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed_), line.c_str());
  std::fflush(stdout);
}

guise* scene::any_guise(dice& d) {
  std::vector<guise*> there;
  for (const auto& g : guises)
    if (!g->channels.empty()) there.push_back(g.get());
  return there.empty() ? nullptr : d.one_of(there);
}

tie* scene::some_way(guise& g, dice& d) {
  std::vector<tie*> open;
  for (const auto& t : g.ties)
    if (t->open) open.push_back(t.get());
  return open.empty() ? nullptr : d.one_of(open);
}

guise* scene::enter(dice& d, const std::string& private_data) {
  if (guises.size() >= most_guises) return nullptr;
  const bool far = settings_.transport != "shm" && settings_.transport != "qdma" && d.percent(30);
  say("a client comes {}, greeting \"{}\"", far ? "over TCP" : "by a Unix socket", private_data);
  auto made = std::make_unique<guise>(
      settings_, d.part(7), [this](const std::string& line) { say("{}", line); }, d.percent(30));
  const bool well = made->request_connection(
      std::string((far ? board_.tcp_listener : board_.listening).get()), private_data);
  if (!well) say("  it was not let in");
  guises.push_back(std::move(made));
  if (!well) return nullptr;
  guise& g = *guises.back();
  victim = g.channels.front()->peer();
  return &g;
}

void scene::look() {
  for (unsigned quiet = 0, looks = 0; quiet != polls_until_idle && looks != most_looks; ++looks) {
    bool any = false;
    for (const auto& g : guises) any = g->look() || any;
    quiet = any ? 0 : quiet + 1;
    if (!any) std::this_thread::sleep_for(std::chrono::microseconds(10));
  }
}

void scene::wait(std::chrono::microseconds how_long) {
  const std::int64_t until = now() + how_long.count() * 1000;
  do look();
  while (now() < until);
}

/// Connects as a correct peer does, so that acts get further.
void scene::come_well(dice& d) {
  guise* const g = enter(d, d.one_of(service_names));
  if (!g) return;
  for (const auto& t : g->ties)
    if (d.percent(t->further == 0 ? 60 : 95)) g->offer(*t);
}

void scene::begin(dice d) {
  for (std::uint64_t left = d.percent(70) ? 1 : d.between(2, 3); left != 0; --left) come_well(d);
  look();
}

bool scene::all_are_cut_off() const {
  return std::none_of(guises.begin(), guises.end(), [](const auto& g) {
    return !g->channels.empty() &&
           std::any_of(g->ties.begin(), g->ties.end(), [](const auto& t) { return t->open; });
  });
}

void scene::end(dice d) {
  const std::uint64_t how = d.below(100);
  if (how < 5) {
    say("the process ends");
    dies = true;
    return;
  }
  for (const auto& g : guises) {
    if (how < 30) g->leave();  // before its links are there
    if (how < 60) g->drop_all();
  }
  say("all leave");
}

/// Makes the victim use all memory that it keeps for messages once; the memory is reused later.
void scene::use_all_credit() {
  constexpr std::uint64_t contexts = 4, more_than_granted = 5000;
  dice d = dice_;
  for (std::uint64_t i = 0; i != contexts; ++i) {
    guise* const g = enter(d, "ignore");
    if (!g) continue;
    g->offer(*g->ties.front());
    for (unsigned looks = 0; looks != 100 && !g->ties.front()->open; ++looks) look();
  }
  for (const auto& g : guises)
    for (std::uint64_t n = 1; n != more_than_granted; ++n) {
      const draft f =
          extended(frame_kind::rts, n << 48 | 100'000, 0, tag_left_lying, 0, proto::eager_ends);
      if (!g->send(*g->ties.front(), f.h, f.x)) break;
    }
  look();
}

void scene::play_tame() {
  if (seed_ < 2) return use_all_credit();
  dice d = dice_;
  guise* const g = enter(d, seed_ % 2 == 0 ? "push" : "echo");
  if (!g) return;
  g->only = g->ties[seed_ / 2 % g->ties.size()].get();
  if (seed_ % 2 == 1)  // else the victim connects first
    for (const auto& t : g->ties) g->offer(*t);
  for (unsigned i = 0; i != 10; ++i) look();
}

bool scene::play() {
  begin(dice_.part(of_the_beginning));
  dice d = dice_;
  const std::uint64_t many = d.between(3, most_acts);
  for (std::uint64_t i = 0; i != many; ++i) {
    const auto& only = settings_.only;
    if (!only.empty() && std::find(only.begin(), only.end(), i) == only.end()) continue;
    dice of_act = dice_.part(i);
    const act& a = choose_act(of_act, settings_);
    if (all_are_cut_off() && of_act.percent(40)) {
      come_well(of_act);
      look();
    }
    say("act {}: {}", i, a.name);
    a.play(*this, of_act);
    for (const auto& g : guises) g->look();
  }
  look();
  end(dice_.part(of_the_end));
  return !dies;
}

int be_attacker(board& on, const settings& s) {
  const std::uint64_t all = warm_ups + s.seeds;
  for (std::uint64_t i = on.ended; i != all; ++i) {
    while (on.allowed <= i) {
      if (on.please_end != 0) return 0;
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    on.begun = i + 1;
    if (i < warm_ups) {
      scene(on, s, i).play_tame();
    } else {
      scene played(on, s, s.first + i - warm_ups);
      if (!played.play()) ::_exit(0);
    }
    on.ended = i + 1;
  }
  return 0;
}

}  // namespace hostile
