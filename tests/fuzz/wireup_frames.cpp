// SPDX-License-Identifier: Apache-2.0
// Packets of the control plane, through every decoder: each is refused, or decoded, and then the
// same when it is encoded again.
#include <vector>
#include <weft/error.hpp>

#include "target.hpp"
#include "wireup/auth/introduction.hpp"
#include "wireup/job/job_wire.hpp"
#include "wireup/sockets/locator.hpp"
#include "wireup/sockets/unix_socket.hpp"

namespace weft::fuzz {

namespace {

using namespace wireup;

bool same(const identity& a, const identity& b) {
  return a.id == b.id && a.job == b.job && a.rank == b.rank && a.lane == b.lane &&
         a.locator == b.locator;
}

/// A handshake with this context, in which no made-up proof may be accepted.
void introductions(const frame& f) {
  static const context_key ours({std::byte{1}}), theirs({std::byte{2}});
  responder listens(ours, {});
  const auto h = listens.judge(f);
  check(!h.value && !h.wrong.empty(), "nobody proves who it is without its key");
  initiator connects(theirs, {});
  check(connects.hear(listens.invite()).value == ours.id(), "an invitation names its key");
  connects.greet({});
  check(!connects.judge(f).value, "nor who listens");
  if (initiator other(theirs, {}); other.hear(f).value) try {
      other.greet({});
    } catch (const error&) {
      // No context can have that key.
    }
}

void first_words(const frame& f) {
  if (const auto h = decode_hello(f); h.value) {
    check(parse_locator(h.value->who.locator).has_value(), "a hello names a locator");
    check(h.value->who.lane < proto::most_lanes, "a hello names a lane that can be");
    check(h.value->private_data.size() <= max_private_data, "a greeting has its limit");
    const auto again = decode_hello(encode(*h.value));
    check(again.value && same(again.value->who, h.value->who) && again.value->key == h.value->key &&
              again.value->fresh == h.value->fresh && again.value->proof == h.value->proof &&
              again.value->why == h.value->why &&
              again.value->listener_number == h.value->listener_number &&
              again.value->ticket == h.value->ticket && again.value->lane == h.value->lane &&
              again.value->private_data == h.value->private_data,
          "a hello survives being encoded");
  } else {
    check(!h.wrong.empty(), "what is wrong with a hello is told");
  }
  if (const auto w = decode_welcome(f); w.value) {
    const auto again = decode_welcome(encode_welcome(*w.value));
    check(
        again.value && same(again.value->who, w.value->who) && again.value->proof == w.value->proof,
        "a welcome survives being encoded");
  }
  if (const auto i = decode_invitation(f); i.value) {
    const auto again = decode_invitation(encode(*i.value));
    check(again.value && again.value->key == i.value->key && again.value->fresh == i.value->fresh,
          "an invitation survives being encoded");
  }
  const std::string reason = decode_refusal(f);
  check(reason.size() <= max_reason, "a reason has its limit");
  check(std::none_of(reason.begin(), reason.end(), [](char c) { return c < ' ' || c > '~'; }),
        "a reason can be printed");
}

void job_words(const frame& f) {
  if (const auto h = decode_job_hello(f)) {
    const auto again = decode_job_hello(encode(*h));
    check(again && again->job == h->job && again->rank == h->rank, "job hello");
  }
  if (const auto w = decode_job_welcome(f)) {
    const auto again = decode_job_welcome(encode(*w));
    check(again && again->job == w->job && again->size == w->size, "job welcome");
  }
  if (const auto l = decode_publish(f)) check(decode_publish(encode_publish(*l)) == l, "publish");
  if (const auto r = decode_find(f)) {
    const auto again = decode_find(encode(*r));
    check(again && again->rank == r->rank && again->gone == r->gone, "find");
  }
  if (const auto found = decode_found(f)) {
    const auto again = decode_found(encode(*found));
    check(again && again->rank == found->rank && again->locator == found->locator, "found");
  }
  if (const auto e = decode_ended(f)) {
    const auto again = decode_ended(encode(*e));
    check(again && again->rank == e->rank && again->died == e->died, "ended");
  }
}

/// A request for a dump, which any process of this user may send in place of a hello, and the
/// answer.
void dump_words(const frame& f) {
  if (const auto form = form_of_dump(f)) {
    check(f.kind == frame_kind::dump_request && f.body.empty() && f.fds.empty(),
          "a request for a dump is a word");
    const auto again =
        form_of_dump(frame{frame_kind::dump_request, static_cast<std::uint8_t>(*form), {}, {}});
    check(again == form, "a request for a dump survives being encoded");
  }
  if (f.kind == frame_kind::dump_request || f.kind == frame_kind::dump_part) {
    check(f.detail <= 1 && f.fds.empty(),
          "a dump has two forms, and its parts are the last one or not");
    check(!decode_hello(f).value && !decode_welcome(f).value && !decode_job_hello(f),
          "a dump is no first word");
  }
}

}  // namespace

void run(input in) {
  // As many descriptors came with the packet; which ones is irrelevant.
  const std::size_t descriptors = in.get<std::uint8_t>() % 10u;
  const auto packet = in.rest();
  is_listener_question(packet);
  if (const auto a = decode_listener_answer(packet)) {
    const auto again = decode_listener_answer(encode(*a));
    check(again && again->listener_number == a->listener_number && again->locator == a->locator,
          "listener answer");
  }
  const auto f = frame_header::parse(packet, std::vector<unique_fd>(descriptors));
  if (!f) return;
  check(f->fds.size() == descriptors && f->body.size() <= max_frame_body, "a frame has its limits");
  check(f->body.size() + frame_header::size == packet.size(), "a frame is its packet");
  const auto head = frame_header::of(*f);
  check(std::equal(head.begin(), head.end(), packet.begin()), "a frame survives being encoded");
  first_words(*f);
  if (f->kind <= frame_kind::refusal || f->kind == frame_kind::invitation) introductions(*f);
  job_words(*f);
  dump_words(*f);
}

}  // namespace weft::fuzz
