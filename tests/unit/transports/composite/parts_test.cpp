// SPDX-License-Identifier: Apache-2.0
// The calls of a composite transport, and the part that gets each of them.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "transports/composite/factory.hpp"

using namespace weft;
using namespace weft::transports;

namespace {

class nobody final : public frame_sink {
 public:
  bool on_frame(const frame_header&, const frame_extension*, const std::byte*) noexcept override {
    return true;
  }
  void on_writable() noexcept override {}
  void on_broken(errc) noexcept override {}
};

/// A part that records its calls.
class part final : public transport {
 public:
  explicit part(transports::traits t) : traits_(t) {}

  const transports::traits& traits() const noexcept override { return traits_; }
  std::string reach(bool) const override { return unreachable; }
  std::unique_ptr<transports::link> open(frame_sink&, const counterpart& who,
                                         wireup_message&) override {
    opened.push_back(who.link);
    return {};
  }
  std::string accept(frame_sink&, const counterpart& who, wireup_message,
                     wireup_message&) override {
    accepted.push_back(who.link);
    return refusal;
  }
  void note(frame_sink& from, wireup_message p) override { notes.emplace_back(&from, p.kind); }
  void forget(frame_sink& from) noexcept override { forgotten.push_back(&from); }
  void invalidate_registrations(std::span<const std::byte> memory) noexcept override {
    bytes_forgotten += memory.size();
  }
  void add_to(metrics& m) const noexcept override { m.registration_hits += 3; }
  std::string describe() const override { return std::string(traits_.name); }
  std::string describe(const frame_sink&) const override { return "a link by " + describe(); }
  weft::pollable* poll_hook() noexcept override { return nullptr; }

  using links = std::vector<std::uint32_t>;  // the part's numbers of the links
  links opened, accepted;
  std::vector<std::pair<frame_sink*, std::uint8_t>> notes;
  std::vector<frame_sink*> forgotten;
  std::size_t bytes_forgotten = 0;
  std::string unreachable, refusal;

 private:
  const transports::traits traits_;
};

/// A part with one link, and one with two.
struct joined {
  part* near = new part({.name = "near",
                         .max_payload = 9000,
                         .fragment = 8000,
                         .first_piece = 100,
                         .shares_memory = true,
                         .fails_in_order = true,
                         .prefers_eager_data = false});
  part* far = new part({.name = "far",
                        .max_payload = 4000,
                        .fragment = 3000,
                        .first_piece = 200,
                        .links = 2,
                        .chains_fin = true});
  std::unique_ptr<transport> both;
  nobody first, second, third;

  explicit joined(std::optional<std::size_t> shm_limit = {}) {
    std::vector<std::unique_ptr<transport>> parts;
    parts.emplace_back(near);
    parts.emplace_back(far);
    both = composite::make("near+far", std::move(parts), shm_limit);
  }
  void open(frame_sink& from, std::uint32_t number) {
    wireup_message offer;
    both->open(from, {0, {}, number}, offer);
  }
  std::string accept(frame_sink& to, std::uint32_t number) {
    wireup_message answer;
    return both->accept(to, {0, {}, number}, {}, answer);
  }
};

}  // namespace

TEST_CASE("joint: its links are those of its parts, one after the other") {
  joined x;
  CHECK(x.both->traits().links == 3);
  x.open(x.first, 0);
  x.open(x.second, 1);
  x.open(x.third, 2);
  CHECK(x.near->opened == part::links{0});
  CHECK(x.far->opened == part::links{0, 1});
  CHECK(x.accept(x.third, 2) == "");
  CHECK(x.accept(x.first, 0) == "");
  CHECK(x.near->accepted == part::links{0});
  CHECK(x.far->accepted == part::links{1});
}

TEST_CASE("joint: a link that none of the parts has is refused") {
  joined x;
  CHECK_THROWS_AS(x.open(x.first, 3), error);
  CHECK_THROWS_AS(x.accept(x.first, ~0u), error);
  CHECK(x.near->opened.size() + x.far->opened.size() + x.far->accepted.size() == 0);
}

TEST_CASE("joint: promises what every part keeps, and nothing that several links do not") {
  const joined x;
  const traits& all = x.both->traits();
  CHECK(all.name == "near+far");
  CHECK(all.max_payload == 4000);
  CHECK(all.fragment == 3000);
  CHECK(all.first_piece == 100);
  CHECK(all.shares_memory);  // so it is offered only to peers that can use all of it
  CHECK_FALSE(all.fails_in_order);
  CHECK_FALSE(all.chains_fin);
}

TEST_CASE("joint: reaches whom every part reaches, and says which one does not") {
  joined x;
  CHECK(x.both->reach(false) == "");
  x.far->unreachable = "no route";
  CHECK(x.both->reach(false) == "far: no route");
}

TEST_CASE("joint: what one part refuses is refused, with its reason") {
  joined x;
  x.far->refusal = "it makes no sense";
  CHECK(x.accept(x.first, 0) == "");
  CHECK(x.accept(x.second, 1) == "it makes no sense");
}

TEST_CASE("joint: news of a link goes to its part, until it is forgotten") {
  joined x;
  x.open(x.first, 0);
  x.open(x.second, 1);
  const auto tell = [&](frame_sink& from, std::uint8_t kind) {
    x.both->note(from, {kind, {}, {}});
  };
  tell(x.second, 7);
  tell(x.first, 8);
  tell(x.third, 9);  // of no link
  using notes = decltype(part::notes);
  CHECK(x.near->notes == notes{{&x.first, 8}});
  CHECK(x.far->notes == notes{{&x.second, 7}});
  CHECK(x.both->describe(x.second) == "a link by far");
  CHECK(x.both->describe(x.third) == "near+far");

  x.both->forget(x.second);
  x.both->forget(x.third);
  CHECK(x.near->forgotten.empty());
  CHECK(x.far->forgotten == std::vector<frame_sink*>{&x.second});
  tell(x.second, 7);
  CHECK(x.far->notes.size() == 1);
  CHECK(x.both->describe(x.second) == "near+far");
}

TEST_CASE("joint: a frame sink that is used again belongs to the part that has it now") {
  joined x;
  x.open(x.first, 0);
  x.both->forget(x.first);
  x.open(x.first, 2);
  CHECK(x.both->describe(x.first) == "a link by far");
  x.both->forget(x.first);
  CHECK(x.near->forgotten.size() == 1);
  CHECK(x.far->forgotten.size() == 1);
}

TEST_CASE("joint: what concerns the process concerns every part") {
  joined x;
  const std::vector<std::byte> memory(100);
  x.both->invalidate_registrations(memory);
  CHECK(x.near->bytes_forgotten == 100);
  CHECK(x.far->bytes_forgotten == 100);
  metrics all;
  x.both->add_to(all);
  CHECK(all.registration_hits == 6);
  CHECK(x.both->describe() == "near, and far");
}

TEST_CASE("joint: it says by which parts a message of that size goes") {
  const auto way = [](const joined& x, std::size_t size) {
    return x.both->explain_rest({.size = size}).at(0).way;
  };
  const joined limited(1000), free;
  CHECK(way(limited, 1000) == "in frames, over near");
  CHECK(way(limited, 1001) == "in frames, over far");
  CHECK(way(free, 1001) == "in frames, over all links of near+far at once");
}

// The engine polls the parts itself; the composite must not poll them again.
TEST_CASE("joint: leaves polling to its parts") {
  joined x;
  CHECK(x.both->poll_hook() == nullptr);
}
