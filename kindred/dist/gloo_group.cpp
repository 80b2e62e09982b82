#include <ATen/ATen.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <numeric>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

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

std::string own_host() {
  std::array<char, 256> name = {};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "an unnamed host";
}

/// The part of torch's messages that people need.
std::string first_line(const std::exception& error) {
  const std::string text = error.what();
  return text.substr(0, text.find('\n'));
}

c10::intrusive_ptr<c10d::TCPStore> connect(const GroupOptions& options, bool keeps) {
  c10d::TCPStoreOptions how;
  how.port = options.port;
  how.isServer = keeps;
  how.waitWorkers = false;
  how.timeout = options.patience;
  try {
    return c10::make_intrusive<c10d::TCPStore>(options.address, how);
  } catch (const std::exception& error) {
    if (keeps)
      throw IoError("rank {} on {} cannot listen at {}:{}: {}", options.rank, own_host(),
                    options.address, options.port, first_line(error));
    throw PeerLost("{} at {}:{} cannot be reached from {} within {} s",
                   options.store_is_apart ? "the store" : "rank 0", options.address, options.port,
                   own_host(), options.patience.count() / 1000);
  }
}

std::vector<std::uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }
std::string text_of(const std::vector<std::uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

class StoreBoard final : public Board {
 public:
  StoreBoard(c10::intrusive_ptr<c10d::TCPStore> store, std::string prefix)
      : store_(std::move(store)), prefix_(std::move(prefix)) {}

  void set(const std::string& key, const std::string& value) override {
    store_->set(prefix_ + key, bytes_of(value));
  }
  std::optional<std::string> get(const std::string& key) override {
    if (!store_->check({prefix_ + key})) return std::nullopt;
    return text_of(store_->get(prefix_ + key));
  }
  std::string set_once(const std::string& key, const std::string& value) override {
    return text_of(store_->compareSet(prefix_ + key, {}, bytes_of(value)));
  }

 private:
  c10::intrusive_ptr<c10d::TCPStore> store_;
  std::string prefix_;
};

std::shared_ptr<gloo::transport::Device> network_device(const GroupOptions& options) {
  using Group = c10d::ProcessGroupGloo;
  if (!options.interface.empty()) return Group::createDeviceForInterface(options.interface);
  if (options.address == "localhost" || options.address.starts_with("127."))
    return Group::createDeviceForHostname("127.0.0.1");
  return Group::createDefaultDevice();
}

/// While this lives, threads that are started do not take a core from one that runs. Gloo's thread
/// polls as long as another of its process holds the lock of a connection; where it was woken by
/// what that one sends, it would take its core and poll for milliseconds, until the next tick.
class PatientThreads {
 public:
  PatientThreads() {
    if (usual_ == SCHED_OTHER) set(SCHED_BATCH);
  }
  PatientThreads(const PatientThreads&) = delete;
  PatientThreads& operator=(const PatientThreads&) = delete;
  ~PatientThreads() {
    if (usual_ == SCHED_OTHER) set(SCHED_OTHER);
  }

 private:
  static void set(int policy) {
    const sched_param none = {};
    ::sched_setscheduler(0, policy, &none);  // of this thread; those it starts get the same
  }

  int usual_ = ::sched_getscheduler(0);
};

class GlooGroup final : public Communicator {
 public:
  explicit GlooGroup(const GroupOptions& options)
      : options_(options), store_(connect(options, options.keeps_store)) {
    watch_ = std::make_unique<Watch>(
        std::make_unique<StoreBoard>(connect(options, false), options.prefix + "watch/"),
        WatchOptions{.rank = options.rank,
                     .size = options.size,
                     .host = own_host(),
                     .keeper = options.store_is_apart ? fmt::format("the store at {}:{}",
                                                                    options.address, options.port)
                                                      : "",
                     .patience = options.patience,
                     .on_loss = options.on_loss});
    checked([&] {
      const PatientThreads of_gloo;
      auto how = c10d::ProcessGroupGloo::Options::create(kGlooWaits);
      how->devices.push_back(network_device(options));
      how->threads = 1;
      group_ = c10::make_intrusive<c10d::ProcessGroupGloo>(
          c10::make_intrusive<c10d::PrefixStore>(options.prefix + "gloo", store_),
          static_cast<int>(options.rank), static_cast<int>(options.size), how);
    });
  }

  std::int64_t rank() const override { return options_.rank; }
  std::int64_t size() const override { return options_.size; }

  void broadcast(std::span<std::byte> bytes, std::int64_t root) override {
    if (bytes.empty()) return;
    c10d::BroadcastOptions how;
    how.rootRank = static_cast<int>(root);
    auto tensors = in_place(bytes, at::kByte);
    checked([&] { group_->broadcast(tensors, how)->wait(); });
  }
  void all_reduce(std::span<std::int64_t> numbers) override { add(numbers, at::kLong); }
  void all_reduce(std::span<double> numbers) override { add(numbers, at::kDouble); }

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
    auto memory = memory_.take(*this, bytes);
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
  template <class T>
  std::vector<at::Tensor> in_place(std::span<T> numbers, at::ScalarType type) {
    bytes_ += static_cast<std::int64_t>(numbers.size_bytes());
    return {at::from_blob(numbers.data(), {std::ssize(numbers)}, type)};
  }

  template <class T>
  void add(std::span<T> numbers, at::ScalarType type) {
    if (numbers.empty()) return;
    auto tensors = in_place(numbers, type);
    checked([&] { group_->allreduce(tensors)->wait(); });
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
  c10::intrusive_ptr<c10d::TCPStore> store_;
  std::unique_ptr<Watch> watch_;
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
  std::int64_t bytes_ = 0;
  CommonMemory memory_;
  bool shares_memory_ = options_.shares_memory;
};

std::shared_ptr<Communicator> join_by_gloo(const GroupOptions& options) {
  return std::make_shared<GlooGroup>(options);
}

std::shared_ptr<void> keep_tcp_store(const GroupOptions& options) {
  return std::make_shared<c10::intrusive_ptr<c10d::TCPStore>>(connect(options, true));
}

const LateFunctionIs is_join_group(join_group, &join_by_gloo);
const LateFunctionIs is_keep_store(keep_store, &keep_tcp_store);

}  // namespace
}  // namespace kindred
