#include <gloo/allreduce.h>
#include <gloo/broadcast.h>
#include <gloo/rendezvous/context.h>
#include <gloo/transport/tcp/device.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <thread>

#include "kindred/core/error.h"
#include "kindred/dist/common_memory.h"
#include "kindred/dist/group.h"
#include "kindred/dist/watch.h"

namespace kindred {
namespace {

using std::chrono::milliseconds;

// A rank may compute for long while the others wait for it: whether it is alive is the watch's to
// say, and Gloo waits.
constexpr auto kGlooWaits = std::chrono::hours(24 * 7);
constexpr auto kAskAgain = milliseconds(5);  // for what another process is to put on the board

std::string own_host() {
  std::array<char, 256> name = {};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "an unnamed host";
}

/// The part of a library's messages that people need.
std::string first_line(const std::exception& error) {
  const std::string text = error.what();
  return text.substr(0, text.find('\n'));
}

std::shared_ptr<void> keep(const GroupOptions& options) {
  try {
    return keep_board(options.address, options.port);
  } catch (const std::exception& error) {
    throw IoError("rank {} on {} cannot listen at {}:{}: {}", options.rank, own_host(),
                  options.address, options.port, first_line(error));
  }
}

std::unique_ptr<Board> connect(const GroupOptions& options) {
  try {
    return options.store_is_apart
               ? connect_to_agent(options)
               : connect_to_board(options.address, options.port, options.patience);
  } catch (const std::exception&) {
    throw PeerLost("{} at {}:{} cannot be reached from {} within {} s",
                   options.store_is_apart ? "the store" : "rank 0", options.address, options.port,
                   own_host(), options.patience.count() / 1000);
  }
}

/// A part of a board, for one purpose.
class PartOfBoard final : public Board {
 public:
  PartOfBoard(std::unique_ptr<Board> board, std::string prefix)
      : board_(std::move(board)), prefix_(std::move(prefix)) {}

  void set(const std::string& key, const std::string& value) override {
    board_->set(prefix_ + key, value);
  }
  std::optional<std::string> get(const std::string& key) override {
    return board_->get(prefix_ + key);
  }
  std::string set_once(const std::string& key, const std::string& value) override {
    return board_->set_once(prefix_ + key, value);
  }

 private:
  std::unique_ptr<Board> board_;
  std::string prefix_;
};

/// Where Gloo's processes tell each other how they are reached.
class Rendezvous final : public gloo::rendezvous::Store {
 public:
  /// `go_on` is called now and then while somebody is waited for, and may throw.
  Rendezvous(Board& board, std::function<void()> go_on) : board_(board), go_on_(std::move(go_on)) {}

  void set(const std::string& key, const std::vector<char>& data) override {
    board_.set(key, {data.begin(), data.end()});
  }
  std::vector<char> get(const std::string& key) override {
    while (true) {
      if (const auto value = board_.get(key)) return {value->begin(), value->end()};
      go_on_();
      std::this_thread::sleep_for(kAskAgain);
    }
  }
  void wait(const std::vector<std::string>& keys) override {
    for (const auto& key : keys) get(key);
  }
  void wait(const std::vector<std::string>& keys, const milliseconds&) override { wait(keys); }

 private:
  Board& board_;
  std::function<void()> go_on_;
};

/// Whether a process of this machine can listen at what the name stands for.
bool leads_here(const std::string& host) {
  addrinfo wanted = {};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* all = nullptr;
  if (::getaddrinfo(host.c_str(), nullptr, &wanted, &all) != 0) return false;
  bool found = false;
  for (const auto* one = all; one && !found; one = one->ai_next) {
    const int socket = ::socket(one->ai_family, one->ai_socktype, one->ai_protocol);
    if (socket < 0) continue;
    found = ::bind(socket, one->ai_addr, one->ai_addrlen) == 0;
    ::close(socket);
  }
  ::freeaddrinfo(all);
  return found;
}

std::shared_ptr<gloo::transport::Device> network_device(const GroupOptions& options) {
  gloo::transport::tcp::attr how;
  if (!options.interface.empty())
    how.iface = options.interface;
  else if (is_loopback(options.address) || !leads_here(own_host()))
    how.hostname = "127.0.0.1";
  else
    how.hostname = own_host();
  return gloo::transport::tcp::CreateDevice(how);
}

class GlooGroup final : public Communicator {
 public:
  explicit GlooGroup(const GroupOptions& options)
      : options_(options), kept_(options.keeps_store ? keep(options) : nullptr) {
    watch_ = std::make_unique<Watch>(
        std::make_unique<PartOfBoard>(connect(options), options.prefix + "watch/"),
        WatchOptions{.rank = options.rank,
                     .size = options.size,
                     .host = own_host(),
                     .keeper = options.store_is_apart ? fmt::format("the store at {}:{}",
                                                                    options.address, options.port)
                                                      : "",
                     .patience = options.patience,
                     .on_loss = options.on_loss});
    PartOfBoard board(connect(options), options.prefix + "gloo/");
    checked([&] {
      Rendezvous rendezvous(board, [&] { require_all(); });
      auto device = network_device(options);
      context_ = std::make_shared<gloo::rendezvous::Context>(static_cast<int>(options.rank),
                                                             static_cast<int>(options.size));
      context_->setTimeout(kGlooWaits);
      context_->connectFullMesh(rendezvous, device);
    });
  }

  std::int64_t rank() const override { return options_.rank; }
  std::int64_t size() const override { return options_.size; }

  void broadcast(std::span<std::byte> bytes, std::int64_t root) override {
    if (bytes.empty()) return;
    gloo::BroadcastOptions how(context_);
    how.setOutput(reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size());
    how.setRoot(static_cast<int>(root));
    how.setTag(next_call());
    bytes_ += std::ssize(bytes);
    checked([&] { gloo::broadcast(how); });
  }
  void all_reduce(std::span<std::int64_t> numbers) override {
    // Without signs, for which wrapping around is defined.
    add(std::span(reinterpret_cast<std::uint64_t*>(numbers.data()), numbers.size()));
  }
  void all_reduce(std::span<double> numbers) override { add(numbers); }

  std::vector<std::vector<std::byte>> gather(std::span<const std::byte> own) override {
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(size()), 0);
    sizes[static_cast<std::size_t>(rank())] = std::ssize(own);
    all_reduce(sizes);
    std::vector<std::vector<std::byte>> all;
    for (std::int64_t r = 0; r < size(); ++r) {
      auto& one = all.emplace_back(static_cast<std::size_t>(sizes[static_cast<std::size_t>(r)]));
      if (r == rank()) std::ranges::copy(own, one.begin());
      broadcast(one, r);
    }
    return all;
  }

  std::shared_ptr<std::byte> common_memory(std::size_t bytes) override {
    if (!shares_memory_ || bytes == 0) return nullptr;
    auto memory = share_memory(*this, bytes);
    shares_memory_ = memory != nullptr;  // where it failed once, it is not tried again
    return memory;
  }
  bool shares_memory() const override { return shares_memory_; }

  void fail(const std::string& why) override { watch_->fail(why); }
  void leave() override {
    meet(*this);
    watch_->leave();
  }
  std::int64_t bytes() const override { return bytes_; }

 private:
  /// The same on every rank, so that each call is told from those before.
  std::uint32_t next_call() { return calls_++; }

  template <class T>
  void add(std::span<T> numbers) {
    if (numbers.empty()) return;
    gloo::AllreduceOptions how(context_);
    how.setOutput(numbers.data(), numbers.size());
    how.setReduceFunction([](void* sum, const void* one, const void* other, std::size_t count) {
      const auto *a = static_cast<const T*>(one), *b = static_cast<const T*>(other);
      std::transform(a, a + count, b, static_cast<T*>(sum), std::plus<>());
    });
    how.setTag(next_call());
    bytes_ += static_cast<std::int64_t>(numbers.size_bytes());
    checked([&] { gloo::allreduce(how); });
  }

  /// Throws where the watch knows of somebody who is lost.
  void require_all() const {
    if (const auto verdict = watch_->verdict(std::chrono::steady_clock::now()))
      throw PeerLost(*verdict);
  }

  /// Where the others cannot be reached, the watch knows who it is.
  template <class Action>
  void checked(const Action& action) {
    try {
      action();
    } catch (const std::exception& error) {
      const auto until =
          std::chrono::steady_clock::now() + options_.patience + std::chrono::seconds(5);
      if (const auto verdict = watch_->verdict(until)) throw PeerLost(*verdict);
      throw PeerLost("rank {} on {} lost the others: {}", rank(), own_host(), first_line(error));
    }
  }

  GroupOptions options_;
  std::shared_ptr<void> kept_;  // the board, where this process keeps it
  std::unique_ptr<Watch> watch_;
  std::shared_ptr<gloo::rendezvous::Context> context_;
  std::uint32_t calls_ = 0;
  std::int64_t bytes_ = 0;
  bool shares_memory_ = options_.shares_memory;
};

}  // namespace

std::shared_ptr<void> keep_store(const GroupOptions& options) { return keep(options); }

std::shared_ptr<Communicator> join_group(const GroupOptions& options) {
  return std::make_shared<GlooGroup>(options);
}

}  // namespace kindred
