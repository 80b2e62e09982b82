// The store of torch's own that the agent of torchrun keeps, as a board.
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "kindred/dist/group.h"

namespace kindred {
namespace {

std::vector<std::uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }
std::string text_of(const std::vector<std::uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

class AgentBoard final : public Board {
 public:
  explicit AgentBoard(c10::intrusive_ptr<c10d::TCPStore> store) : store_(std::move(store)) {}

  void set(const std::string& key, const std::string& value) override {
    store_->set(key, bytes_of(value));
  }
  std::optional<std::string> get(const std::string& key) override {
    if (!store_->check({key})) return std::nullopt;
    return text_of(store_->get(key));
  }
  std::string set_once(const std::string& key, const std::string& value) override {
    return text_of(store_->compareSet(key, {}, bytes_of(value)));
  }

 private:
  c10::intrusive_ptr<c10d::TCPStore> store_;
};

std::unique_ptr<Board> connect(const GroupOptions& options) {
  c10d::TCPStoreOptions how;
  how.port = options.port;
  how.isServer = false;
  how.waitWorkers = false;
  how.timeout = options.patience;
  return std::make_unique<AgentBoard>(c10::make_intrusive<c10d::TCPStore>(options.address, how));
}

const TorchFunctionIs is_connect_to_agent(connect_to_agent, &connect);

}  // namespace
}  // namespace kindred
