// SPDX-License-Identifier: Apache-2.0
// Calls by gRPC, with one completion queue and one thread a side: with a core a side that is its
// fastest way, since the thread that takes an ended call also moves the bytes. (The callback API
// has threads of its own for that, which would share the core.) The queue is polled and never
// waits, and the channel has its defaults: GRPC_ARG_MINIMAL_STACK would gain a tenth.
#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include <memory>
#include <stdexcept>
#include <vector>

#include "echo.grpc.pb.h"
#include "peers/call_peer.hpp"

namespace {

using namespace weft::bench;

/// What a completion queue tells by its tag.
class event {
 public:
  event() = default;
  event(const event&) = delete;
  event& operator=(const event&) = delete;
  virtual ~event() = default;
  virtual void happened(bool ok) = 0;
};

/// \return whether there was an event
bool poll(grpc::CompletionQueue& queue) {
  void* tag = nullptr;
  bool ok = false;
  if (queue.AsyncNext(&tag, &ok, gpr_time_0(GPR_CLOCK_MONOTONIC)) !=
      grpc::CompletionQueue::GOT_EVENT)
    return false;
  static_cast<event*>(tag)->happened(ok);
  return true;
}

/// One call that is awaited, or being answered; then it awaits the next.
class served final : public event {
 public:
  served(Echo::AsyncService& service, grpc::ServerCompletionQueue& queue)
      : service_(service), queue_(queue) {
    await();
  }

  void happened(bool ok) override {
    if (!ok) return;  // the server ends
    if (answered_) return await();
    answered_ = true;
    state_->responder.Finish(state_->argument, grpc::Status::OK, this);
  }

 private:
  struct state {
    grpc::ServerContext context;
    EchoData argument;
    grpc::ServerAsyncResponseWriter<EchoData> responder{&context};
  };

  void await() {
    answered_ = false;
    state_ = std::make_unique<state>();
    service_.RequestCall(&state_->context, &state_->argument, &state_->responder, &queue_, &queue_,
                         this);
  }

  Echo::AsyncService& service_;
  grpc::ServerCompletionQueue& queue_;
  std::unique_ptr<state> state_;
  bool answered_ = false;
};

void serve(serving_side& side) {
  Echo::AsyncService service;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(fmt::format("{}:0", loopback), grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  const auto queue = builder.AddCompletionQueue();
  const auto server = builder.BuildAndStart();
  if (!server) throw std::runtime_error("the server does not start");
  std::vector<std::unique_ptr<served>> all;
  for (std::size_t i = 0; i != 2 * side.callers(); ++i)
    all.push_back(std::make_unique<served>(service, *queue));
  side.listens_at(static_cast<std::uint16_t>(port));
  while (!side.ended()) poll(*queue);
  server->Shutdown(std::chrono::system_clock::now());
  queue->Shutdown();
  void* tag = nullptr;
  for (bool ok = false; queue->Next(&tag, &ok);) {
  }
}

class caller final : public event {
 public:
  caller(calling_side& side, Echo::Stub& stub, grpc::CompletionQueue& queue, std::size_t number)
      : side_(side), stub_(stub), queue_(queue), number_(number) {
    argument_.set_data(side.argument().data(), side.size());
  }

  /// Begins so many calls, one after the other.
  void begin(std::size_t count) {
    left_ = count;
    call();
  }
  bool calls() const noexcept { return left_ != 0; }

  void happened(bool) override {
    if (!status_.ok()) throw std::runtime_error("a call failed: " + status_.error_message());
    const auto& data = result_.data();
    side_.take(number_, std::as_bytes(std::span(data.data(), data.size())));
    if (--left_ != 0) call();
  }

 private:
  void call() {
    context_ = std::make_unique<grpc::ClientContext>();
    reader_ = stub_.AsyncCall(context_.get(), argument_, &queue_);
    reader_->Finish(&result_, &status_, this);
  }

  calling_side& side_;
  Echo::Stub& stub_;
  grpc::CompletionQueue& queue_;
  std::size_t number_;
  std::size_t left_ = 0;
  EchoData argument_, result_;
  grpc::Status status_;
  std::unique_ptr<grpc::ClientContext> context_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<EchoData>> reader_;
};

void ask(calling_side& side) {
  const auto channel = grpc::CreateChannel(fmt::format("{}:{}", loopback, side.port()),
                                           grpc::InsecureChannelCredentials());
  const auto stub = Echo::NewStub(channel);
  grpc::CompletionQueue queue;
  std::vector<std::unique_ptr<caller>> all;
  for (std::size_t number = 0; number != side.callers(); ++number)
    all.push_back(std::make_unique<caller>(side, *stub, queue, number));
  side.measure([&](std::size_t each) {
    for (const auto& one : all) one->begin(each);
    for (const auto& one : all)
      while (one->calls()) poll(queue);
  });
}

}  // namespace

int main(int argc, char** argv) {
  return call_peer_main(argc, argv, "gRPC " + grpc::Version(), serve, ask);
}
