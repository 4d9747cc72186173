// SPDX-License-Identifier: Apache-2.0
// A VI's life, the messages of its peer, and its end.
#include "bindings/vipl/vi/vi.hpp"

#include <utility>

namespace weft::vipl {

vi::vi(nic& of, const VIP_VI_ATTRIBUTES& a, completion_queue* send_queue,
       completion_queue* receive_queue)
    : owner(of),
      attributes(a),
      connection(of),
      receives(*this, receive_queue),
      sends(*this, send_queue) {
  number = owner.add(*this);
  count_user(attributes.Ptag, 1);
}

vi::~vi() {
  owner.remove(*this);
  count_user(attributes.Ptag, -1);
}

// --- connections --------------------------------------------------------------------------------

introduction vi::introduce() const noexcept {
  introduction i{};
  i.magic = wire_magic;
  i.vi = number;
  i.epoch = connection.epoch();
  i.reliability = attributes.ReliabilityLevel;
  i.rdma_write = attributes.EnableRdmaWrite ? 1 : 0;
  i.rdma_read = attributes.EnableRdmaRead ? 1 : 0;
  i.tag = tag();
  i.max_transfer = attributes.MaxTransferSize;
  i.secret = owner.secret();
  i.landing = receives.landing_secret();
  return i;
}

void vi::begin_connecting(vi_connection::side s) noexcept {
  connection.begin(s);
  sends.restart();
  receives.restart();
  says_broken_ = false;
  denied_writes_ = 0;
}

void vi::connection_lost() noexcept {
  if (connection.pending()) connection.refuse();
  fail(VIP_ERROR_CONN_LOST, nullptr, false);
}

void vi::report(VIP_ERROR_CODE code, VIP_DESCRIPTOR* d) noexcept {
  VIP_ULONG operation = d ? d->CS.Control : VIP_ULONG{0};
  if (code == VIP_ERROR_RDMAW_PROT || code == VIP_ERROR_RDMAW_ABORT || code == VIP_ERROR_RDMAW_DATA)
    operation = VIP_CONTROL_OP_RDMAWRITE;
  if (code == VIP_ERROR_RDMAR_PROT) operation = VIP_CONTROL_OP_RDMAREAD;
  VIP_RESOURCE_CODE what = d ? VIP_RESOURCE_DESCRIPTOR : VIP_RESOURCE_VI;
  if (code == VIP_ERROR_CATASTROPHIC) what = VIP_RESOURCE_NIC;
  owner.raise({owner.handle(), handle(), nullptr, d, operation, what, code});
}

void vi::fail(VIP_ERROR_CODE code, VIP_DESCRIPTOR* d, bool tell, rdma_fault fault) noexcept {
  if (!connection.connected()) return;
  connection.fail();
  says_broken_ = tell;
  fault_ = fault == rdma_fault::none && sends.writes_now() ? rdma_fault::write_aborted : fault;
  if (tell) settle_soon();
  report(code, d);
  receives.end_soon();
  sends.abandon(VIP_STATUS_TRANSPORT_ERROR);
  sends.advance();
  owner.note_event();
}

void vi::disconnect() {
  {
    const nic::locked lock(owner);
    if (connection.attempt) connection.attempt->thread.request_stop();
    if (connection.pending()) connection.refuse();
    owner.note_event();
    if (connection.connected()) {
      connection.fail();
      receives.settle();  // what has arrived is confirmed
      header h = connection.header_of(message::left);
      if (sends.writes_now()) h.length = static_cast<std::uint32_t>(rdma_fault::write_aborted);
      connection.say(h);
      sends.abandon(VIP_STATUS_DESC_FLUSHED_ERROR);
      sends.advance();
    }
  }
  std::optional<peer_attempt> over;
  owner.wait(time_point::max(), [&] {
    if (connection.attempt && !connection.attempt->over) return false;
    over = connection.take_attempt();
    return true;
  });
  over.reset();  // joins its thread
  std::shared_ptr<landing_place> landing;
  {
    const nic::locked lock(owner);
    landing = receives.landing();
  }
  landing->end();
  owner.wait(time_point::max(), [this] { return !sends.in_flight(); });
  const nic::locked lock(owner);
  if (connection.state() != VIP_STATE_IDLE) connection.fail();
  sends.advance();
  receives.flush();
  receives.renew_landing_place();
  if (connection.state() != VIP_STATE_IDLE) connection.end();
  owner.note_event();
}

// --- messages -----------------------------------------------------------------------------------

void vi::on_message(const header& h, peer_id from, std::span<const std::byte> rest) noexcept {
  if (connection.pending()) return connection.on_answer(h, from, rest);
  if (!connection.connected() || !connection.is_of(from)) return;
  switch (h.what) {
    case message::data:
    case message::written:
      return receives.on_arrival(h, rest);
    case message::piece:
      return receives.on_piece(h, rest);
    case message::asks:
      return receives.on_question(h.length);
    case message::arrived:
      return sends.on_arrived(h.length);
    case message::refused:
      return sends.on_refused(h.length);
    case message::ahead:
      if ((h.flags & flags::answers) != 0) sends.on_answer(h.length);
      return sends.on_descriptors(rest);
    case message::broken:
    case message::left:
      return on_end(h);
    case message::denied:
      if (!reliable() && owner.may_report() &&
          h.length == static_cast<std::uint32_t>(rdma_fault::write_denied))
        report(VIP_ERROR_RDMAW_PROT, nullptr);
      return;
    case message::connected:
    case message::agreed:
    case message::gone:
      break;
  }
}

/// The peer has left the connection.
void vi::on_end(const header& h) noexcept {
  VIP_ERROR_CODE code = VIP_ERROR_CONN_LOST;
  switch (static_cast<rdma_fault>(h.length)) {
    case rdma_fault::write_denied:
      code = VIP_ERROR_RDMAW_PROT;
      break;
    case rdma_fault::read_denied:
      code = VIP_ERROR_RDMAR_PROT;
      break;
    case rdma_fault::write_aborted:
      code = VIP_ERROR_RDMAW_ABORT;
      break;
    case rdma_fault::none:
    default:
      break;
  }
  fail(code, nullptr, false);
}

void vi::write_was_denied() noexcept {
  ++denied_writes_;
  settle_soon();
}

void vi::settle() noexcept {
  try {
    receives.settle();
    if (std::exchange(says_broken_, false)) {
      header h = connection.header_of(message::broken);
      h.length = static_cast<std::uint32_t>(fault_);
      connection.say(h);
    }
    for (; connection.connected() && denied_writes_ != 0; --denied_writes_) {
      header h = connection.header_of(message::denied);
      h.length = static_cast<std::uint32_t>(rdma_fault::write_denied);
      connection.say(h);
    }
    if (connection.connected()) sends.settle();
  } catch (const std::exception&) {
    // No memory; the peer learns of it when the context ends.
    fail(VIP_ERROR_CATASTROPHIC, nullptr, false);
  }
  sends.advance();
}

}  // namespace weft::vipl
