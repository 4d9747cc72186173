// SPDX-License-Identifier: Apache-2.0
// The features that the provider offers, and those that it refuses at once.
#include <cstring>
#include <functional>
#include <string>
#include <utility>

#include "side.hpp"

using namespace ofi_test;

TEST_CASE("ofi: what Open MPI asks for is offered") {
  const info_ptr h = hints();
  h->ep_attr->type = FI_EP_RDM;
  h->caps = FI_TAGGED | FI_LOCAL_COMM | FI_REMOTE_COMM | FI_DIRECTED_RECV;
  h->mode = FI_CONTEXT | FI_CONTEXT2;
  h->tx_attr->msg_order = h->rx_attr->msg_order = FI_ORDER_SAS;
  h->tx_attr->op_flags = h->rx_attr->op_flags = FI_COMPLETION;
  h->domain_attr->threading = FI_THREAD_DOMAIN;
  h->domain_attr->av_type = FI_AV_MAP;
  h->domain_attr->resource_mgmt = FI_RM_ENABLED;
  h->domain_attr->cq_data_size = 4;
  const info_ptr found = offered(*h);
  REQUIRE(found);
  CHECK((found->caps & h->caps) == h->caps);
  CHECK(found->mode == 0);
  CHECK(found->domain_attr->threading == FI_THREAD_DOMAIN);
  CHECK(found->domain_attr->av_type == FI_AV_MAP);
  CHECK(found->domain_attr->mr_mode == 0);
  CHECK(found->domain_attr->data_progress == FI_PROGRESS_AUTO);
  CHECK(found->ep_attr->mem_tag_format >> 62 == 1);
  // FI_PROGRESS_CONTROL_UNIFIED of libfabric 1.20 and later asks for no more than manual progress.
  constexpr auto unified = static_cast<fi_progress>(FI_PROGRESS_MANUAL + 1);
  h->domain_attr->control_progress = h->domain_attr->data_progress = unified;
  const info_ptr manual = offered(*h);
  REQUIRE(manual);
  CHECK(manual->domain_attr->data_progress == unified);
}

TEST_CASE("ofi: access to memory is offered to those who ask, and no more of it than they can do") {
  constexpr int addresses = FI_MR_VIRT_ADDR | FI_MR_PROV_KEY;
  // FI_MR_BASIC and FI_MR_SCALABLE, names that libfabric 2 deprecates.
  constexpr int basic = 1, scalable = 2;
  constexpr std::uint64_t directions = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
  const info_ptr all = offered(*access_hints());
  REQUIRE(all);
  CHECK(all->domain_attr->mr_mode == addresses);
  CHECK(all->domain_attr->mr_iov_limit == 1);
  CHECK((all->caps & (FI_RMA | FI_ATOMIC | directions)) == (FI_RMA | FI_ATOMIC | directions));
  CHECK((all->tx_attr->caps & directions) == (FI_READ | FI_WRITE));
  CHECK((all->rx_attr->caps & directions) == (FI_REMOTE_READ | FI_REMOTE_WRITE));
  for (const int mode :
       {0, +FI_MR_VIRT_ADDR, +FI_MR_PROV_KEY, basic, scalable, FI_MR_LOCAL | FI_MR_RAW}) {
    CAPTURE(mode);
    const info_ptr found = offered(*access_hints(mode));
    REQUIRE(found);
    CHECK(found->domain_attr->mr_mode == (mode & ~(FI_MR_LOCAL | FI_MR_RAW)));
  }
  // A program that names directions gets those, and one that asks for messages gets no memory
  // access.
  info_ptr h = access_hints();
  h->caps = FI_RMA | FI_READ;
  CHECK((offered(*h)->caps & (FI_ATOMIC | FI_MSG | FI_SEND | directions)) == FI_READ);
  h->caps = FI_MSG | FI_TAGGED;
  const info_ptr messages = offered(*h);
  CHECK((messages->caps & (FI_RMA | FI_ATOMIC | directions)) == 0);
  CHECK(messages->domain_attr->mr_mode == 0);
  CHECK(messages->tx_attr->rma_iov_limit == 0);

  side s({}, std::move(h));
  std::array<std::byte, 8> memory{};
  fid_mr* remote = nullptr;
  CHECK(fi_mr_reg(s.domain.get(), memory.data(), 8, FI_REMOTE_READ, 0, 0, 0, &remote, nullptr) ==
        -FI_EOPNOTSUPP);
  CHECK(fi_read(s.ep.get(), memory.data(), 8, nullptr, s.meet(s), 0, 0, nullptr) == -FI_EOPNOTSUPP);
}

TEST_CASE("ofi: a program of before version 1.5 gets one of the two registration modes") {
  constexpr int basic = 1, scalable = 2;
  const auto mode = [](std::uint32_t version, const fi_info& wanted) {
    fi_info* found = nullptr;
    if (fi_getinfo(version, nullptr, nullptr, 0, &wanted, &found) != 0) return -1;
    return info_ptr(found)->domain_attr->mr_mode;
  };
  for (const unsigned minor : {0U, 1U, 4U}) {
    CAPTURE(minor);
    const std::uint32_t version = minor == 0 ? 0 : FI_VERSION(1, minor);
    CHECK(mode(version, *hints()) == scalable);  // as MPICH asks first
    CHECK(mode(version, *access_hints(0)) == scalable);
    CHECK(mode(version, *access_hints(basic)) == basic);
    CHECK(mode(version, *access_hints(scalable)) == scalable);
    CHECK(mode(version, *access_hints(FI_MR_VIRT_ADDR)) == -1);
  }
}

TEST_CASE("ofi: a node or a service names no peer, and an address of the provider's own does") {
  const auto asked = [](const char* node, const char* service, std::uint64_t flags, fi_info& h) {
    fi_info* found = nullptr;
    const int failure = fi_getinfo(FI_VERSION(1, 17), node, service, flags, &h, &found);
    CHECK((failure == 0 || failure == -FI_ENODATA));
    return info_ptr(found);
  };
  const info_ptr h = hints();
  CHECK_FALSE(asked("localhost", nullptr, 0, *h));
  CHECK_FALSE(asked(nullptr, "7471", 0, *h));
  CHECK_FALSE(asked("127.0.0.1", "7471", FI_NUMERICHOST, *h));
  const info_ptr own = asked(nullptr, "7471", FI_SOURCE, *h);  // of this side
  REQUIRE(own);
  CHECK(own->dest_addr == nullptr);
  REQUIRE(own->src_addrlen == 56);
  REQUIRE(own->src_addr);

  side s, other;
  CHECK(fi_av_insert(s.av.get(), own->dest_addr, 1, nullptr, 0, nullptr) == -FI_EINVAL);
  fi_addr_t none = 0;
  CHECK(fi_av_insert(s.av.get(), own->src_addr, 1, &none, 0, nullptr) == 0);
  CHECK(none == FI_ADDR_NOTAVAIL);

  // What one call has returned may be asked for in the next.
  const info_ptr again = offered(*own);
  REQUIRE(again);
  CHECK(again->src_addrlen == 56);
  std::size_t size = 56;
  h->dest_addr = ::calloc(1, size);
  h->dest_addrlen = size;
  CHECK_FALSE(offered(*h));
  REQUIRE(fi_getname(&other.ep->fid, h->dest_addr, &size) == 0);
  const info_ptr to_other = offered(*h);
  REQUIRE(to_other);
  REQUIRE(to_other->dest_addrlen == 56);
  CHECK(std::memcmp(to_other->dest_addr, h->dest_addr, 56) == 0);
  CHECK(fi_av_insert(s.av.get(), to_other->dest_addr, 1, nullptr, 0, nullptr) == 1);
  h->dest_addrlen = 16;
  CHECK_FALSE(offered(*h));

  // An endpoint cannot be given another's address.
  std::swap(h->src_addr, h->dest_addr);
  h->src_addrlen = 56;
  h->dest_addrlen = 0;
  CHECK_FALSE(offered(*h));
  CHECK(asked(nullptr, nullptr, FI_SOURCE, *h));
}

TEST_CASE("ofi: a named receive context is a matter of the sender") {
  const info_ptr h = hints();
  h->caps = FI_TAGGED | FI_NAMED_RX_CTX;
  const info_ptr found = offered(*h);
  REQUIRE(found);
  CHECK((found->tx_attr->caps & FI_NAMED_RX_CTX) != 0);
  CHECK((found->rx_attr->caps & FI_NAMED_RX_CTX) == 0);
}

TEST_CASE("ofi: what is not supported is refused before anything is made") {
  constexpr std::uint64_t strict_order = 0x1ff;  // FI_ORDER_STRICT, which libfabric 2 deprecates
  const std::vector<std::function<void(fi_info&)>> wishes{
      [](fi_info& i) { i.ep_attr->type = FI_EP_MSG; },
      [](fi_info& i) { i.ep_attr->type = FI_EP_DGRAM; },
      [](fi_info& i) { i.ep_attr->tx_ctx_cnt = 33; },
      [](fi_info& i) { i.caps = FI_RMA | FI_RMA_EVENT; },
      [](fi_info& i) { i.tx_attr->rma_iov_limit = 100; },
      [](fi_info& i) { i.caps = FI_TAGGED | FI_HMEM; },
      [](fi_info& i) { i.addr_format = FI_SOCKADDR_IN; },
      [](fi_info& i) { i.tx_attr->msg_order = FI_ORDER_WAW; },
      [](fi_info& i) { i.tx_attr->comp_order = strict_order; },
      [](fi_info& i) { i.tx_attr->inject_size = 1 << 20; },
      [](fi_info& i) { i.tx_attr->op_flags = FI_FENCE; },
      [](fi_info& i) { i.rx_attr->total_buffered_recv = 1; },
      [](fi_info& i) { i.rx_attr->iov_limit = 100; },
      [](fi_info& i) { i.domain_attr->cq_data_size = 8; },
      [](fi_info& i) { i.domain_attr->name = ::strdup("mlx5_0"); },
  };
  REQUIRE(offered(*hints()));
  for (std::size_t i = 0; i != wishes.size(); ++i) {
    CAPTURE(i);
    const info_ptr h = hints();
    wishes[i](*h);
    CHECK_FALSE(offered(*h));
  }
}

TEST_CASE("ofi: objects in use cannot be closed, and nothing is enabled half bound") {
  side s;
  CHECK(fi_close(&s.domain->fid) == -FI_EBUSY);
  CHECK(fi_close(&s.cq->fid) == -FI_EBUSY);
  CHECK(fi_close(&s.av->fid) == -FI_EBUSY);
  CHECK(fi_close(&s.fabric->fid) == -FI_EBUSY);

  const auto bare =
      made<fid_ep>([&](auto e) { return fi_endpoint(s.domain.get(), s.info.get(), e, nullptr); });
  CHECK(fi_enable(bare.get()) == -FI_ENOAV);
  CHECK(fi_ep_bind(bare.get(), &s.av->fid, 0) == 0);
  CHECK(fi_enable(bare.get()) == -FI_ENOCQ);
  std::array<char, 64> name{};
  std::size_t size = name.size();
  CHECK(fi_getname(&bare->fid, name.data(), &size) == -FI_EOPBADSTATE);
  CHECK(fi_send(bare.get(), name.data(), 1, nullptr, 0, nullptr) == -FI_EINVAL);
}

TEST_CASE("ofi: memory regions are handles, closed while endpoints live and before they are made") {
  side s;
  std::array<std::byte, 100> memory{};
  const auto region = [&] {
    return made<fid_mr>([&](auto m) {
      return fi_mr_reg(s.domain.get(), memory.data(), memory.size(), FI_SEND | FI_RECV, 0, 7, 0, m,
                       nullptr);
    });
  };
  auto mr = region();
  CHECK(fi_mr_key(mr.get()) == 7);
  mr.reset();
  mr = region();
  s.ep.reset();
  mr.reset();
}

TEST_CASE("ofi: addresses: a wrong one is told, a removed one is none any more") {
  side s, other;
  const fi_addr_t there = s.meet(other);
  std::array<std::array<std::byte, 56>, 2> names{};
  std::size_t size = 56;
  REQUIRE(fi_getname(&other.ep->fid, names[1].data(), &size) == 0);
  CHECK(size == 56);
  std::array<fi_addr_t, 2> made_of{};
  CHECK(fi_av_insert(s.av.get(), names.data(), 2, made_of.data(), 0, nullptr) == 1);
  CHECK(made_of[0] == FI_ADDR_NOTAVAIL);
  CHECK(made_of[1] != FI_ADDR_NOTAVAIL);

  std::array<std::byte, 56> looked_up{};
  size = looked_up.size();
  CHECK(fi_av_lookup(s.av.get(), there, looked_up.data(), &size) == 0);
  CHECK(looked_up == names[1]);
  std::array<char, 100> text{};
  size = text.size();
  fi_av_straddr(s.av.get(), looked_up.data(), text.data(), &size);
  CHECK_THAT(std::string(text.data()), weft::tests::starts_with("weft-"));

  fi_addr_t gone = made_of[1];
  CHECK(fi_av_remove(s.av.get(), &gone, 1, 0) == 0);
  CHECK(fi_av_lookup(s.av.get(), gone, looked_up.data(), &size) == -FI_EINVAL);
  CHECK(fi_send(s.ep.get(), nullptr, 0, nullptr, gone, nullptr) == -FI_EINVAL);
  CHECK(fi_send(s.ep.get(), nullptr, 0, nullptr, 4711, nullptr) == -FI_EINVAL);
}

TEST_CASE("ofi: a copy of an info has its own parts") {
  const info_ptr found = offered(*hints());
  REQUIRE(found);
  found->domain_attr->auth_key_size = 3;
  found->domain_attr->auth_key = static_cast<std::uint8_t*>(::calloc(1, 3));
  const info_ptr copy(fi_dupinfo(found.get()));
  REQUIRE(copy);
  CHECK(copy->caps == found->caps);
  CHECK(copy->tx_attr->inject_size == found->tx_attr->inject_size);
  CHECK(std::string(copy->fabric_attr->prov_name) == "weft");
  CHECK(copy->domain_attr->name != found->domain_attr->name);
  CHECK(copy->domain_attr->auth_key != found->domain_attr->auth_key);
  const info_ptr empty(fi_allocinfo());
  REQUIRE(empty);
  CHECK(empty->fabric_attr->prov_name == nullptr);
  CHECK(empty->nic == nullptr);
}

TEST_CASE("ofi: a version that libfabric does not have yet is refused") {
  fi_info* none = nullptr;
  CHECK(fi_getinfo(FI_VERSION(99, 0), nullptr, nullptr, 0, hints().get(), &none) != 0);
}

TEST_CASE("ofi: programs reach other providers beside weft, and libfabric's texts") {
  info_ptr h = hints();
  ::free(std::exchange(h->fabric_attr->prov_name, ::strdup("udp")));
  const info_ptr found = offered(*h);
  REQUIRE(found);
  CHECK(std::string(found->fabric_attr->prov_name).starts_with("udp"));
  const info_ptr copy(fi_dupinfo(found.get()));
  REQUIRE(copy);
  CHECK(copy->ep_attr->type == found->ep_attr->type);
  fid_fabric* fabric = nullptr;
  REQUIRE(fi_fabric(copy->fabric_attr, &fabric, nullptr) == 0);
  CHECK(fi_close(&fabric->fid) == 0);

  CHECK(std::string(fi_strerror(ENOENT)) == ::strerror(ENOENT));
  CHECK_FALSE(std::string(fi_strerror(FI_EAVAIL)).empty());
  const std::uint64_t caps = FI_TAGGED;
  CHECK(std::string(fi_tostr(&caps, FI_TYPE_CAPS)).find("TAGGED") != std::string::npos);
  char text[100];
  fi_tostr_r(text, sizeof text, &caps, FI_TYPE_CAPS);
  CHECK(std::string(text).find("TAGGED") != std::string::npos);
}
