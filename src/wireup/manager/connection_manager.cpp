// SPDX-License-Identifier: Apache-2.0
#include "wireup/manager/connection_manager.hpp"

#include "wireup/manager/manager_core.hpp"

namespace weft::wireup {

connection_manager::connection_manager(identity self, manager_events& to, tcp_settings tcp,
                                       lane_number lanes, runtime::log_ptr reports)
    : impl_(
          std::make_unique<impl>(std::move(self), to, std::move(tcp), lanes, std::move(reports))) {}

connection_manager::~connection_manager() = default;

void connection_manager::start_accepting() { impl_->start_accepting(); }

void connection_manager::end(bool failed) { impl_->end(failed); }

const identity& connection_manager::self() const noexcept { return impl_->self(); }

lane_number connection_manager::lanes() const noexcept { return impl_->lanes(); }

void connection_manager::call_after(std::chrono::microseconds time, std::function<void()> f) {
  impl_->call_after(time, std::move(f));
}

void connection_manager::call_later(std::chrono::microseconds time, std::function<void()> f) {
  impl_->call_later(time, std::move(f));
}
void connection_manager::post(std::function<void()> f) { impl_->post(std::move(f)); }

void connection_manager::connect(const std::string& locator, channel_ready done, lane_pair lanes) {
  impl_->connect(locator, std::move(done), lanes);
}

void connection_manager::connect(const locator& where, const job_key& key, channel_ready done,
                                 lane_pair lanes) {
  impl_->connect(where, key, std::move(done), lanes);
}

std::uint64_t connection_manager::open_listener(
    const std::string& address, std::string& actual_address,
    const std::function<void(std::uint64_t)>& known, lane_number lane,
    std::shared_ptr<renewable_certificates> certificates) {
  return impl_->open_listener(address, actual_address, known, lane, std::move(certificates));
}

void connection_manager::connect_to_coordinator(const std::string& locator,
                                                const std::string& private_data,
                                                channel_ready done) {
  impl_->connect_to_coordinator(locator, private_data, std::move(done));
}

void connection_manager::close_listener(std::uint64_t listener_number) {
  impl_->close_listener_later(listener_number);
}

void connection_manager::request_connection(
    const std::string& address, const std::string& private_data, channel_ready done,
    lane_number lane, std::shared_ptr<const net::tls::settings> certificates) {
  impl_->request_connection(address, private_data, std::move(done), lane, std::move(certificates));
}

std::uint64_t connection_manager::meet(const std::string& own, const std::string& other,
                                       const std::string& discriminator, channel_ready done,
                                       lane_number lane) {
  return impl_->meet(own, other, discriminator, std::move(done), lane);
}

void connection_manager::cancel_meet(std::uint64_t meeting) { impl_->cancel_meet(meeting); }

}  // namespace weft::wireup
