// SPDX-License-Identifier: Apache-2.0
// Endpoints of the provider weft, several of them in one process.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "support/catch.hpp"

namespace ofi_test {

using bytes = std::vector<std::byte>;

inline bytes pattern(std::size_t size, unsigned seed = 1) {
  bytes b(size);
  for (std::size_t i = 0; i != size; ++i)
    b[i] = static_cast<std::byte>((i * 31 + seed * 7 + (i >> 8)) & 0xff);
  return b;
}

struct free_info {
  void operator()(fi_info* i) const noexcept { fi_freeinfo(i); }
};
using info_ptr = std::unique_ptr<fi_info, free_info>;

/// Hints that require only this provider.
inline info_ptr hints() {
  ::setenv("FI_PROVIDER_PATH", WEFT_TEST_PROVIDERS, 1);
  info_ptr h(fi_allocinfo());
  h->fabric_attr->prov_name = ::strdup("weft");
  return h;
}

/// The same, for programs that access memory of others.
inline info_ptr access_hints(int mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY) {
  info_ptr h = hints();
  h->caps = FI_RMA | FI_ATOMIC | FI_MSG;
  h->domain_attr->mr_mode = mr_mode;
  return h;
}

/// Null: nothing of that kind is offered.
inline info_ptr offered(const fi_info& wanted) {
  fi_info* found = nullptr;
  if (fi_getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, &wanted, &found) != 0) return nullptr;
  return info_ptr(found);
}

struct close_fid {
  template <class Fid>
  void operator()(Fid* f) const noexcept {
    fi_close(&f->fid);
  }
};
template <class Fid>
using owned = std::unique_ptr<Fid, close_fid>;

/// Calls one of libfabric's functions that makes something.
template <class Fid, class Make>
owned<Fid> made(Make make) {
  Fid* f = nullptr;
  REQUIRE(make(&f) == 0);
  return owned<Fid>(f);
}

struct settings {
  std::uint64_t bind_flags = FI_TRANSMIT | FI_RECV;
  fi_cq_format format = FI_CQ_FORMAT_TAGGED;
  fi_wait_obj waits = FI_WAIT_UNSPEC;
  bool counts = false;
};

/// A whole stack for one endpoint, with completions of the longest format.
class side {
 public:
  explicit side(settings s = {}, info_ptr wanted = hints()) : info(offered(*wanted)) {
    REQUIRE(info);
    fabric = made<fid_fabric>([&](auto f) { return fi_fabric(info->fabric_attr, f, nullptr); });
    domain =
        made<fid_domain>([&](auto d) { return fi_domain(fabric.get(), info.get(), d, nullptr); });
    fi_av_attr names{};
    av = made<fid_av>([&](auto a) { return fi_av_open(domain.get(), &names, a, nullptr); });
    fi_cq_attr queue{};
    queue.format = s.format;
    queue.wait_obj = s.waits;
    cq = made<fid_cq>([&](auto c) { return fi_cq_open(domain.get(), &queue, c, nullptr); });
    if (s.counts) {
      fi_cntr_attr a{};
      sent = made<fid_cntr>([&](auto c) { return fi_cntr_open(domain.get(), &a, c, nullptr); });
      received = made<fid_cntr>([&](auto c) { return fi_cntr_open(domain.get(), &a, c, nullptr); });
      read = made<fid_cntr>([&](auto c) { return fi_cntr_open(domain.get(), &a, c, nullptr); });
      written = made<fid_cntr>([&](auto c) { return fi_cntr_open(domain.get(), &a, c, nullptr); });
    }
    ep = made<fid_ep>([&](auto e) { return fi_endpoint(domain.get(), info.get(), e, nullptr); });
    REQUIRE(fi_ep_bind(ep.get(), &av->fid, 0) == 0);
    REQUIRE(fi_ep_bind(ep.get(), &cq->fid, s.bind_flags) == 0);
    if (s.counts) {
      REQUIRE(fi_ep_bind(ep.get(), &sent->fid, FI_SEND) == 0);
      REQUIRE(fi_ep_bind(ep.get(), &received->fid, FI_RECV) == 0);
      REQUIRE(fi_ep_bind(ep.get(), &read->fid, FI_READ) == 0);
      REQUIRE(fi_ep_bind(ep.get(), &written->fid, FI_WRITE) == 0);
    }
    REQUIRE(fi_enable(ep.get()) == 0);
  }

  fi_addr_t meet(const side& other) {
    std::array<std::byte, 64> name{};
    std::size_t size = name.size();
    REQUIRE(fi_getname(&other.ep->fid, name.data(), &size) == 0);
    fi_addr_t a = FI_ADDR_NOTAVAIL;
    REQUIRE(fi_av_insert(av.get(), name.data(), 1, &a, 0, nullptr) == 1);
    return a;
  }

  std::uint64_t keys = 0;  // the next key for a memory region, where this side has to choose it
  info_ptr info;
  owned<fid_fabric> fabric;
  owned<fid_domain> domain;
  owned<fid_av> av;
  owned<fid_cq> cq;
  owned<fid_cntr> sent, received, read, written;
  owned<fid_ep> ep;  // destroyed first
};

/// Two endpoints that know each other.
struct pair {
  explicit pair(settings s = {}) : a(s), b(s), to_b(a.meet(b)), to_a(b.meet(a)) {}
  pair(settings s, int mr_mode)
      : a(s, access_hints(mr_mode)),
        b(s, access_hints(mr_mode)),
        to_b(a.meet(b)),
        to_a(b.meet(a)) {}
  side a, b;
  fi_addr_t to_b, to_a;

  /// The next completion of `whose`; makes progress on both.
  fi_cq_tagged_entry next(side& whose, fi_addr_t* from = nullptr) {
    const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    side& other = &whose == &a ? b : a;
    for (;;) {
      fi_cq_tagged_entry e{};
      const ssize_t n =
          from ? fi_cq_readfrom(whose.cq.get(), &e, 1, from) : fi_cq_read(whose.cq.get(), &e, 1);
      if (n == 1) return e;
      REQUIRE(n == -FI_EAGAIN);
      move(other);
      REQUIRE(std::chrono::steady_clock::now() < late);
    }
  }

  /// The next completion, which is a failure.
  fi_cq_err_entry next_error(side& whose) {
    const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    side& other = &whose == &a ? b : a;
    for (;;) {
      fi_cq_tagged_entry e{};
      const ssize_t n = fi_cq_read(whose.cq.get(), &e, 1);
      if (n == -FI_EAVAIL) break;
      REQUIRE(n == -FI_EAGAIN);
      move(other);
      REQUIRE(std::chrono::steady_clock::now() < late);
    }
    fi_cq_err_entry e{};
    REQUIRE(fi_cq_readerr(whose.cq.get(), &e, 0) == 1);
    return e;
  }

  /// Makes progress, and takes no completion.
  static void move(side& s) { REQUIRE(fi_cq_read(s.cq.get(), nullptr, 0) == -FI_EAGAIN); }
};

}  // namespace ofi_test
