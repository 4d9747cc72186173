// SPDX-License-Identifier: Apache-2.0
#include "transports/verbs/hardware/hardware.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "runtime/os/brief_wait.hpp"
#include "runtime/os/errno_hint.hpp"
#include "transports/verbs/hardware/addresses.hpp"
#include "transports/verbs/hardware/locked_memory.hpp"

namespace weft::transports::verbs {

namespace {

// How long the answer to a trial may take, on a busy machine.
constexpr auto trial_time = std::chrono::seconds(2);

[[noreturn]] void refused(const std::string& who, const char* what) {
  const int code = errno;
  throw error(errc::system, fmt::format("{}: {} failed: {}; {}", who, what, std::strerror(code),
                                        memlock_hint(code)));
}

/// \throws weft::error when `p` is null
template <class T>
T* made(T* p, const std::string& who, const char* what) {
  if (!p) refused(who, what);
  return p;
}

void make_nonblocking(int fd) noexcept { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

class enrolled final : public registration {
 public:
  explicit enrolled(ibv_mr* mr) noexcept : mr_(mr) {}
  std::uint32_t local_key() const noexcept override { return mr_->lkey; }
  std::uint32_t remote_key() const noexcept override { return mr_->rkey; }

 private:
  std::unique_ptr<ibv_mr, freed_by<&ibv_dereg_mr>> mr_;
};

}  // namespace

hardware::hardware(ibv_device& which, std::uint8_t port)
    : context_(made(ibv_open_device(&which), ibv_get_device_name(&which), "ibv_open_device")),
      name_(ibv_get_device_name(&which)),
      port_(port) {
  ibv_device_attr limits{};
  ibv_port_attr state{};
  if (ibv_query_device(context_.get(), &limits) != 0) refused(name_, "ibv_query_device");
  if (ibv_query_port(context_.get(), port, &state) != 0) refused(name_, "ibv_query_port");
  if (state.state != IBV_PORT_ACTIVE)
    throw error(errc::unreachable, fmt::format("port {} of {} is {}; a cable or its network "
                                               "interface may be down",
                                               port, name_, ibv_port_state_str(state.state)));
  here_.lid = state.lid;
  here_.mtu = static_cast<std::uint8_t>(state.active_mtu);
  here_.ethernet = state.link_layer == IBV_LINK_LAYER_ETHERNET;
  can_.reads_at_once = static_cast<std::uint8_t>(std::clamp(
      std::min(limits.max_qp_rd_atom, limits.max_qp_init_rd_atom), 0, int{can_.reads_at_once}));
  can_.longest = std::min(can_.longest, state.max_msg_sz);
  sizes_.receives = std::min(sizes_.receives, static_cast<std::uint32_t>(limits.max_srq_wr));

  domain_.reset(made(ibv_alloc_pd(context_.get()), name_, "ibv_alloc_pd"));
  channel_.reset(made(ibv_create_comp_channel(context_.get()), name_, "ibv_create_comp_channel"));
  make_nonblocking(channel_->fd);
  make_nonblocking(context_->async_fd);
  const auto room = static_cast<int>(sizes_.receives + sizes_.sends);
  completions_.reset(made(ibv_create_cq(context_.get(), room, nullptr, channel_.get(), 0), name_,
                          "ibv_create_cq"));
  ibv_srq_init_attr shared{};
  shared.attr.max_wr = sizes_.receives;
  shared.attr.max_sge = 1;
  receives_.reset(made(ibv_create_srq(domain_.get(), &shared), name_, "ibv_create_srq"));
}

void hardware::use(const ibv_gid_entry& address) {
  gid_index_ = static_cast<std::uint8_t>(address.gid_index);
  gid_type_ = address.gid_type;
  std::memcpy(here_.gid.data(), address.gid.raw, here_.gid.size());
}

std::string hardware::describe() const {
  return fmt::format("{} port {}, {}, GID index {}: {}, MTU {}", name_, port_, kind_of(gid_type_),
                     gid_index_, text_of(here_.gid), 128 << here_.mtu);
}

std::unique_ptr<registration> hardware::enroll(std::span<std::byte> memory, std::uint64_t first,
                                               int access) {
  ibv_mr* const mr = ibv_reg_mr_iova(domain_.get(), memory.data(), memory.size(), first, access);
  if (!mr)
    throw error(errc::out_of_memory,
                fmt::format("{} cannot lock {} KiB: {}; {}", name_, memory.size() / 1024,
                            std::strerror(errno), memlock_hint(errno)));
  return std::make_unique<enrolled>(mr);
}

// --- queue pairs ---------------------------------------------------------------------------------

class hardware::connection final : public queue_pair {
 public:
  explicit connection(hardware& of) : of_(of) {
    ibv_qp_init_attr wanted{};
    wanted.send_cq = wanted.recv_cq = of.completions_.get();
    wanted.srq = of.receives_.get();
    wanted.qp_type = IBV_QPT_RC;
    wanted.cap.max_send_wr = of.sizes_.sends;
    wanted.cap.max_send_sge = 1;
    wanted.cap.max_inline_data = of.sizes_.inline_bytes;
    qp_.reset(ibv_create_qp(of.domain_.get(), &wanted));
    if (!qp_) {  // some devices have no inline data at all
      wanted.cap.max_inline_data = 0;
      qp_.reset(made(ibv_create_qp(of.domain_.get(), &wanted), of.name_, "ibv_create_qp"));
    }
    inline_bytes_ = wanted.cap.max_inline_data;
    ibv_qp_attr a{};
    a.qp_state = IBV_QPS_INIT;
    a.port_num = of.port_;
    a.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    change(a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, "INIT");
    ++of_.queue_pairs_;
  }
  ~connection() override { --of_.queue_pairs_; }

  std::uint32_t number() const noexcept override { return qp_->qp_num; }
  std::uint32_t inline_bytes() const noexcept override { return inline_bytes_; }

  std::string connect(const queue_pair_address& there, std::uint32_t own_psn,
                      std::chrono::seconds timeout) override try {
    ibv_qp_attr a{};
    a.qp_state = IBV_QPS_RTR;
    a.path_mtu = static_cast<ibv_mtu>(std::min(there.mtu, of_.here_.mtu));
    a.dest_qp_num = there.queue_pair;
    a.rq_psn = there.first_psn;
    a.max_dest_rd_atomic = of_.can_.reads_at_once;
    a.min_rnr_timer = 12;  // 0.64 ms until a sender that found no receive tries again
    a.ah_attr.port_num = of_.port_;
    a.ah_attr.dlid = there.lid;
    // On InfiniBand the local address is enough, except into another subnet.
    a.ah_attr.is_global =
        there.ethernet != 0 ||
        !std::equal(there.gid.begin(), there.gid.begin() + 8, of_.here_.gid.begin());
    std::memcpy(a.ah_attr.grh.dgid.raw, there.gid.data(), there.gid.size());
    a.ah_attr.grh.sgid_index = of_.gid_index_;
    a.ah_attr.grh.hop_limit = 64;
    change(a,
           IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
               IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
           "RTR");
    a = {};
    a.qp_state = IBV_QPS_RTS;
    a.sq_psn = own_psn;
    a.timeout = timeout_for(timeout);
    a.retry_cnt = retries;
    a.rnr_retry = 7;  // without limit: a slow receiver is not a dead one
    a.max_rd_atomic = std::min(of_.can_.reads_at_once, there.reads_at_once);
    change(a,
           IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
               IBV_QP_MAX_QP_RD_ATOMIC,
           "RTS");
    return {};
  } catch (const error& e) {
    return e.what();
  }

  int post(ibv_send_wr& work) noexcept override {
    ibv_send_wr* refused_one = nullptr;
    return ibv_post_send(qp_.get(), &work, &refused_one);
  }

  void fail() noexcept override {
    ibv_qp_attr a{};
    a.qp_state = IBV_QPS_ERR;
    ibv_modify_qp(qp_.get(), &a, IBV_QP_STATE);
  }

 private:
  void change(ibv_qp_attr& a, int what, const char* to) {
    if (const int code = ibv_modify_qp(qp_.get(), &a, what); code != 0)
      throw error(errc::unreachable,
                  fmt::format("{}: a queue pair does not get to {}: {}; WEFT_VERBS_GID_INDEX may "
                              "choose another address",
                              of_.name_, to, std::strerror(code)));
  }

  hardware& of_;
  std::unique_ptr<ibv_qp, freed_by<&ibv_destroy_qp>> qp_;
  std::uint32_t inline_bytes_ = 0;
};

/// The completion queue must have room for all possible completions at once, or the device breaks.
void hardware::make_room(std::uint32_t queue_pairs) {
  const auto wanted = static_cast<int>(sizes_.receives + queue_pairs * sizes_.sends);
  if (wanted <= completions_->cqe) return;
  const int larger = std::max(wanted, completions_->cqe * 2);
  if (ibv_resize_cq(completions_.get(), larger) == 0) return;
  if (const int code = ibv_resize_cq(completions_.get(), wanted); code != 0)
    throw error(errc::out_of_memory,
                fmt::format("{} has no completion queue for {} peers ({}); the others are reached "
                            "otherwise",
                            name_, queue_pairs, std::strerror(code)));
}

std::unique_ptr<queue_pair> hardware::make_queue_pair() {
  make_room(queue_pairs_ + 1);
  return std::make_unique<connection>(*this);
}

std::string hardware::try_itself() {
  std::unique_ptr<queue_pair> both;
  try {
    both = make_queue_pair();
  } catch (const error& e) {
    return e.what();
  }
  queue_pair_address self{};
  self.lid = here_.lid;
  self.queue_pair = both->number();
  self.mtu = here_.mtu;
  self.ethernet = here_.ethernet ? 1 : 0;
  self.reads_at_once = can_.reads_at_once;
  self.gid = here_.gid;
  if (std::string why = both->connect(self, 0, std::chrono::seconds(1)); !why.empty()) return why;
  // A write of zero bytes to no place: acknowledged if it arrives, and needs no memory.
  ibv_send_wr nothing{};
  nothing.opcode = IBV_WR_RDMA_WRITE;
  nothing.send_flags = IBV_SEND_SIGNALED;
  if (const int code = both->post(nothing); code != 0) return std::strerror(code);
  const auto until = std::chrono::steady_clock::now() + trial_time;
  ibv_wc end{};
  for (runtime::brief_wait between_polls; poll({&end, 1}) == 0; between_polls.wait())
    if (std::chrono::steady_clock::now() > until) return "nothing comes back";
  return end.status == IBV_WC_SUCCESS ? "" : ibv_wc_status_str(end.status);
}

// --- queues --------------------------------------------------------------------------------------

int hardware::post_receives(ibv_recv_wr& first, ibv_recv_wr** first_refused) noexcept {
  return ibv_post_srq_recv(receives_.get(), &first, first_refused);
}

std::size_t hardware::poll(std::span<ibv_wc> completions) noexcept {
  const int n =
      ibv_poll_cq(completions_.get(), static_cast<int>(completions.size()), completions.data());
  return n > 0 ? static_cast<std::size_t>(n) : 0;
}

bool hardware::arm() noexcept { return ibv_req_notify_cq(completions_.get(), 0) == 0; }

void hardware::drain_channel() noexcept {
  ibv_cq* of = nullptr;
  void* ours = nullptr;
  while (ibv_get_cq_event(channel_.get(), &of, &ours) == 0) ibv_ack_cq_events(of, 1);
}

std::optional<device_event> hardware::next_event() noexcept {
  ibv_async_event e{};
  while (ibv_get_async_event(context_.get(), &e) == 0) {
    device_event told{fmt::format("{}: {}", name_, ibv_event_type_str(e.event_type))};
    const bool of_queue_pair = e.event_type == IBV_EVENT_QP_FATAL ||
                               e.event_type == IBV_EVENT_QP_REQ_ERR ||
                               e.event_type == IBV_EVENT_QP_ACCESS_ERR;
    if (of_queue_pair) told.on = e.element.qp->qp_num;
    told.fatal = e.event_type == IBV_EVENT_DEVICE_FATAL || e.event_type == IBV_EVENT_CQ_ERR ||
                 e.event_type == IBV_EVENT_SRQ_ERR;
    const bool of_port =
        e.event_type == IBV_EVENT_PORT_ERR || e.event_type == IBV_EVENT_PORT_ACTIVE;
    told.port = of_port && e.element.port_num == port_;
    ibv_ack_async_event(&e);
    if (of_queue_pair || told.fatal || told.port) return told;
  }
  return {};
}

/// A port that cannot be queried is not known to be down.
bool hardware::port_is_up() noexcept {
  ibv_port_attr state{};
  return ibv_query_port(context_.get(), port_, &state) != 0 || state.state == IBV_PORT_ACTIVE;
}

}  // namespace weft::transports::verbs
