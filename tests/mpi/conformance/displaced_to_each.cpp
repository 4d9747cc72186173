// SPDX-License-Identifier: Apache-2.0
// Collective calls in which each rank has other data for each rank, of types whose data do not
// begin at the buffer.
#include <numeric>

#include "displaced.hpp"

namespace conformance {
namespace {

/// One side of a call: a block of items for each of some ranks, as the calls describe it.
struct side {
  side(const placed& of, int per_block, std::size_t blocks)
      : layout(of),
        items(per_block),
        counts(blocks, items),
        types(blocks, of.type),
        data(of, blocks * static_cast<std::size_t>(items)) {
    for (int k = 0; k < as_int(blocks); ++k) {
      at.push_back(k * items);
      far_at.push_back(k * items * of.extent * MPI_Aint{sizeof(std::int32_t)});
      bytes_at.push_back(static_cast<int>(far_at.back()));
    }
  }

  const placed& layout;
  int items;
  std::vector<int> counts;
  std::vector<int> at;
  std::vector<int> bytes_at;
  std::vector<MPI_Aint> far_at;
  std::vector<MPI_Datatype> types;
  area data;
};

/// Ranks of MPI_COMM_WORLD, in the order of the communicator's calls.
struct group {
  const char* name;
  MPI_Comm comm;
  std::vector<int> to;
  std::vector<int> from;
};

/// Whether `call` receives what it should into the address that it is given.
template <class F>
void holds(check& c, const std::string& what, side& expected, F call) {
  area got(expected.layout, expected.at.size() * static_cast<std::size_t>(expected.items));
  call(got.buffer());
  same(c, what, expected.data, got);
}

struct both {
  both(check& c, const group& g, const placed& sent, const placed& received, int items)
      : out(sent, items, g.to.size()), in(received, items, g.from.size()) {
    const auto all = static_cast<std::size_t>(items);
    for (std::size_t k = 0; k < g.to.size(); ++k) write(out.data, k * all, all, c.rank, g.to[k]);
    for (std::size_t k = 0; k < g.from.size(); ++k) write(in.data, k * all, all, g.from[k], c.rank);
    what = ", " + sent.name + " to " + received.name + ", " + std::to_string(items) + " of " +
           std::to_string(sent.at.size()) + g.name;
  }
  side out;
  side in;
  std::string what;
};

void blocking(check& c, const group& g, both& b) {
  auto& [out, in, what] = b;
  const void* data = out.data.buffer();
  holds(c, "Alltoall" + what, in, [&](void* to) {
    MPI_Alltoall(data, out.items, out.layout.type, to, in.items, in.layout.type, g.comm);
  });
  holds(c, "Alltoallv" + what, in, [&](void* to) {
    MPI_Alltoallv(data, out.counts.data(), out.at.data(), out.layout.type, to, in.counts.data(),
                  in.at.data(), in.layout.type, g.comm);
  });
  holds(c, "Alltoallw" + what, in, [&](void* to) {
    MPI_Alltoallw(data, out.counts.data(), out.bytes_at.data(), out.types.data(), to,
                  in.counts.data(), in.bytes_at.data(), in.types.data(), g.comm);
  });
}

void nonblocking(check& c, const group& g, both& b) {
  auto& [out, in, what] = b;
  const void* data = out.data.buffer();
  holds(c, "Ialltoall" + what, in, [&](void* to) {
    waited([&](MPI_Request* r) {
      MPI_Ialltoall(data, out.items, out.layout.type, to, in.items, in.layout.type, g.comm, r);
    });
  });
  holds(c, "Ialltoallv" + what, in, [&](void* to) {
    waited([&](MPI_Request* r) {
      MPI_Ialltoallv(data, out.counts.data(), out.at.data(), out.layout.type, to, in.counts.data(),
                     in.at.data(), in.layout.type, g.comm, r);
    });
  });
  holds(c, "Ialltoallw" + what, in, [&](void* to) {
    waited([&](MPI_Request* r) {
      MPI_Ialltoallw(data, out.counts.data(), out.bytes_at.data(), out.types.data(), to,
                     in.counts.data(), in.bytes_at.data(), in.types.data(), g.comm, r);
    });
  });
}

void neighbours(check& c, const group& g, both& b) {
  auto& [out, in, what] = b;
  const void* data = out.data.buffer();
  holds(c, "Neighbor_alltoall" + what, in, [&](void* to) {
    MPI_Neighbor_alltoall(data, out.items, out.layout.type, to, in.items, in.layout.type, g.comm);
  });
  holds(c, "Neighbor_alltoallv" + what, in, [&](void* to) {
    MPI_Neighbor_alltoallv(data, out.counts.data(), out.at.data(), out.layout.type, to,
                           in.counts.data(), in.at.data(), in.layout.type, g.comm);
  });
  holds(c, "Neighbor_alltoallw" + what, in, [&](void* to) {
    MPI_Neighbor_alltoallw(data, out.counts.data(), out.far_at.data(), out.types.data(), to,
                           in.counts.data(), in.far_at.data(), in.types.data(), g.comm);
  });
  holds(c, "Ineighbor_alltoallw" + what, in, [&](void* to) {
    waited([&](MPI_Request* r) {
      MPI_Ineighbor_alltoallw(data, out.counts.data(), out.far_at.data(), out.types.data(), to,
                              in.counts.data(), in.far_at.data(), in.types.data(), g.comm, r);
    });
  });
}

/// Each of the ranks with even numbers, and each of the others.
group across(const check& c) {
  group g{", between two groups", MPI_COMM_NULL, {}, {}};
  MPI_Comm mine;
  MPI_Comm_split(MPI_COMM_WORLD, c.rank % 2, c.rank, &mine);
  MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, 1 - c.rank % 2, 62, &g.comm);
  MPI_Comm_free(&mine);
  for (int rank = 1 - c.rank % 2; rank < c.size; rank += 2) g.to.push_back(rank);
  g.from = g.to;
  return g;
}

/// Each rank sends to the two behind it.
group ring(const check& c) {
  group g{", to neighbours", MPI_COMM_NULL, {}, {}};
  for (const int step : {1, 2}) {
    g.to.push_back((c.rank + step) % c.size);
    g.from.push_back((c.rank + 2 * c.size - step) % c.size);
  }
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, g.from.data(), MPI_UNWEIGHTED, 2, g.to.data(),
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &g.comm);
  return g;
}

}  // namespace

void displaced_to_each(check& c) {
  group world{"", MPI_COMM_WORLD, std::vector<int>(static_cast<std::size_t>(c.size)), {}};
  std::iota(world.to.begin(), world.to.end(), 0);
  world.from = world.to;
  group two = c.size > 1 ? across(c) : world;
  group near = c.size > 1 ? ring(c) : world;
  for (const int n : displaced_lengths(c)) {
    const displaced_types types(n);
    for (std::size_t i = 0; i < types.size(); ++i)
      for (const int items : {1, 3}) {
        if (items > 1 && n > 5000) continue;  // long enough by itself
        both all(c, world, types[i], types[i + 1], items);
        blocking(c, world, all);
        nonblocking(c, world, all);
        if (c.size == 1) continue;
        both others(c, two, types[i], types[i + 1], items);
        blocking(c, two, others);
        both next(c, near, types[i], types[i + 1], items);
        neighbours(c, near, next);
      }
  }
  if (c.size == 1) return;
  MPI_Comm_free(&two.comm);
  MPI_Comm_free(&near.comm);
}

}  // namespace conformance
