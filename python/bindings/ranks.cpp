#include "ranks.h"

#include <fmt/format.h>
#include <nanobind/stl/map.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "bindings.h"

namespace kindred::python {
namespace {

std::int64_t count_on_this_host(Communicator& ranks) {
  std::array<char, 256> name = {};
  ::gethostname(name.data(), name.size() - 1);
  const auto all = ranks.gather(std::as_bytes(std::span(name)));
  return std::ranges::count(all, all[static_cast<std::size_t>(ranks.rank())]);
}

}  // namespace

Meeting::Meeting(std::int64_t rank, std::int64_t size, const std::string& address, double patience,
                 std::map<std::string, std::string> variables) {
  const RankFlags flags{
      .rank = rank, .ranks = rank < 0 ? 0 : size, .address = address, .patience = patience};
  options_ = find_place(flags, [&](const std::string& name) -> std::optional<std::string> {
               const auto found = variables.find(name);
               return found == variables.end() ? std::nullopt : std::optional(found->second);
             }).group;
}

Group Meeting::join() {
  const nb::gil_scoped_release released;
  if (options_.keeps_store && !store_) store_ = keep_store(options_);
  auto options = options_;
  options.keeps_store = false;
  options.prefix += fmt::format("fit{}/", joined_++);
  Group group;
  group.loss = std::make_shared<Loss>();
  options.on_loss = [loss = group.loss](const std::string& line) { loss->note(line); };
  group.ranks = join_group(options);
  group.on_this_host = count_on_this_host(*group.ranks);
  return group;
}

void bind_ranks(nb::module_& module) {
  nb::class_<Group>(module, "Group")
      .def_prop_ro("rank", &Group::rank)
      .def_prop_ro("size", &Group::size)
      .def_ro("on_this_host", &Group::on_this_host);
  nb::class_<Meeting>(module, "Meeting")
      .def(nb::init<std::int64_t, std::int64_t, const std::string&, double,
                    std::map<std::string, std::string>>(),
           nb::arg("rank"), nb::arg("size"), nb::arg("address"), nb::arg("patience"),
           nb::arg("variables"))
      .def_prop_ro("size", &Meeting::size)
      .def("join", &Meeting::join);
}

}  // namespace kindred::python
