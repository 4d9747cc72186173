// SPDX-License-Identifier: Apache-2.0
// A channel from its first frame to its last, on either side.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "wireup/auth/introduction.hpp"
#include "wireup/channel/channel_events.hpp"
#include "wireup/loop/connection.hpp"
#include "wireup/tcp/encryption.hpp"

namespace weft::wireup {

/// The channel that the manager hands out. Only the members of `channel` and `has_ended` are for
/// any thread; the rest is for the loop's thread.
class peer_channel final : public channel,
                           public connection::user,
                           public std::enable_shared_from_this<peer_channel> {
 public:
  enum class stage {
    expecting,  ///< a process connected to us and has not sent its hello
    waiting,    ///< it has sent its hello, and waits for `admit` or `refuse`; or wants a dump
    asking,     ///< we connected, and wait to be admitted
    live,       ///< wire-up messages go both ways
    ended
  };

  /// The owner of the channels; outlives the loop's thread.
  class owner {
   public:
    virtual ~owner() = default;
    /// Of this context; constant.
    virtual const context_key& key() const noexcept = 0;
    /// This side began to ask for a channel: `who` was made.
    virtual void on_asking(const std::shared_ptr<peer_channel>& who) = 0;
    virtual void on_hello(const std::shared_ptr<peer_channel>& who, hello h) = 0;
    /// A process of this user wants no channel, but a dump: answer_dump.
    virtual void on_dump_request(const std::shared_ptr<peer_channel>& who, dump_form form) = 0;
    /// As manager_events.
    virtual channel_events& on_live(const std::shared_ptr<peer_channel>& who) noexcept = 0;
    /// It has ended, and the owner is to forget it. \param was the stage in which it ended
    /// \param notice for people; empty: there is nothing to say
    virtual void release(const std::shared_ptr<peer_channel>& who, stage was,
                         const std::string& notice) = 0;
  };

  /// \param listener_number the listener that it came through; 0: none
  peer_channel(std::shared_ptr<loop> on, owner& whose, proven_socket socket, connection::medium m,
               std::uint64_t listener_number = 0);

  /// A process connected to us: sends it the invitation. It has five seconds to say hello.
  void expect(std::string origin);
  /// We connected: says hello when the invitation arrives.
  /// \param where what we connected to, for messages
  /// \param whom the context that is to answer; nothing: any context
  void ask(hello h, std::string where, std::optional<context_id> whom, channel_ready done);
  /// Admits a waiting peer, to the lane of `self`. If the channel has ended in the meantime, that
  /// is reported now.
  void admit(const identity& self);
  void refuse(const std::string& reason, refusal_kind kind = refusal_kind::any);
  /// Any thread: the text that the process has asked for. It is the last that is sent.
  void answer_dump(std::string text);
  /// Ends at once; no event is reported.
  void abandon();
  /// The manager ends, or cannot go on with the channel: ends it in the way that fits the stage.
  /// \param why told to a requester that waits for an answer
  /// \param how told to a peer
  void retire(const failure& why, bye_kind how = bye_kind::orderly);

  std::uint64_t listener_number() const noexcept { return listener_number_; }
  /// The process of this host, or the other host, that connected to us; empty: we connected.
  const std::string& origin() const noexcept { return origin_; }
  const credentials& kernel_view() const noexcept { return connection_->peer(); }
  std::string peer_name() const { return connection_->peer_name(); }

  // Any thread.
  /// Null: it has shown none.
  const peer_certificate* certificate() const noexcept { return certificate_.get(); }
  const identity& peer() const noexcept override { return peer_; }
  lane_number lane() const noexcept override { return lane_; }
  bool carries_descriptors() const noexcept override { return connection_->carries_descriptors(); }
  std::vector<std::string> hosts() const override;
  void send(transports::wireup_message p) override;
  digest sign(std::span<const std::byte> bytes) const noexcept override {
    return sign_beyond(secret_, bytes);
  }
  void close() override;
  unique_fd process() const override { return connection_->process(); }
  void process_ended() override;
  void report_to(channel_events& whom) override { events_ = &whom; }
  /// Whether another context answered than the one that was asked for; it was told nothing.
  bool met_another() const noexcept { return met_another_; }
  bool is_live() const noexcept { return stage_ == stage::live; }
  bool has_ended() const noexcept { return has_ended_.load(std::memory_order_acquire); }

  // connection::user
  void on_frame(frame f) override;
  void on_no_room() override;
  void on_ended(connection::ending why) override;

 private:
  void on_hello(const frame& f);
  void on_dump_request(const frame& f);
  void on_invitation(const frame& f);
  void on_answer(const frame& f);
  bool may_have_id(const context_id& id) const noexcept;
  void know(identity who);
  identity shown(identity who) const;
  void close_now(bye_kind how);
  void wrong(const std::string& what);
  void answer(channel_ptr live, const failure& why);
  void become_live();
  void end(const proto::ended& how, const std::string& notice = {});
  void end_asking(errc kind, const std::string& why);
  void release(const std::string& notice);
  std::string no_channel(const std::string& why) const;

  const std::shared_ptr<loop> loop_;
  owner& owner_;
  const std::uint64_t listener_number_;
  const std::shared_ptr<const peer_certificate> certificate_;
  const std::shared_ptr<connection> connection_;
  const admission known_;
  asio::steady_timer deadline_timer_;
  std::optional<responder> invites_;  // until both sides have introduced themselves
  std::optional<initiator> greets_;
  identity peer_;    // set before other threads than the loop's know the channel
  digest secret_{};  // set at the same time as peer_
  std::string where_;
  std::string origin_;
  std::string fault_;  // what was wrong with a hello that is refused
  channel_ready done_;
  hello says_;  // sent when the invitation has come
  purpose why_ = purpose::connect;
  std::optional<context_id> whom_;
  stage stage_ = stage::expecting;
  lane_number lane_ = 0;
  bool greeted_ = false;
  bool met_another_ = false;
  bool closing_ = false;
  channel_events* events_ = nullptr;  // once it is live, or report_to was called
  proto::ended how_{errc::ok};        // once it has ended
  std::atomic<bool> has_ended_{false};
};

}  // namespace weft::wireup
