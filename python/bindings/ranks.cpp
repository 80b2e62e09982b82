#include "ranks.h"

#include <fmt/format.h>
#include <nanobind/stl/map.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <thread>

#include "bindings.h"

namespace kindred::python {

Meeting::Meeting(std::int64_t rank, std::int64_t size, const std::string& address, double patience,
                 std::map<std::string, std::string> variables) {
  const RankFlags flags{
      .rank = rank, .ranks = rank < 0 ? 0 : size, .address = address, .patience = patience};
  options_ = find_place(flags, [&](const std::string& name) -> std::optional<std::string> {
               const auto found = variables.find(name);
               return found == variables.end() ? std::nullopt : std::optional(found->second);
             }).group;
}

Meeting::Invitation Meeting::next() {
  const nb::gil_scoped_release released;
  if (options_.keeps_store && !store_) store_ = keep_store(options_);
  auto options = options_;
  options.keeps_store = false;
  options.prefix += fmt::format("fit{}/", fits_++);
  return {options, store_};
}

int threads_of(Communicator& ranks) {
  std::array<char, 256> name = {};
  ::gethostname(name.data(), name.size() - 1);
  const auto hosts = ranks.gather(std::as_bytes(std::span(name)));
  const auto here = std::ranges::count(hosts, hosts[static_cast<std::size_t>(ranks.rank())]);
  const auto cores = static_cast<std::int64_t>(std::thread::hardware_concurrency());
  return static_cast<int>(std::max<std::int64_t>(1, cores / here));
}

void bind_ranks(nb::module_& module) {
  nb::class_<Meeting>(module, "Meeting")
      .def(nb::init<std::int64_t, std::int64_t, const std::string&, double,
                    std::map<std::string, std::string>>(),
           nb::arg("rank"), nb::arg("size"), nb::arg("address"), nb::arg("patience"),
           nb::arg("variables"))
      .def_prop_ro("rank", &Meeting::rank)
      .def_prop_ro("size", &Meeting::size);
}

}  // namespace kindred::python
