// SPDX-License-Identifier: Apache-2.0
// A peer that asks for topics, and says what subscribers and publishers say, in any order, while
// the application publishes, subscribes, takes values and closes. No more values wait for their
// reader than have a place, and when the peer has gone nothing of it is left.
#include <weft/embedded_loop.hpp>
#include <weft/topic.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/core/core.hpp"
#include "api/topics/topic_node.hpp"
#include "proto/messenger/message_errors.hpp"
#include "scripted_link.hpp"
#include "topic_peer.hpp"

namespace weft::fuzz {
namespace {

using runtime::engine;

options alone() {
  options o;
  o.standalone = true;
  o.progress = progress_mode::polling;
  o.wait_set = "epoll";
  o.transports = {"self"};
  o.loan_budget = 256 * 1024;
  o.unexpected_budget = 1u << 20;
  o.linger = std::chrono::milliseconds(0);
  return o;
}

void wake(void*) noexcept {}

class market {
 public:
  market() {
    const engine::holder hold(core_.engine());
    auto link = std::make_unique<scripted_link>(mood_, *villain_);
    link_ = link.get();
    villain_->opened(std::move(link), villain_->writer().grant_first_credit());
  }

  ~market() {
    mood_ = 0;
    {
      const engine::holder hold(core_.engine());
      villain_->give_up(errc::peer_lost, "gone");
    }
    settle();
    for (const auto& each : numbers_) check(has_lost_villain(each), "a lost subscriber is dropped");
    for (const auto& each : texts_) check(has_lost_villain(each), "a lost subscriber is dropped");
    for (const topic_info& each : core_.topics().list())
      for (const peer_id who : each.publishers)
        check(who != villain_->id(), "the directory has lost its publisher");
    for (auto& each : readers_) end(each);
    readers_.clear();
    numbers_ = {};
    texts_ = {};
    settle();
    check(core_.topics().list().empty(), "no topic is left");
    {
      const engine::holder hold(core_.engine());
      check(core_.loans().is_whole(), "every loan has come back");
    }
    villain_.reset();
    loop_.reset();
    context_.reset();
  }

  void run(input in) {
    while (!in.empty()) step(in);
  }

 private:
  using number_reader = subscriber<int>;
  struct reader {
    number_reader of;
    std::uint32_t depth;  // 0: of any number of publishers
  };

  template <class T>
  bool has_lost_villain(const std::optional<publisher<T>>& p) const {
    if (!p) return true;
    const auto all = p->info().subscribers;
    return std::none_of(all.begin(), all.end(), [this](const subscriber_info& each) {
      return each.who == name_of(villain_->id());
    });
  }

  // --- the application --------------------------------------------------------------------------

  void publish(input& in) {
    const auto how = in.get<std::uint8_t>();
    if (auto& p = numbers_[how % 2]; p && (how & 4) == 0) p->try_publish(how);
    if (auto& p = texts_[how % 2]; p && (how & 4) != 0)
      p->try_publish(std::string(how & 8 ? 5000u : how * 4u, 'y'));
  }
  template <class T>
  void open(std::optional<publisher<T>>& p, const char* name, std::uint8_t how) {
    p.reset();
    if (how & 2) return;
    try {
      p.emplace(context_.value(), name, publisher_options{how / 4u % 16, (how & 64) == 0});
    } catch (const error& e) {
      check(e.kind() == errc::invalid_argument, "a topic has one publisher in a context");
    }
  }
  void subscribe(input& in) {
    const auto how = in.get<std::uint8_t>();
    if (readers_.size() == 4) return;
    subscription_options o;
    o.policy = when_full(how % 3);
    o.depth = 2 + how / 4u % 8;
    if (how & 32) o.limit = {2};
    const endpoint there = internals::endpoint_of(villain_);
    if (how & 64)
      readers_.push_back({number_reader(*context_, "numbers", o), 0});
    else
      readers_.push_back({number_reader(*context_, there, "numbers", o), o.depth});
  }
  /// \return whether there was one
  static bool take(reader& from) {
    try {
      const auto next = from.of.try_next();
      if (!next) return false;
      static_cast<void>(next->value());
      check(next->sequence() != 0, "values have numbers");
    } catch (const error& e) {
      check(e.kind() != errc::invalid_argument && e.kind() != errc::stopped,
            "a subscription ends by what the peer has done");
      return false;
    }
    return true;
  }
  /// Nothing more comes: takes all that has come, and no more than had a place.
  static void end(reader& of) {
    std::uint32_t left = 0;
    while (take(of)) ++left;
    check(of.depth == 0 || left <= of.depth / 2, "no more values wait than have a place");
  }

  void settle() {
    {
      const engine::holder hold(core_.engine());
      link_->work();
    }
    for (int i = 0; i != 3; ++i) loop_->turn(std::chrono::steady_clock::now() + longest_turn, true);
  }

  void step(input& in) {
    const auto action = in.get<std::uint8_t>() % 20;
    const auto which = action < 16 ? std::uint8_t{0} : in.get<std::uint8_t>();
    switch (action) {
      case 0:
      case 1:
        return says_.ask_for_values(in);
      case 2:
        return says_.announce(in);
      case 3:
        return says_.call_anything(in);
      case 4:
        return says_.answer(in);
      case 5:
      case 6:
        return says_.say_word(in);
      case 7:
      case 8:
        return says_.say_value(in);
      case 9:
        return says_.frame(in);
      case 10:
      case 11:
        return publish(in);
      case 12:
        return subscribe(in);
      case 13:
      case 14:
      case 15:
        return settle();
      case 16:
        if (!readers_.empty()) take(readers_[which % readers_.size()]);
        return;
      case 17:
        if (which & 128) {
          if (!readers_.empty()) readers_.erase(readers_.begin() + which % readers_.size());
          return;
        }
        return which & 1 ? open(numbers_[which / 64u % 2], "numbers", which)
                         : open(texts_[which / 64u % 2], "texts", which);
      case 18:
        mood_ = which;
        return;
      default: {
        const engine::holder hold(core_.engine());
        if (which == 0) villain_->close();
        if (which == 1) villain_->give_up(errc::peer_lost, "gone");
        if (which > 1) villain_->on_writable();
      }
    }
  }

  static constexpr std::chrono::seconds longest_turn{1};

  std::uint8_t mood_ = 0;  // of the link
  std::optional<context> context_{alone()};
  std::optional<embedded_loop> loop_{std::in_place, *context_, wake, nullptr};
  core& core_ = core_of(*context_);
  std::shared_ptr<peer> villain_ = core_.messenger().peers().at(1);
  topic_peer says_{core_.engine(), *villain_};
  scripted_link* link_ = nullptr;
  std::array<std::optional<publisher<int>>, 2> numbers_;
  std::array<std::optional<publisher<std::string>>, 2> texts_;
  std::vector<reader> readers_;
};

}  // namespace

void run(input in) { market().run(in); }

}  // namespace weft::fuzz
