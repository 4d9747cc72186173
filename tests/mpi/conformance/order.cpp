// SPDX-License-Identifier: Apache-2.0
// Messages of one source do not overtake each other, independent of their sizes and of the kind of
// receive.
#include "check.hpp"

namespace conformance {
namespace {

constexpr int messages = 120;

/// Small and large ones after each other: they use different protocols below.
std::size_t length(int source, int i) {
  constexpr std::size_t kinds[] = {4, 70000, 100, 0, 9000, 64, 131072, 1};
  return kinds[static_cast<std::size_t>(source + i * 3) % std::size(kinds)] + sizeof(int);
}

bytes numbered(int source, int i) {
  bytes data = made_of(seed_of(source, i), length(source, i));
  for (std::size_t k = 0; k < sizeof(int); ++k) data[k] = static_cast<unsigned char>(i >> (8 * k));
  return data;
}

int number_of(const bytes& data) {
  int i = 0;
  for (std::size_t k = 0; k < sizeof(int); ++k) i |= int{data[k]} << (8 * k);
  return i;
}

void send_all(const check& c, int to, int tags) {
  std::vector<bytes> data;
  std::vector<MPI_Request> r(messages);
  for (int i = 0; i < messages; ++i) data.push_back(numbered(c.rank, i));
  for (int i = 0; i < messages; ++i) {
    const bytes& d = data[static_cast<std::size_t>(i)];
    MPI_Isend(d.data(), as_int(d.size()), MPI_BYTE, to, 100 + i % tags, MPI_COMM_WORLD,
              &r[static_cast<std::size_t>(i)]);
  }
  MPI_Waitall(messages, r.data(), MPI_STATUSES_IGNORE);
}

/// `next[source]` is the number that must come next. Posted receives match in the order in which
/// they were posted.
void receive_all(check& c, bool any_source, bool any_tag) {
  const int others = c.size - 1;
  std::vector<int> next(static_cast<std::size_t>(c.size), 0);
  constexpr int window = 16;
  for (int done = 0; done < others * messages;) {
    const int now = std::min(window, others * messages - done);
    std::vector<bytes> in(static_cast<std::size_t>(now), bytes(140000));
    std::vector<MPI_Request> r(in.size());
    std::vector<MPI_Status> s(in.size());
    for (int k = 0; k < now; ++k) {
      const int i = done + k;
      const std::size_t at = static_cast<std::size_t>(k);
      MPI_Irecv(in[at].data(), as_int(in[at].size()), MPI_BYTE,
                any_source ? MPI_ANY_SOURCE : 1 + i / messages, any_tag ? MPI_ANY_TAG : 100,
                MPI_COMM_WORLD, &r[at]);
    }
    MPI_Waitall(now, r.data(), s.data());
    for (std::size_t k = 0; k < in.size(); ++k) {
      const int source = s[k].MPI_SOURCE;
      const int expected = next[static_cast<std::size_t>(source)]++;
      const std::string what = "message of rank " + std::to_string(source);
      if (!c.equal(what + ": number", expected, number_of(in[k]))) continue;
      c.status(what, s[k], source, any_tag ? 100 + expected % 4 : 100, length(source, expected));
      const bytes right = numbered(source, expected);
      c.that(what + ": bytes", std::equal(right.begin(), right.end(), in[k].begin()));
    }
    done += now;
  }
}

/// Of several receives that match, the one posted first gets the message; one with another tag is
/// passed over.
void first_that_fits(check& c, int other) {
  int in[4] = {-1, -1, -1, -1};
  MPI_Request r[4];
  const int tags[4] = {201, MPI_ANY_TAG, 202, MPI_ANY_TAG};
  // In another communicator: the wildcards must not take the messages that announce them.
  MPI_Comm apart;
  MPI_Comm_dup(MPI_COMM_WORLD, &apart);
  for (int i = 0; i < 4; ++i) MPI_Irecv(&in[i], 1, MPI_INT, other, tags[i], apart, &r[i]);
  MPI_Barrier(MPI_COMM_WORLD);
  const int sent[4] = {202, 203, 201, 202};
  for (int i = 0; i < 4; ++i) MPI_Send(&sent[i], 1, MPI_INT, other, sent[i], apart);
  MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
  c.equal("the receive of tag 201", 201, in[0]);
  c.equal("the first wildcard", 202, in[1]);
  c.equal("the receive of tag 202", 202, in[2]);
  c.equal("the second wildcard", 203, in[3]);
  MPI_Comm_free(&apart);
}

}  // namespace

void order(check& c) {
  for (const bool any_source : {false, true})
    for (const bool any_tag : {false, true}) {
      if (c.rank == 0)
        receive_all(c, any_source, any_tag);
      else
        send_all(c, 0, any_tag ? 4 : 1);
      MPI_Barrier(MPI_COMM_WORLD);
    }
  first_that_fits(c, partner(c) >= 0 ? partner(c) : c.rank);
}

}  // namespace conformance
