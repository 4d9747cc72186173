// SPDX-License-Identifier: Apache-2.0
// A peer that sends arbitrary messages on a stream, and an application that reads and writes at any
// time. The reader gets the received bytes, in order and once; every operation ends once; nothing
// is left over.
#include <array>
#include <memory>
#include <vector>

#include <weft/operations/streams.hpp>

#include "counted.hpp"
#include "proto/messenger/messenger.hpp"
#include "proto/streams/stream.hpp"
#include "scripted_link.hpp"
#include "support/scripted_connector.hpp"

namespace weft::fuzz {
namespace {

using namespace proto;
using runtime::engine;

using reading = counted<stream_read_operation>;
using writing = counted<stream_write_operation>;
using ending = counted<stream_closed_operation>;

constexpr std::uint64_t data_tag = stream_data_tag(0, stream_way::forth);
constexpr std::uint64_t allowance_tag = stream_allowance_tag(0, stream_way::forth);

std::byte byte_at(std::uint64_t position) { return static_cast<std::byte>(position % 251); }

class talk {
 public:
  talk() {
    messages_.attach(connector_);
    turns_.add(messages_.upkeep());
    {
      const engine::holder hold(turns_);
      auto link = std::make_unique<scripted_link>(mood_, *villain_);
      link_ = link.get();
      villain_->opened(std::move(link), villain_->writer().grant_first_credit());
    }
    stream_ = proto::stream::open(villain_, 0, smallest_stream_window);
  }

  ~talk() {
    mood_ = 0;
    {
      const engine::holder hold(turns_);
      villain_->give_up(errc::peer_lost, "gone");
    }
    settle();
    stream_->drop();
    settle();
    check(reads_.empty() && writes_.empty() && ends_.empty(), "every operation has ended");
    check(messages_.streams().lingering == 0, "a stream whose peer has gone ends");
    stream_.reset();
    const engine::holder hold(turns_);
    messages_.close_all();
    check(turns_.outstanding() == 0, "nothing is outstanding");
    messages_.peers().clear();
    villain_->drop_link();
  }

  void run(input in) {
    while (!in.empty()) step(in);
  }

 private:
  /// A message in one frame, as a correct peer would send it, but perhaps at another time.
  void message(std::uint64_t tag, std::span<const std::byte> bytes, std::uint64_t immediate) {
    constexpr std::uint8_t flags = has_extension | has_immediate | eager_ends;
    arrive(header_of(frame_kind::eager, tag, static_cast<std::uint32_t>(bytes.size()), flags),
           {bytes.size(), 0, immediate}, bytes);
  }

  void data(input& in) {
    std::vector<std::byte> bytes(in.get<std::uint16_t>() % 1025u);
    for (std::size_t i = 0; i != bytes.size(); ++i) bytes[i] = byte_at(came_ + i);
    const auto end = in.get<std::uint8_t>();
    came_ += bytes.size();
    message(data_tag, bytes, end == 0 ? came_ : end == 1 ? stream_dropped : end);
  }

  void allowance(input& in) {
    stream_allowance a;
    a.longest = in.get<std::uint16_t>();
    a.limit = in.get<std::uint16_t>();
    const auto how = in.get<std::uint8_t>();
    if (how & 1) a.limit <<= how / 4u;
    if (how & 2) a.magic = in.get<std::uint32_t>();
    const auto bytes = std::as_bytes(std::span(&a, 1));
    message(allowance_tag, bytes.first(how & 4 ? how % 16u : bytes.size()), 0);
  }

  /// An arbitrary frame: from here on the read bytes need not be those that `data` has sent.
  void frame(input& in) {
    const auto which = in.get<std::uint8_t>();
    frame_header h{which & 1   ? data_tag
                   : which & 2 ? allowance_tag
                               : 1u,
                   in.get<std::uint16_t>() % 1025u, in.get<std::uint8_t>(), in.get<std::uint8_t>(),
                   in.get<std::uint8_t>()};
    h.kind %= 17;
    frame_extension x;
    x.a = in.get<std::uint16_t>() | std::uint64_t{in.get<std::uint8_t>()} << 48;
    x.b = in.get<std::uint16_t>();
    if (which & 4) x.immediate = in.get<std::uint64_t>();
    disorderly_ = true;
    arrive(h, x, {});
  }

  void arrive(const frame_header& h, const frame_extension& x, std::span<const std::byte> content) {
    const engine::holder hold(turns_);
    const std::unique_ptr<std::byte[]> bytes(new std::byte[h.size]());  // for AddressSanitizer
    std::copy(content.begin(), content.end(), bytes.get());
    if (!villain_->on_frame(h, h.flags & has_extension ? &x : nullptr, bytes.get()))
      villain_->on_broken(errc::protocol_error);
  }

  /// Checks that the bytes were read in order, and once.
  void was_read(std::span<const std::byte> bytes) {
    for (const std::byte b : bytes)
      check(b == byte_at(read_++) || disorderly_, "what is read is what came");
    check(read_ <= came_ || disorderly_, "no more is read than came");
  }

  template <class Op, class Request>
  void post(std::vector<posted<Op>>& to, std::unique_ptr<std::byte[]> memory, const Request& r) {
    posted<Op> p{std::move(memory), nullptr};
    p.op = std::make_unique<Op>(r);
    p.op->go();
    to.push_back(std::move(p));
  }

  void settle() {
    {
      const engine::holder hold(turns_);
      link_->work();
    }
    for (int i = 0; i < 1000 && turns_.poll_once() != 0; ++i) {
    }
    std::erase_if(reads_, [this](const posted<reading>& p) {
      if (p.op->ends == 0) return false;
      was_read({p.memory.get(), p.op->got});
      return true;
    });
    std::erase_if(writes_, [](const auto& p) { return p.op->ends != 0; });
    std::erase_if(ends_, [](const auto& p) { return p.op->ends != 0; });
  }

  void step(input& in) {
    switch (in.get<std::uint8_t>() % 13) {
      case 0:
      case 1:
        return data(in);
      case 2:
        return allowance(in);
      case 3:
        return frame(in);
      case 4: {
        const std::size_t size = in.get<std::uint16_t>() % 5000u;
        auto memory = std::make_unique<std::byte[]>(size);
        const mutable_buffer into(memory.get(), size);
        // Another read may not have settled, and its bytes come first.
        settle();
        return post(reads_, std::move(memory), stream_read_request{stream_.get(), into});
      }
      case 5: {
        const std::size_t size = in.get<std::uint16_t>() % 5000u;
        auto memory = std::make_unique<std::byte[]>(size);
        const const_buffer from(memory.get(), size);
        return post(writes_, std::move(memory), stream_write_request{stream_.get(), from});
      }
      case 6: {
        settle();
        std::array<std::byte, 700> memory;
        const std::size_t size = in.get<std::uint16_t>() % (memory.size() + 1);
        std::size_t n = 0;
        {
          const engine::holder hold(turns_);
          n = stream_->reader().get(mutable_buffer(memory.data(), size));
        }
        return was_read(std::span(memory).first(n));
      }
      case 7: {
        const std::array<std::byte, 3000> memory{};
        const engine::holder hold(turns_);
        stream_->writer().put(
            const_buffer(memory).first(in.get<std::uint16_t>() % (memory.size() + 1)));
        return;
      }
      case 8: {
        const auto which = in.get<std::uint8_t>();
        if (which % 3 == 0 && !reads_.empty()) reads_[which / 3u % reads_.size()].op->cancel();
        if (which % 3 == 1 && !writes_.empty()) writes_[which / 3u % writes_.size()].op->cancel();
        if (which % 3 == 2 && !ends_.empty()) ends_[which / 3u % ends_.size()].op->cancel();
        return;
      }
      case 9:
        mood_ = in.get<std::uint8_t>();
        return;
      case 10: {
        const engine::holder hold(turns_);
        villain_->on_writable();
        return;
      }
      case 11:
        return settle();
      default:
        return end(in.get<std::uint8_t>());
    }
  }

  void end(std::uint8_t how) {
    if (how % 4 == 0) return post(ends_, nullptr, stream_closed_request{stream_.get()});
    const engine::holder hold(turns_);
    if (how % 4 == 1) {
      stream_->writer().finish(true);
      stream_->settle();
    } else if (how % 4 == 2) {
      stream_->close();
    } else if (how & 4) {
      villain_->close();
    } else {
      villain_->give_up(errc::peer_lost, "gone");
    }
  }

  std::uint8_t mood_ = 0;  // of the link
  engine turns_{progress_mode::polling, {}, "epoll"};
  tests::scripted_connector connector_;
  messenger messages_{turns_, {1u << 20, 4096}};
  std::shared_ptr<peer> villain_ = messages_.peers().at(0);
  scripted_link* link_ = nullptr;
  std::shared_ptr<proto::stream> stream_;
  std::vector<posted<reading>> reads_;
  std::vector<posted<writing>> writes_;
  std::vector<posted<ending>> ends_;
  std::uint64_t came_ = 0, read_ = 0;  // bytes
  bool disorderly_ = false;
};

}  // namespace

void run(input in) { talk().run(in); }

}  // namespace weft::fuzz
