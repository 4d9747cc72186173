// SPDX-License-Identifier: Apache-2.0
#include <weft/qdma.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <utility>

#include <weft/coro/time.hpp>

#include "api/core/core.hpp"
#include "api/qdma/qdma_port.hpp"
#include "runtime/os/brief_wait.hpp"

namespace weft::detail {

qdma::detail::port& core::open_qdma(transports::qdma::table t) {
  auto made = qdma::detail::port::make(engine_, std::move(t));
  const runtime::engine::holder hold(engine_);
  if (qdma_ || ended()) {
    made->shut();
    if (ended()) throw error(errc::closed, "the context has ended");
    throw error(errc::invalid_argument, "this context has a qdma device already; use that one");
  }
  engine_.add(made->device());
  qdma_ = made;
  engine_.look_after();
  return *made;
}

}  // namespace weft::detail

namespace weft::qdma {

using detail::port;
using runtime::engine;
using transports::qdma::chain_steps;
using transports::qdma::own_regions;
using transports::qdma::vpid;

namespace {

constexpr auto until_next_try = std::chrono::milliseconds(1);

chain_steps shared(const chain& c) {
  return std::make_shared<const std::vector<descriptor>>(c.steps());
}

chain copy(descriptor::what kind, const region& here, std::uint64_t here_offset,
           remote_region there, std::uint64_t there_offset, std::uint64_t size) {
  descriptor d;
  d.kind = kind;
  d.to = there.owner;
  d.local_key = here.id().key;
  d.local_offset = here_offset;
  d.remote_key = there.key;
  d.remote_offset = there_offset;
  d.size = size;
  return chain(std::move(d));
}

}  // namespace

// --- chains ----------------------------------------------------------------------------------

chain post(remote_queue to, const_buffer message) {
  if (message.size() > max_post)
    throw error(errc::invalid_argument,
                fmt::format("a message of {} bytes does not fit into a slot, which holds {}; write "
                            "it into a region",
                            message.size(), max_post));
  if (to.number == 0 || to.number >= transports::qdma::queue_count)
    throw error(errc::invalid_argument,
                fmt::format("there is no queue {}; take its name from queue::id", to.number));
  descriptor d;
  d.kind = descriptor::what::post;
  d.to = to.owner;
  d.queue = to.number;
  d.payload.assign(message.begin(), message.end());
  return chain(std::move(d));
}

chain rdma_write(const region& from, std::uint64_t from_offset, remote_region to,
                 std::uint64_t to_offset, std::uint64_t size) {
  return copy(descriptor::what::write, from, from_offset, to, to_offset, size);
}

chain rdma_read(const region& into, std::uint64_t into_offset, remote_region from,
                std::uint64_t from_offset, std::uint64_t size) {
  return copy(descriptor::what::read, into, into_offset, from, from_offset, size);
}

chain signal(remote_event e) {
  descriptor d;
  d.to = e.owner;
  d.event = e.key;
  return chain(std::move(d));
}

// --- waiting -----------------------------------------------------------------------------------

bool trigger_operation::start() noexcept {
  const engine::holder hold(at->engine());
  return at->device().wait(*this);
}

void trigger_operation::cancel() noexcept {
  const engine::holder hold(at->engine());
  at->device().cancel(*this);
}

bool receive_operation::start() noexcept {
  const engine::holder hold(at->engine());
  return at->device().receive(*this);
}

void receive_operation::cancel() noexcept {
  const engine::holder hold(at->engine());
  at->device().cancel(*this);
}

// --- event -------------------------------------------------------------------------------------

event::event(event&& o) noexcept : port_(std::exchange(o.port_, nullptr)), key_(o.key_) {}

event& event::operator=(event&& o) noexcept {
  std::swap(port_, o.port_);
  std::swap(key_, o.key_);
  return *this;
}

event::~event() {
  if (!port_ || port_->engine().is_inherited()) return;
  const engine::holder hold(port_->engine());
  port_->device().drop_event(key_);
}

remote_event event::id() const noexcept {
  return {static_cast<process>(port_->device().self()), key_};
}

void event::arm(std::uint64_t completions) {
  const engine::holder hold(port_->engine());
  port_->device().arm_event(key_, completions);
}

void event::on_trigger(const chain& c) {
  chain_steps steps = shared(c);
  const engine::holder hold(port_->engine());
  port_->device().hang(key_, std::move(steps));
}

void event::depends_on(process peer) {
  const engine::holder hold(port_->engine());
  port_->device().depend(key_, static_cast<vpid>(peer));
}

trigger_request event::triggered() const noexcept { return {port_, key_}; }

// --- queue -------------------------------------------------------------------------------------

queue::queue(queue&& o) noexcept : port_(std::exchange(o.port_, nullptr)), number_(o.number_) {}

queue& queue::operator=(queue&& o) noexcept {
  std::swap(port_, o.port_);
  std::swap(number_, o.number_);
  return *this;
}

queue::~queue() {
  if (!port_ || port_->engine().is_inherited()) return;
  const engine::holder hold(port_->engine());
  port_->device().close_queue(number_);
}

remote_queue queue::id() const noexcept {
  return {static_cast<process>(port_->device().self()), number_};
}

receive_request queue::receive(mutable_buffer into) const noexcept {
  return {port_, number_, into};
}

// --- region ------------------------------------------------------------------------------------

region::region(region&& o) noexcept
    : port_(std::exchange(o.port_, nullptr)), key_(o.key_), bytes_(o.bytes_), owned_(o.owned_) {}

region& region::operator=(region&& o) noexcept {
  std::swap(port_, o.port_);
  std::swap(key_, o.key_);
  std::swap(bytes_, o.bytes_);
  std::swap(owned_, o.owned_);
  return *this;
}

/// A copy takes microseconds, unless its process was stopped in the middle, or never began. Then
/// its slot is not used again: neither the record nor memory of the device.
region::~region() {
  if (!port_ || port_->engine().is_inherited()) return;
  transports::qdma::device& d = port_->device();
  {
    const engine::holder hold(port_->engine());
    d.regions().withdraw(key_);
  }
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  runtime::brief_wait between_looks;
  while (own_regions::is_held(d.segment(), key_, d.contexts())) {
    if (std::chrono::steady_clock::now() > limit) return;
    between_looks.wait();
  }
  const engine::holder hold(port_->engine());
  d.regions().retire(key_, d.segment());
  if (owned_) d.regions().free(bytes_);
}

remote_region region::id() const noexcept {
  return {static_cast<process>(port_->device().self()), key_, bytes_.size()};
}

// --- device ------------------------------------------------------------------------------------

device device::open(context& of) {
  return device(weft::detail::core_of(of).open_qdma(transports::qdma::table::make()));
}

task<device> device::join(context& of, device_address who) {
  std::uint32_t head[4] = {};
  transports::qdma::socket_id where{};
  std::memcpy(head, who.bytes.data(), sizeof head);
  std::memcpy(where.data(), who.bytes.data() + sizeof head, sizeof where);
  if (head[0] != 0x6d647177 || head[1] != 1)
    throw error(errc::invalid_argument, "these bytes are no address of a qdma device");
  weft::detail::core& core = weft::detail::core_of(of);
  std::shared_ptr<unique_fd> table;
  while (!table) {
    bool asked = false;
    weft::detail::callback_request<std::shared_ptr<unique_fd>> request{
        &core.engine(), [&](const detail::table_box& box) {
          asked = detail::ask_for_table(core.engine(), where, box);
          if (!asked) box->deliver(nullptr);
        }};
    table = co_await request;
    if (!asked) co_await sleep_for(until_next_try);
  }
  device made(core.open_qdma(transports::qdma::table::from(std::move(*table))));
  co_await made.meet(static_cast<process>(head[2]));
  co_return made;
}

task<void> device::meet(process who) {
  if (who == self()) co_return;
  unique_fd line;
  for (bool under_way = false; !under_way;) {
    weft::detail::callback_request<process> request{&port_->engine(),
                                                    [&](const detail::arrival_box& box) {
                                                      under_way = port_->meet(who, line, box);
                                                      if (!under_way) box->deliver(process::nobody);
                                                    }};
    const process met = co_await request;
    if (!under_way) {
      co_await sleep_for(until_next_try);
      continue;
    }
    if (met != who)
      throw error(errc::peer_lost, fmt::format("process {:#x} has ended, another one is there",
                                               static_cast<vpid>(who)));
  }
}

process device::self() const noexcept { return static_cast<process>(port_->device().self()); }
device_address device::where() const { return port_->where(); }

event device::make_event(std::uint64_t completions, bool repeat) {
  const engine::holder hold(port_->engine());
  return {*port_, port_->device().make_event(completions, repeat)};
}

queue device::open_queue() {
  const engine::holder hold(port_->engine());
  return {*port_, port_->device().open_queue()};
}

region device::register_memory(std::span<std::byte> memory, rights permissions) {
  const engine::holder hold(port_->engine());
  return {*port_, port_->device().regions().add(memory, permissions), memory, false};
}

region device::allocate(std::size_t size, rights permissions) {
  if (size == 0) throw error(errc::invalid_argument, "a region of 0 bytes; ask for at least one");
  const engine::holder hold(port_->engine());
  own_regions& all = port_->device().regions();
  const std::span<std::byte> memory = all.allocate(size);
  try {
    return {*port_, all.add(memory, permissions), memory, true};
  } catch (...) {
    all.free(memory);
    throw;
  }
}

void device::start(const chain& c) {
  chain_steps steps = shared(c);
  const engine::holder hold(port_->engine());
  port_->device().start(std::move(steps));
}

bool device::knows(process who) const {
  const engine::holder hold(port_->engine());
  return port_->device().knows(static_cast<vpid>(who));
}

std::string device::describe() const {
  const engine::holder hold(port_->engine());
  return port_->device().describe();
}

}  // namespace weft::qdma
