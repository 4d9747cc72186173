// SPDX-License-Identifier: Apache-2.0
#include "wireup/connection_manager.hpp"

#include "wireup/manager_core.hpp"

namespace weft::wireup {

connection_manager::connection_manager(identity self, handlers h, tcp_settings tcp)
    : impl_(std::make_unique<impl>(std::move(self), std::move(h), std::move(tcp))) {}

connection_manager::~connection_manager() = default;

void connection_manager::let_in() { impl_->let_in(); }

void connection_manager::end() { impl_->end(); }

const identity& connection_manager::self() const noexcept { return impl_->self(); }

void connection_manager::call_after(std::chrono::microseconds time, std::function<void()> f) {
  impl_->call_after(time, std::move(f));
}
void connection_manager::post(std::function<void()> f) { impl_->post(std::move(f)); }

void connection_manager::connect(const std::string& locator, connected done) {
  impl_->connect(locator, std::move(done));
}

void connection_manager::connect(const locator& where, const job_key& key, connected done) {
  impl_->connect(where, key, std::move(done));
}

std::uint64_t connection_manager::open_door(const std::string& address, std::string& actual_address,
                                            const std::function<void(std::uint64_t)>& known) {
  return impl_->open_door(address, actual_address, known);
}

void connection_manager::knock_at_registrar(const std::string& locator, const std::string& greeting,
                                            connected done) {
  impl_->knock_at_registrar(locator, greeting, std::move(done));
}

void connection_manager::close_door(std::uint64_t door) { impl_->close_door_later(door); }

void connection_manager::knock(const std::string& address, const std::string& greeting,
                               connected done) {
  impl_->knock(address, greeting, std::move(done));
}

std::uint64_t connection_manager::meet(const std::string& own, const std::string& other,
                                       const std::string& discriminator, connected done) {
  return impl_->meet(own, other, discriminator, std::move(done));
}

void connection_manager::cancel_meet(std::uint64_t meeting) { impl_->cancel_meet(meeting); }

}  // namespace weft::wireup
