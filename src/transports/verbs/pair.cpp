// SPDX-License-Identifier: Apache-2.0
#include "transports/verbs/pair.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/os/brief_wait.hpp"
#include "transports/verbs/hardware/addresses.hpp"
#include "transports/verbs/transport.hpp"

namespace weft::transports::verbs {

namespace {

using clock = std::chrono::steady_clock;

// A connection that broke because its process left or died is followed by the news of that. One
// that breaks for other reasons is lost after this time.
constexpr auto grace = std::chrono::milliseconds(500);
// How many polls the end of a peer waits for its last frames.
constexpr unsigned last_looks = 8;
// How long the end of a link waits until its last frames have arrived.
constexpr auto last_frames = std::chrono::milliseconds(500);
// How long the end of a queue pair waits for the device to report its work as ended.
constexpr auto last_work = std::chrono::milliseconds(50);

constexpr std::uint32_t number_mask = (1u << 24) - 1;

std::uint32_t random_psn() {
  std::uint32_t n = 0;
  if (::getrandom(&n, sizeof n, 0) != sizeof n)
    throw error(errc::system, fmt::format("getrandom failed: {}", std::strerror(errno)));
  return n & number_mask;
}

}  // namespace

pair::pair(verbs_transport& owner, transports::frame_sink& peer, counterpart who,
           std::uint32_t number)
    : owner_(owner),
      frame_sink_(peer),
      who_(std::move(who)),
      number_(number),
      inbox_(owner.make_inbox()),
      queue_(owner.device().make_queue_pair(), owner.pool(), number),
      transfers_(queue_, owner.cache(), owner.device()) {
  const place& here = owner.device().here();
  card_ = {magic,
           version,
           here.lid,
           queue_.on().number(),
           random_psn(),
           here.mtu,
           static_cast<std::uint8_t>(here.ethernet ? 1 : 0),
           static_cast<std::uint8_t>(window),
           owner.device().can().reads_at_once,
           slot_bytes,
           here.gid,
           inbox_ ? inbox_bytes : 0,
           inbox_ ? inbox_->registered().remote_key() : 0};
  owner.completed().add(*this);
}

pair::~pair() {
  stage_ = stage::ended;
  owner_.completed().forget(*this);
}

// --- meeting -------------------------------------------------------------------------------------

wireup_message pair::own_address() const {
  wireup_message p;
  p.bytes.resize(sizeof card_);
  std::memcpy(p.bytes.data(), &card_, sizeof card_);
  return p;
}

/// Takes the peer's queue pair address, from its offer or its answer. \return empty, or why it is
/// refused
std::string pair::meet(const wireup_message& p) {
  queue_pair_address there;
  if (p.bytes.size() != sizeof there || !p.fds.empty()) return "the verbs card makes no sense";
  std::memcpy(&there, p.bytes.data(), sizeof there);
  if (there.magic != magic || there.ethernet > 1 || there.mtu < IBV_MTU_256 ||
      there.mtu > IBV_MTU_4096 || there.queue_pair > number_mask || there.first_psn > number_mask ||
      (there.inbox != 0 && there.inbox != inbox_bytes))
    return "the verbs card makes no sense";
  if (there.version != version || there.window != window || there.slot_bytes != slot_bytes)
    return fmt::format("it speaks version {} of the verbs transport, this side {}", there.version,
                       version);
  if (there.ethernet != card_.ethernet) return "one side has InfiniBand, the other Ethernet";
  if (theirs_)
    return std::memcmp(&*theirs_, &there, sizeof there) == 0 ? "" : "it has another queue pair now";
  if (stage_ == stage::ended) return "the connection has ended";
  if (std::string why = queue_.on().connect(there, card_.first_psn, owner_.peer_timeout());
      !why.empty())
    return why;
  theirs_ = there;
  stage_ = stage::up;
  return {};
}

std::unique_ptr<send_link> pair::open(wireup_message& offer) {
  if (stage_ == stage::ended) throw error(errc::unreachable, "the connection has ended");
  auto made = std::make_unique<send_link>(*this);
  offer = own_address();
  link_ = made.get();
  return made;
}

std::string pair::accept(const wireup_message& offer, wireup_message& answer) {
  if (accepted_) return "it may send already";
  if (std::string why = meet(offer); !why.empty()) return why;
  answer = own_address();
  accepted_ = true;
  return {};
}

std::string pair::take_answer(const wireup_message& answer) {
  // A connection that was made and broke meanwhile ends the peer: no other transport is tried then.
  return stage_ == stage::ended && theirs_ ? "" : meet(answer);
}

// --- sending -------------------------------------------------------------------------------------

bool pair::has_room(std::size_t bytes) const noexcept {
  return ahead() < window && queue_.has_room(bytes);
}

std::byte* pair::begin_frame(std::size_t bytes) noexcept {
  return open_for_work() && has_room(bytes) ? queue_.begin(bytes) : nullptr;
}

post pair::end_frame(std::size_t bytes) noexcept {
  if (const int code = queue_.post(bytes, port_.read(), next_place()); code != 0) {
    broke(std::strerror(code));
    return post::failed;
  }
  port_.told();
  ++sent_;
  return post::done;
}

post pair::not_now(std::size_t bytes) noexcept {
  return open_for_work() ? wait_for_room(bytes, 1) : post::failed;
}

post pair::wait_for_room(std::size_t bytes, std::uint32_t places) noexcept {
  room_for_ = bytes;
  places_for_ = places;
  owner_.wants_room(*this);
  return post::busy;
}

bool pair::notify_writable() noexcept {
  // A quarter of the window: not every frame that is read is worth a call.
  if (stage_ == stage::up && link_ &&
      (ahead() > window - window / 4 || !has_room(room_for_) || queue_.places() < places_for_))
    return false;
  waits_for_room = false;
  if (stage_ == stage::up && link_) frame_sink_.on_writable();
  return true;
}

/// Frames of the transport are not counted: they block no other frame, and there are few. They have
/// no slot in an inbox, so they are always sent.
bool pair::post_own(own_kind kind) noexcept {
  const frame_header h{0, 0, static_cast<std::uint8_t>(kind), 0, 0};
  if (!queue_.has_room(sizeof h)) return false;
  std::memcpy(queue_.begin(sizeof h), &h, sizeof h);
  if (const int code = queue_.post(sizeof h, port_.read(), {}); code != 0)
    broke(std::strerror(code));
  else
    port_.told();
  return true;
}

bool pair::pay() noexcept {
  if (!open_for_work() || port_.owed() < window / 2) return true;
  return post_own(own_kind::credit);
}

// --- memory --------------------------------------------------------------------------------------

bool pair::can_read() const noexcept {
  return open_for_work() && card_.reads_at_once != 0 && theirs_->reads_at_once != 0;
}

post pair::begun(post answer, int trouble) noexcept {
  if (trouble != 0) broke(std::strerror(trouble));
  return answer == post::busy ? wait_for_room(0, transfers::most_works) : answer;
}

post pair::read(scatter into, remote_address from, std::size_t size,
                std::uint64_t cookie) noexcept {
  int trouble = 0;
  if (!can_read()) return post::failed;
  return begun(transfers_.read(into, from, size, cookie, trouble), trouble);
}

post pair::write(gather data, remote_address to, std::size_t size, std::uint64_t cookie) noexcept {
  int trouble = 0;
  if (!can_write()) return post::failed;
  return begun(transfers_.write(data, to, size, cookie, trouble), trouble);
}

std::optional<remote_address> pair::show(std::span<std::byte> memory, memory_access how) noexcept {
  return open_for_work() ? transfers_.show(memory, how) : std::nullopt;
}

void pair::sent(std::uint32_t place) noexcept {
  queue_.done(place);
  transfers_.done(place, frame_sink_);
}

/// The work has ended with an error all the same, so its memory is free again.
void pair::failed(std::uint32_t place, std::string_view what) noexcept {
  queue_.done(place);
  broke(what);
}

/// The end of the queue pair stops a peer in the middle of a read or a write of this side's memory,
/// and this side's device. Frames that were sent before must still arrive.
void pair::let_go() noexcept {
  if (!transfers_.any()) return;
  const bool was_up = open_for_work();
  transfers_.fall_silent();
  send_disconnect();
  shut();
  transfers_.let_go();
  if (was_up) hang_up();
}

/// Tells a peer that sends nothing, and would not notice.
void pair::hang_up() noexcept {
  if (!who_.tell) return;
  try {
    who_.tell(own_address());
  } catch (const std::exception&) {
    // No memory: the peer learns of it when it sends.
  }
}

// --- receiving -----------------------------------------------------------------------------------

void pair::received(std::span<const std::byte> bytes, std::uint32_t peer_has_read) noexcept {
  if (reported_) return;
  if (peer_has_read - peer_read_ > ahead()) return end(errc::protocol_error);
  peer_read_ = peer_has_read;
  if (port_.take(bytes, accepted_ ? &frame_sink_ : nullptr) == port::verdict::nonsense)
    return end(errc::protocol_error);
  if (port_.owed() >= window / 2) owner_.owes(*this);
}

// --- ends ----------------------------------------------------------------------------------------

void pair::broke(std::string_view what) noexcept {
  if (stage_ == stage::ended) return;
  try {
    trouble_ = what;
  } catch (const std::bad_alloc&) {
    // No memory: the connection is lost without a reason.
  }
  end_soon();
}

void pair::give_up(std::string_view why) noexcept {
  if (open_for_work()) broke(why);
}

/// The control plane is first to say why a peer has ended: it left in good order, or has died.
void pair::end_soon() noexcept {
  stage_ = stage::ended;
  queue_.on().fail();
  ended_at_ = clock::now();
  owner_.want_ticks();
}

void pair::end(errc why) noexcept {
  if (stage_ != stage::ended) queue_.on().fail();
  stage_ = stage::ended;
  if (!std::exchange(reported_, true)) frame_sink_.on_broken(why);
}

bool pair::tick(clock::time_point now) noexcept {
  if (!ended_at_ || reported_) return false;
  if (now - *ended_at_ < grace) return true;
  if (!trouble_.empty()) owner_.complain(trouble_);
  hang_up();
  end(errc::peer_lost);
  return false;
}

void pair::send_disconnect() noexcept {
  if (!link_ || !open_for_work()) return;
  const auto until = clock::now() + last_frames;
  for (runtime::brief_wait between_looks; !post_own(own_kind::disconnect); between_looks.wait()) {
    if (!open_for_work() || clock::now() > until) return;
    owner_.look_for(*this, false);
  }
  sent_disconnect_ = true;
  // Waits until everything has arrived: a queue pair that is destroyed drops what was not
  // acknowledged.
  for (runtime::brief_wait between_looks;
       stage_ == stage::up && !queue_.all_done() && queue_.mark() && clock::now() < until;
       between_looks.wait())
    owner_.look_for(*this, false);
}

/// For a peer known over TCP there is no process id: then it counts as alive.
bool pair::peer_process_lives() const noexcept {
  if (who_.pid == 0) return true;
  const unique_fd process(static_cast<int>(::syscall(SYS_pidfd_open, who_.pid, 0)));
  if (!process) return errno != ESRCH;
  pollfd end{process.get(), POLLIN, 0};
  return ::poll(&end, 1, 0) == 0;
}

/// \return whether the peer has all that was sent, this side's disconnect message included, or
///   never will have
bool pair::try_disconnect() noexcept {
  if (!link_ || !open_for_work()) return true;
  if (!sent_disconnect_ && !post_own(own_kind::disconnect)) return false;
  sent_disconnect_ = true;
  return stage_ != stage::up || queue_.all_done() || !queue_.mark();
}

bool pair::drain_peer() noexcept {
  const bool lives = peer_process_lives();
  const bool said_all = !lives || try_disconnect();
  const bool any = owner_.look_for(*this, true);
  if (!accepted_ || reported_ || port_.heard_farewell()) return said_all;
  return !any && (!lives || stage_ != stage::up);
}

/// A few polls, without waiting, however much the peer has sent or still sends.
void pair::forget() noexcept {
  if (peer_process_lives()) try_disconnect();
  for (unsigned n = 0; n != last_looks && accepted_ && !reported_ && !port_.heard_farewell(); ++n)
    if (!owner_.look_for(*this, true)) break;
  reported_ = true;  // the caller reports it
  transfers_.fall_silent();
  shut();
  accepted_ = false;
}

/// The end of the queue pair would drop its completions, and the receive that holds half a frame:
/// so the connection is broken first, which ends that receive. Not all devices report when this is
/// done (LAST_WQE_REACHED); but work that is posted on a broken connection ends after it.
void pair::shut() noexcept {
  if (!queue_.is_open()) return;
  stage_ = stage::ended;
  if (accepted_ && !port_.heard_farewell()) {
    queue_.on().fail();
    const auto until = clock::now() + last_work;
    if (queue_.mark_anew())
      for (runtime::brief_wait between_looks; !queue_.all_done() && clock::now() < until;
           between_looks.wait())
        owner_.look_for(*this, false);
  }
  owner_.completed().fetch();
  queue_.shut();
  owner_.completed().retire(*this);
}

void pair::link_ended() noexcept {
  let_go();
  send_disconnect();
  link_ = nullptr;
  owner_.forget_if_idle(*this);
}

std::string pair::describe() const {
  switch (stage_) {
    case stage::alone:
      return "being connected";
    case stage::ended:
      return trouble_.empty() ? "the connection has ended" : trouble_;
    case stage::up:
      return fmt::format(
          "queue pair {} to {} of {}", card_.queue_pair, theirs_->queue_pair,
          theirs_->ethernet != 0 ? text_of(theirs_->gid) : fmt::format("LID {}", theirs_->lid));
  }
  return {};
}

}  // namespace weft::transports::verbs
