#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "kindred/core/error.h"
#include "kindred/dist/board.h"

namespace kindred {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Both sides say it first, so that neither takes another program for its own.
constexpr std::array<char, 8> kHello = {'k', 'i', 'n', 'd', 'r', 'e', 'd', '1'};
constexpr std::uint32_t kMostBytes = 1U << 20;  // of a key or a value
constexpr auto kTryAgain = milliseconds(50);
constexpr auto kForHello = milliseconds(60000);  // that the keeper gives who connects

enum class Ask : std::uint32_t { kSet, kGet, kSetOnce };

/// Before the bytes of a key and a value. Answers have no key; `ask` says whether there is a value.
struct Header {
  std::uint32_t ask, key, value;
};

milliseconds milliseconds_until(Clock::time_point until) {
  return std::chrono::duration_cast<milliseconds>(until - Clock::now());
}

std::string why() { return std::system_category().message(errno); }

class Socket {
 public:
  explicit Socket(int file) : file_(file) {}
  Socket(Socket&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~Socket() {
    if (file_ >= 0) ::close(file_);
  }

  int file() const { return file_; }
  explicit operator bool() const { return file_ >= 0; }

  void set(int level, int option, int value) const {
    ::setsockopt(file_, level, option, &value, sizeof(value));
  }
  void wait_at_most(milliseconds time) const {  // 0: for ever
    const timeval limit{.tv_sec = time.count() / 1000, .tv_usec = time.count() % 1000 * 1000};
    ::setsockopt(file_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  }

  void send(const void* bytes, std::size_t size) const {
    const auto* next = static_cast<const char*>(bytes);
    while (size > 0) {
      const auto sent = ::send(file_, next, size, MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) throw IoError("the connection to the board broke: {}", why());
      next += sent;
      size -= static_cast<std::size_t>(sent);
    }
  }
  void receive(void* bytes, std::size_t size) const {
    auto* next = static_cast<char*>(bytes);
    while (size > 0) {
      const auto got = ::recv(file_, next, size, 0);
      if (got < 0 && errno == EINTR) continue;
      if (got == 0) throw IoError("the board was closed");
      if (got < 0) throw IoError("the connection to the board broke: {}", why());
      next += got;
      size -= static_cast<std::size_t>(got);
    }
  }

  void send(Header header, const std::string& key, const std::string& value) const {
    header.key = static_cast<std::uint32_t>(key.size());
    header.value = static_cast<std::uint32_t>(value.size());
    std::string message(reinterpret_cast<const char*>(&header), sizeof(header));
    message += key + value;
    send(message.data(), message.size());  // at once, so that nothing waits for an answer to half
  }
  Header receive(std::string& key, std::string& value) const {
    Header header = {};
    receive(&header, sizeof(header));
    if (header.key > kMostBytes || header.value > kMostBytes)
      throw IoError("what came over the connection to the board makes no sense");
    key.resize(header.key);
    value.resize(header.value);
    receive(key.data(), key.size());
    receive(value.data(), value.size());
    return header;
  }

 private:
  int file_;
};

void say_hello(const Socket& socket, milliseconds patience) {
  socket.set(IPPROTO_TCP, TCP_NODELAY, 1);
  socket.wait_at_most(patience);
  socket.send(kHello.data(), kHello.size());
  std::array<char, kHello.size()> heard = {};
  socket.receive(heard.data(), heard.size());
  if (heard != kHello) throw IoError("another program answers there");
  socket.wait_at_most(milliseconds(0));
}

/// The addresses of a host and a port.
class Addresses {
 public:
  Addresses(const std::string& host, std::uint16_t port, int flags) {
    addrinfo wanted = {};
    wanted.ai_socktype = SOCK_STREAM;
    wanted.ai_flags = flags;
    const auto error = ::getaddrinfo(host.empty() ? nullptr : host.c_str(),
                                     std::to_string(port).c_str(), &wanted, &first_);
    if (error != 0) problem_ = ::gai_strerror(error);
  }
  Addresses(const Addresses&) = delete;
  Addresses& operator=(const Addresses&) = delete;
  ~Addresses() {
    if (first_) ::freeaddrinfo(first_);
  }

  const addrinfo* first() const { return first_; }
  const std::string& problem() const { return problem_; }

 private:
  addrinfo* first_ = nullptr;
  std::string problem_;
};

Socket listen_at(const std::string& address, std::uint16_t port) {
  // All interfaces where other machines have to come: the address may be a name for one of them.
  const bool own = is_loopback(address);
  const Addresses all(own ? address : "", port, AI_PASSIVE);
  std::string problem = all.problem();
  // At all interfaces IPv6 takes both kinds; "localhost" is usually meant to be 127.0.0.1.
  for (const int family : {own ? AF_INET : AF_INET6, own ? AF_INET6 : AF_INET})
    for (const auto* one = all.first(); one; one = one->ai_next) {
      if (one->ai_family != family) continue;
      Socket socket(::socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
      if (!socket) continue;
      socket.set(SOL_SOCKET, SO_REUSEADDR, 1);
      if (family == AF_INET6) socket.set(IPPROTO_IPV6, IPV6_V6ONLY, 0);
      if (::bind(socket.file(), one->ai_addr, one->ai_addrlen) == 0 &&
          ::listen(socket.file(), SOMAXCONN) == 0)
        return socket;
      problem = why();
    }
  throw IoError("{}", problem);
}

/// Nothing where it does not answer by then.
Socket try_to_connect(const addrinfo& to, Clock::time_point until) {
  Socket socket(::socket(to.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return socket;
  if (::connect(socket.file(), to.ai_addr, to.ai_addrlen) != 0) {
    if (errno != EINPROGRESS) return Socket(-1);
    pollfd ready{.fd = socket.file(), .events = POLLOUT, .revents = 0};
    const auto left = std::max(milliseconds(0), milliseconds_until(until));
    if (::poll(&ready, 1, static_cast<int>(left.count())) != 1) return Socket(-1);
    int error = 0;
    socklen_t size = sizeof(error);
    ::getsockopt(socket.file(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return Socket(-1);
  }
  int waits_not = 0;
  ::ioctl(socket.file(), FIONBIO, &waits_not);
  return socket;
}

class ConnectedBoard final : public Board {
 public:
  explicit ConnectedBoard(Socket socket) : socket_(std::move(socket)) {}

  void set(const std::string& key, const std::string& value) override {
    ask(Ask::kSet, key, value);
  }
  std::optional<std::string> get(const std::string& key) override {
    return ask(Ask::kGet, key, {});
  }
  std::string set_once(const std::string& key, const std::string& value) override {
    return ask(Ask::kSetOnce, key, value).value_or(value);
  }

 private:
  std::optional<std::string> ask(Ask what, const std::string& key, const std::string& value) {
    socket_.send({.ask = static_cast<std::uint32_t>(what), .key = 0, .value = 0}, key, value);
    std::string none, answer;
    const auto header = socket_.receive(none, answer);
    return header.ask != 0 ? std::optional(answer) : std::nullopt;
  }

  Socket socket_;
};

/// Each connection is served by a thread of its own, so that none waits for another.
class Keeper {
 public:
  explicit Keeper(Socket listening) : state_(std::make_shared<State>(std::move(listening))) {
    std::thread([state = state_] { state->accept_on(); }).detach();
  }
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;
  ~Keeper() { state_->close(); }

 private:
  struct State : std::enable_shared_from_this<State> {
    explicit State(Socket socket) : listening(std::move(socket)) {}

    void accept_on() {
      while (true) {
        Socket socket(::accept4(listening.file(), nullptr, nullptr, SOCK_CLOEXEC));
        // Who came may be gone again, or there are too many open files for a while.
        if (!socket) std::this_thread::sleep_for(kTryAgain);
        const std::lock_guard lock(mutex);
        if (closed) return;
        if (!socket) continue;
        connected.insert(socket.file());
        std::thread([self = shared_from_this(), one = std::move(socket)]() mutable {
          try {
            say_hello(one, kForHello);
            while (true) self->answer(one);
          } catch (const std::exception&) {  // it is gone, or was never one of ours
          }
          const std::lock_guard own(self->mutex);
          self->connected.erase(one.file());
          one = Socket(-1);
        }).detach();
      }
    }

    void answer(const Socket& socket) {
      std::string key, value;
      const auto ask = static_cast<Ask>(socket.receive(key, value).ask);
      bool known = true;
      {
        const std::lock_guard lock(mutex);
        const auto found = values.find(key);
        if (ask == Ask::kSet) {
          values[key] = std::exchange(value, {});
        } else if (found != values.end()) {
          value = found->second;
        } else if (ask == Ask::kSetOnce) {
          values[key] = value;
        } else {
          known = false;
        }
      }
      socket.send({.ask = known, .key = 0, .value = 0}, {}, known ? value : std::string());
    }

    void close() {
      const std::lock_guard lock(mutex);
      closed = true;
      ::shutdown(listening.file(), SHUT_RDWR);
      for (const int file : connected) ::shutdown(file, SHUT_RDWR);
    }

    Socket listening;
    std::mutex mutex;
    std::map<std::string, std::string> values;
    std::set<int> connected;
    bool closed = false;
  };

  std::shared_ptr<State> state_;  // shared with the threads
};

}  // namespace

bool is_loopback(const std::string& address) {
  return address == "localhost" || address == "::1" || address.starts_with("127.");
}

std::shared_ptr<void> keep_board(const std::string& address, std::uint16_t port) {
  return std::make_shared<Keeper>(listen_at(address, port));
}

std::unique_ptr<Board> connect_to_board(const std::string& address, std::uint16_t port,
                                        milliseconds patience) {
  const auto until = Clock::now() + patience;
  while (true) {
    const Addresses all(address, port, 0);
    for (const auto* one = all.first(); one; one = one->ai_next)
      if (auto socket = try_to_connect(*one, until)) {
        say_hello(socket, std::max(kTryAgain, milliseconds_until(until)));
        return std::make_unique<ConnectedBoard>(std::move(socket));
      }
    if (Clock::now() + kTryAgain >= until) throw IoError("nobody listens at {}:{}", address, port);
    std::this_thread::sleep_for(kTryAgain);
  }
}

}  // namespace kindred
