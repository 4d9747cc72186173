// SPDX-License-Identifier: Apache-2.0
// One context of the attacker: a real connection manager, a real engine and real transports. In
// place of the protocols are the acts.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "board.hpp"
#include "ear.hpp"
#include "runtime/progress/engine.hpp"
#include "settings.hpp"
#include "support/dice.hpp"
#include "support/no_events.hpp"
#include "wireup/manager/connection_manager.hpp"

namespace hostile {

using weft::tests::dice;
using weft::transports::wireup_message;

/// The head before a transport's own bytes in each wire-up message. docs/wire-format.md, "Wire-up
/// messages".
struct wireup_message_head {
  std::uint16_t place = 0;
  std::uint8_t number = 0;
  std::uint8_t further = 0;
  std::uint32_t credit = 0;
};
static_assert(sizeof(wireup_message_head) == 8);

enum class wireup_message_kind : std::uint8_t { offer = 1, answer, refusal, note };

class guise {
 public:
  using teller = std::function<void(const std::string&)>;

  guise(const settings& s, dice d, teller say, bool listens_to_tcp);
  ~guise();
  guise(const guise&) = delete;
  guise& operator=(const guise&) = delete;

  /// Requests a connection at a listener of the victim, or connects to the victim. \return false:
  /// refused
  bool request_connection(const std::string& address, const std::string& private_data);
  bool connect(const std::string& locator);
  bool connect_to_coordinator(const std::string& locator, const std::string& private_data);
  /// The same, without waiting for the result.
  void request_and_go_on(const std::string& address, const std::string& private_data);

  /// Offers to send by that link, as a correct peer does.
  void offer(tie& t);
  /// Sends a frame as its header says, as far as the link permits. \return whether it was sent
  /// \param payload header.size bytes, or more; empty: any bytes
  bool send(tie& t, frame_header h, const frame_extension& x,
            std::span<const std::byte> payload = {});
  /// Over a connection: sends the beginning only, to be followed by send_rest or other bytes.
  void send_part(tie& t, const frame_header& h, const frame_extension& x, std::uint64_t bytes);
  void send_rest(tie& t);
  void send_parcel(wireup_message_kind kind, wireup_message_head head, wireup_message body);

  /// Processes once all that has come. \return whether there was anything
  bool look();

  /// Ends the link, and stops listening to the victim's link.
  void drop(tie& t);
  void drop_all();
  /// Ends the control plane in good order.
  void leave();

  std::vector<std::unique_ptr<tie>> ties;
  std::deque<heard> memory;               ///< the frames received from the victim
  std::vector<weft::remote_region> keys;  ///< regions that the victim told
  std::vector<weft::wireup::channel_ptr> channels;
  std::vector<wireup_message> seen_offers;  ///< without descriptors
  const weft::wireup::identity& self() const { return manager_->self(); }
  bool deaf = false;             ///< processes nothing
  unsigned refuses_percent = 5;  ///< of the victim's offers
  tie* only = nullptr;           ///< all other links are refused
  weft::runtime::engine turns;

 private:
  struct letter {
    weft::wireup::channel_ptr from;
    wireup_message body;
    bool gone = false;
  };
  /// Between the manager's thread and this one.
  struct mailbox final : weft::tests::no_events {
    void on_wireup_message(const weft::wireup::channel_ptr& c, wireup_message m) override {
      const std::lock_guard lock(mutex);
      letters.push_back({c, std::move(m)});
    }
    void on_ended(const weft::wireup::channel_ptr& c, const weft::proto::ended&) override {
      const std::lock_guard lock(mutex);
      letters.push_back({c, {}, true});
    }
    std::mutex mutex;
    std::deque<letter> letters;                  // guarded by mutex
    std::deque<weft::wireup::channel_ptr> came;  // guarded by mutex; null: not admitted
  };

  template <class Start>
  bool wait(Start start);
  weft::wireup::channel_ready answer_to(std::shared_ptr<mailbox> box);
  bool post(tie& t, const frame_header& h, const frame_extension* x,
            std::span<const std::byte> payload);
  int socket_of(const tie& t) const;
  void write(tie& t, std::span<const std::byte> bytes);
  void read(letter l);
  void on_offer(wireup_message_head head, wireup_message body);
  void on_answer(wireup_message_head head, wireup_message body, bool refused);
  tie* tie_of(const wireup_message_head& head);
  weft::transports::counterpart counterpart_of(const tie& t);

  const settings& settings_;
  dice dice_;
  const teller say_;
  std::vector<std::unique_ptr<weft::transports::transport>> transports_;
  bool left_ = false;
  const std::shared_ptr<mailbox> box_ = std::make_shared<mailbox>();
  std::unique_ptr<weft::wireup::connection_manager> manager_;
};

}  // namespace hostile
