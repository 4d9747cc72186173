// SPDX-License-Identifier: Apache-2.0
// Several threads without a common lock: endpoints of their own, and contexts of one scalable
// endpoint.
#include <atomic>
#include <thread>

#include "side.hpp"

using namespace ofi_test;

namespace {

constexpr int bits = 2;

info_ptr scalable_hints(std::size_t contexts) {
  info_ptr h = hints();
  h->ep_attr->tx_ctx_cnt = h->ep_attr->rx_ctx_cnt = contexts;
  h->caps = FI_TAGGED | FI_MSG | FI_DIRECTED_RECV | FI_NAMED_RX_CTX | FI_SOURCE;
  return h;
}

/// A scalable endpoint with a queue for each number.
class scalable_side {
 public:
  explicit scalable_side(std::size_t contexts) : info(offered(*scalable_hints(contexts))) {
    REQUIRE(info);
    REQUIRE(info->ep_attr->tx_ctx_cnt == contexts);
    fabric = made<fid_fabric>([&](auto f) { return fi_fabric(info->fabric_attr, f, nullptr); });
    domain =
        made<fid_domain>([&](auto d) { return fi_domain(fabric.get(), info.get(), d, nullptr); });
    fi_av_attr names{};
    names.rx_ctx_bits = bits;
    av = made<fid_av>([&](auto a) { return fi_av_open(domain.get(), &names, a, nullptr); });
    sep =
        made<fid_ep>([&](auto e) { return fi_scalable_ep(domain.get(), info.get(), e, nullptr); });
    REQUIRE(fi_scalable_ep_bind(sep.get(), &av->fid, 0) == 0);
    REQUIRE(fi_enable(sep.get()) == 0);
    for (std::size_t i = 0; i != contexts; ++i) {
      fi_cq_attr queue{};
      queue.format = FI_CQ_FORMAT_TAGGED;
      cq.push_back(
          made<fid_cq>([&](auto c) { return fi_cq_open(domain.get(), &queue, c, nullptr); }));
      tx.push_back(nullptr);
      rx.push_back(nullptr);
      open(static_cast<int>(i));
    }
  }

  void open(int i) {
    const auto at = static_cast<std::size_t>(i);
    tx[at] = made<fid_ep>([&](auto e) { return fi_tx_context(sep.get(), i, nullptr, e, nullptr); });
    rx[at] = made<fid_ep>([&](auto e) { return fi_rx_context(sep.get(), i, nullptr, e, nullptr); });
    REQUIRE(fi_ep_bind(tx[at].get(), &cq[at]->fid, FI_TRANSMIT) == 0);
    REQUIRE(fi_ep_bind(rx[at].get(), &cq[at]->fid, FI_RECV) == 0);
    REQUIRE(fi_enable(tx[at].get()) == 0);
    REQUIRE(fi_enable(rx[at].get()) == 0);
  }

  fi_addr_t meet(const scalable_side& other) {
    std::array<std::byte, 64> name{};
    std::size_t size = name.size();
    REQUIRE(fi_getname(&other.sep->fid, name.data(), &size) == 0);
    fi_addr_t a = FI_ADDR_NOTAVAIL;
    REQUIRE(fi_av_insert(av.get(), name.data(), 1, &a, 0, nullptr) == 1);
    return a;
  }

  info_ptr info;
  owned<fid_fabric> fabric;
  owned<fid_domain> domain;
  owned<fid_av> av;
  owned<fid_ep> sep;
  std::vector<owned<fid_cq>> cq;
  std::vector<owned<fid_ep>> tx, rx;  // destroyed first
};

/// The next completion, for threads that count themselves whether all went well.
bool next(fid_cq* cq, fi_cq_tagged_entry& e, fi_addr_t* from = nullptr) {
  const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  for (;;) {
    const ssize_t n = from ? fi_cq_readfrom(cq, &e, 1, from) : fi_cq_read(cq, &e, 1);
    if (n == 1) return true;
    if (n != -FI_EAGAIN || std::chrono::steady_clock::now() > late) return false;
  }
}

/// The completion of a receive; those of sends are passed over.
bool next_received(fid_cq* cq, fi_cq_tagged_entry& e, fi_addr_t* from = nullptr) {
  do {
    if (!next(cq, e, from)) return false;
  } while ((e.flags & FI_RECV) == 0);
  return true;
}

/// There and back between two pairs of endpoints, `count` times. \return how often it went well
int talk(fid_ep* tx, fid_ep* rx, fid_cq* cq, fi_addr_t to, bool begins, int count) {
  std::uint64_t word = 0;
  int well = 0;
  for (int i = 0; i != count; ++i) {
    fi_cq_tagged_entry e{};
    if (begins && fi_tinject(tx, &i, sizeof i, to, 7) != 0) return well;
    if (fi_trecv(rx, &word, sizeof word, nullptr, FI_ADDR_UNSPEC, 7, 0, nullptr) != 0) return well;
    if (!next_received(cq, e)) return well;
    if (!begins && fi_tinject(tx, &i, sizeof i, to, 7) != 0) return well;
    well += word == static_cast<std::uint64_t>(i);
    word = 0;
  }
  return well;
}

}  // namespace

TEST_CASE("ofi: what threads may share is as they ask") {
  for (const auto asked : {FI_THREAD_SAFE, FI_THREAD_DOMAIN, FI_THREAD_COMPLETION}) {
    info_ptr h = hints();
    h->caps = FI_MSG | FI_TAGGED;
    h->domain_attr->threading = asked;
    const info_ptr got = offered(*h);
    REQUIRE(got);
    CHECK(got->domain_attr->threading == asked);
    CHECK(got->domain_attr->max_ep_tx_ctx == 32);
    CHECK(got->ep_attr->tx_ctx_cnt == 1);
  }
}

TEST_CASE("ofi: threads with an endpoint each, at once") {
  constexpr int count = 300;
  std::array<side, 2> left, right;
  std::array<fi_addr_t, 2> to_right{}, to_left{};
  for (std::size_t i = 0; i != 2; ++i) {
    to_right[i] = left[i].meet(right[i]);
    to_left[i] = right[i].meet(left[i]);
  }
  std::atomic<int> well{0};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i != 2; ++i)
    for (const bool begins : {true, false})
      threads.emplace_back([&, i, begins] {
        side& s = begins ? left[i] : right[i];
        const fi_addr_t to = begins ? to_right[i] : to_left[i];
        well += talk(s.ep.get(), s.ep.get(), s.cq.get(), to, begins, count);
      });
  for (std::thread& t : threads) t.join();
  CHECK(well == 4 * count);
}

TEST_CASE("ofi: threads with contexts of one scalable endpoint, at once") {
  constexpr int count = 300;
  constexpr std::size_t contexts = 3;
  scalable_side a(contexts), b(contexts);
  const fi_addr_t to_b = a.meet(b), to_a = b.meet(a);
  std::atomic<int> well{0};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i != contexts; ++i)
    for (const bool begins : {true, false})
      threads.emplace_back([&, i, begins] {
        scalable_side& s = begins ? a : b;
        const fi_addr_t to = fi_rx_addr(begins ? to_b : to_a, static_cast<int>(i), bits);
        well += talk(s.tx[i].get(), s.rx[i].get(), s.cq[i].get(), to, begins, count);
      });
  for (std::thread& t : threads) t.join();
  CHECK(well == int(2 * contexts) * count);
}

TEST_CASE("ofi: each receive context gets what was sent to it, from every transmit context") {
  scalable_side a(2), b(3);
  const fi_addr_t to_b = a.meet(b), to_a = b.meet(a);
  for (unsigned i = 0; i != 2; ++i)
    for (unsigned j = 0; j != 3; ++j) {
      const unsigned word = 10 * i + j;
      const fi_addr_t to = fi_rx_addr(to_b, static_cast<int>(j), bits);
      REQUIRE(fi_tinject(a.tx[i].get(), &word, sizeof word, to, 1 + i) == 0);
    }
  for (unsigned j = 0; j != 3; ++j)
    for (unsigned i = 2; i-- != 0;) {
      // By its sender, although the other one's message came before.
      unsigned word = 99;
      const fi_addr_t from = fi_rx_addr(to_a, static_cast<int>(i), bits);
      REQUIRE(fi_trecv(b.rx[j].get(), &word, sizeof word, nullptr, from, 0, ~std::uint64_t{0} >> 1,
                       nullptr) == 0);
      fi_cq_tagged_entry e{};
      fi_addr_t source = FI_ADDR_NOTAVAIL;
      for (;;) {
        const ssize_t n = fi_cq_readfrom(b.cq[j].get(), &e, 1, &source);
        if (n == 1) break;
        REQUIRE(n == -FI_EAGAIN);
        fi_cq_read(a.cq[i].get(), nullptr, 0);
      }
      CHECK(word == 10 * i + j);
      CHECK(e.tag == 1 + i);
      CHECK(source == to_a);  // the endpoint, without the context
    }
}

TEST_CASE("ofi: a source that was not met, by another context than the first") {
  scalable_side a(2), b(2);
  const fi_addr_t to_b = a.meet(b), to_a = b.meet(a);
  unsigned word = 5, in = 0;
  REQUIRE(fi_tinject(a.tx[1].get(), &word, sizeof word, fi_rx_addr(to_b, 1, bits), 1) == 0);
  REQUIRE(fi_trecv(b.rx[1].get(), &in, sizeof in, nullptr, FI_ADDR_UNSPEC, 1, 0, nullptr) == 0);
  fi_cq_tagged_entry e{};
  fi_addr_t source = FI_ADDR_NOTAVAIL;
  REQUIRE(next_received(b.cq[1].get(), e, &source));
  CHECK(source == to_a);
}

TEST_CASE("ofi: a context that is closed takes no message from its successor") {
  scalable_side a(2), b(2);
  const fi_addr_t to = fi_rx_addr(a.meet(b), 1, bits);
  unsigned old = 0, in = 0;
  REQUIRE(fi_trecv(b.rx[1].get(), &old, sizeof old, nullptr, FI_ADDR_UNSPEC, 1, 0, nullptr) == 0);
  b.rx[1].reset();
  b.tx[1].reset();
  b.open(1);
  unsigned word = 5;
  REQUIRE(fi_tinject(a.tx[0].get(), &word, sizeof word, to, 1) == 0);
  REQUIRE(fi_trecv(b.rx[1].get(), &in, sizeof in, nullptr, FI_ADDR_UNSPEC, 1, 0, nullptr) == 0);
  fi_cq_tagged_entry e{};
  REQUIRE(next_received(b.cq[1].get(), e));
  CHECK(in == 5);
  CHECK(old == 0);
}

TEST_CASE("ofi: a counter of both halves of a context counts on when one half is closed") {
  scalable_side a(2), b(2);
  const fi_addr_t to = fi_rx_addr(a.meet(b), 1, bits);
  b.rx[1].reset();
  b.tx[1].reset();
  const auto counter =
      made<fid_cntr>([&](auto c) { return fi_cntr_open(b.domain.get(), nullptr, c, nullptr); });
  b.tx[1] =
      made<fid_ep>([&](auto e) { return fi_tx_context(b.sep.get(), 1, nullptr, e, nullptr); });
  b.rx[1] =
      made<fid_ep>([&](auto e) { return fi_rx_context(b.sep.get(), 1, nullptr, e, nullptr); });
  REQUIRE(fi_ep_bind(b.tx[1].get(), &counter->fid, FI_SEND) == 0);
  REQUIRE(fi_ep_bind(b.rx[1].get(), &counter->fid, FI_RECV) == 0);
  REQUIRE(fi_enable(b.tx[1].get()) == 0);
  REQUIRE(fi_enable(b.rx[1].get()) == 0);
  b.tx[1].reset();
  unsigned word = 5, in = 0;
  REQUIRE(fi_trecv(b.rx[1].get(), &in, sizeof in, nullptr, FI_ADDR_UNSPEC, 1, 0, nullptr) == 0);
  REQUIRE(fi_tinject(a.tx[0].get(), &word, sizeof word, to, 1) == 0);
  CHECK(fi_cntr_wait(counter.get(), 1, 20'000) == 0);
  CHECK(in == 5);
  b.rx[1].reset();
}

TEST_CASE("ofi: an address with a context that this process does not have stays wrong") {
  scalable_side a(2);
  const fi_addr_t missing = fi_rx_addr(a.meet(a), 3, bits);
  for (int i = 0; i != 2; ++i) CHECK(fi_tinject(a.tx[0].get(), "x", 1, missing, 1) == -FI_EINVAL);
}

TEST_CASE("ofi: scalable endpoints: what cannot be") {
  CHECK_FALSE(offered(*scalable_hints(33)));
  scalable_side a(2);
  fid_ep* never = nullptr;
  CHECK(fi_tx_context(a.sep.get(), 2, nullptr, &never, nullptr) == -FI_EINVAL);
  CHECK(fi_rx_context(a.sep.get(), -1, nullptr, &never, nullptr) == -FI_EINVAL);
  CHECK(fi_ep_bind(a.tx[0].get(), &a.av->fid, 0) == -FI_EOPBADSTATE);
  CHECK(fi_enable(a.tx[0].get()) == -FI_EOPBADSTATE);
  CHECK(fi_close(&a.sep->fid) == -FI_EBUSY);
  CHECK(fi_tinject(a.tx[0].get(), "x", 1, 12345, 1) == -FI_EINVAL);
  // A region belongs to one lane, and peers could not tell which.
  info_ptr accesses = access_hints();
  accesses->ep_attr->tx_ctx_cnt = 2;
  CHECK_FALSE(offered(*accesses));
  const info_ptr got = offered(*access_hints());
  REQUIRE(got);
  CHECK(got->domain_attr->max_ep_tx_ctx == 1);
  CHECK(got->domain_attr->max_ep_rx_ctx == 1);
  const auto domain =
      made<fid_domain>([&](auto d) { return fi_domain(a.fabric.get(), got.get(), d, nullptr); });
  CHECK(fi_scalable_ep(domain.get(), got.get(), &never, nullptr) == -FI_EOPNOTSUPP);
}
