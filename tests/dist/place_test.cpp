// Which process this is, by flags and by what others put into the environment.
#include "kindred/dist/place.h"

#include <gmock/gmock.h>

#include <map>

#include "kindred/core/error.h"

namespace kindred {
namespace {

using Values = std::map<std::string, std::string>;

Place place(const Values& values, const RankFlags& flags = {}) {
  return find_place(flags, [&](const std::string& name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(Place, AloneWhereNothingIsSaid) { EXPECT_EQ(place({}).group.size, 1); }

TEST(Place, CountsWhoWasStartedTogether) {
  const auto count = [](const Values& values) {
    return started_together([&](const std::string& name) -> std::optional<std::string> {
      const auto found = values.find(name);
      return found == values.end() ? std::nullopt : std::optional(found->second);
    });
  };
  EXPECT_EQ(count({}), 1);
  EXPECT_EQ(count({{"RANK", "1"}, {"WORLD_SIZE", "4"}}), 4);
  EXPECT_EQ(count({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "3"}}), 3);
}

TEST(Place, UnderTorchrunTheAgentKeepsTheStore) {
  const auto found = place({{"RANK", "0"},
                            {"WORLD_SIZE", "4"},
                            {"LOCAL_WORLD_SIZE", "4"},
                            {"MASTER_ADDR", "node1"},
                            {"MASTER_PORT", "29400"},
                            {"TORCHELASTIC_USE_AGENT_STORE", "True"}});
  EXPECT_EQ(found.group.rank, 0);
  EXPECT_EQ(found.group.size, 4);
  EXPECT_EQ(found.group.address, "node1");
  EXPECT_EQ(found.group.port, 29400);
  EXPECT_FALSE(found.group.keeps_store);
  EXPECT_EQ(found.on_this_host, 4);
}

TEST(Place, FlagsComeFirst) {
  RankFlags flags;
  flags.rank = 0;
  flags.ranks = 2;
  flags.address = "other:1234";
  const auto found = place({{"RANK", "3"},
                            {"WORLD_SIZE", "4"},
                            {"MASTER_ADDR", "node1"},
                            {"MASTER_PORT", "29400"},
                            {"TORCHELASTIC_USE_AGENT_STORE", "True"}},
                           flags);
  EXPECT_EQ(found.group.size, 2);
  EXPECT_EQ(found.group.address, "other");
  EXPECT_TRUE(found.group.keeps_store);
}

TEST(Place, SlurmsFirstHostListens) {
  const Values common{{"SLURM_PROCID", "5"},
                      {"SLURM_STEP_NUM_TASKS", "8"},
                      {"SLURM_JOB_ID", "77"},
                      {"SLURM_STEP_ID", "0"}};
  const auto host = [&](const std::string& list) {
    auto values = common;
    values["SLURM_STEP_NODELIST"] = list;
    return place(values).group.address;
  };
  EXPECT_EQ(host("node7"), "node7");
  EXPECT_EQ(host("a1,b2"), "a1");
  EXPECT_EQ(host("node[003-007,9]"), "node003");
  EXPECT_EQ(host("node[12,15-17].cluster,other"), "node12.cluster");
}

TEST(Place, ABatchScriptOfSlurmIsOneProcess) {
  EXPECT_EQ(place({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}}).group.size, 1);
}

TEST(Place, ProcessesOfMpiOnOneHostFindEachOther) {
  const auto of = [](const std::string& rank) {
    return place({{"OMPI_COMM_WORLD_RANK", rank},
                  {"OMPI_COMM_WORLD_SIZE", "2"},
                  {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                  {"PMIX_NAMESPACE", "job-1"}})
        .group;
  };
  EXPECT_EQ(of("0").port, of("1").port);
  EXPECT_TRUE(of("0").keeps_store);
  EXPECT_FALSE(of("1").keeps_store);
  EXPECT_EQ(place({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALNRANKS", "2"}}).group.rank, 1);
}

TEST(Place, WhatIsMissingIsAskedFor) {
  EXPECT_THROW(place({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}}),
               InvalidArgument);
  RankFlags flags;
  flags.rank = 0;
  EXPECT_THROW(place({}, flags), InvalidArgument);
  flags.ranks = 2;
  flags.address = "nowhere";
  EXPECT_THROW(place({}, flags), InvalidArgument);
  flags.address = "host:99999";
  EXPECT_THROW(place({}, flags), InvalidArgument);
  flags.address = "host:1000";
  flags.rank = 2;
  EXPECT_THROW(place({}, flags), InvalidArgument);
}

}  // namespace
}  // namespace kindred
