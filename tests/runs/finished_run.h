// A small finished run in a folder that removes itself.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include "kindred/core/files.h"
#include "kindred/data/formats.h"
#include "kindred/methods/method.h"
#include "kindred/runs/cluster.h"
#include "tests/clustering/synthetic.h"

namespace kindred::testing {

class FinishedRun : public ::testing::Test {
 protected:
  FinishedRun() {
    std::filesystem::create_directories(home_);
    write_trajectories(linear_control({}), data_, Format::kKindred);
    set("k", 2);
    set("policy", "mlp");
    set("restarts", 2);
    set("hidden", 16);
    set("max-rounds", 3);
    set("max-steps", 30);
  }
  ~FinishedRun() override { remove_tree(home_); }

  void set(const std::string& option, const nlohmann::json& value) {
    find_option(method_->describe(), option)->set(value);
  }

  ClusterRequest request() const {
    ClusterRequest request;
    request.dataset.files = {data_.string()};
    request.method = method_.get();
    request.folder = folder_;
    request.command = "kindred cluster data.h5";
    request.config = "k = 2\n";
    request.force = true;
    return request;
  }

  ClusterOutcome run(const RunContext& context = {}) const { return cluster(request(), context); }

  std::filesystem::path home_ =
      std::filesystem::temp_directory_path() / ("kindred-runs-" + std::to_string(::getpid()));
  std::filesystem::path data_ = home_ / "data.h5";
  RunFolder folder_{home_ / "run"};
  std::unique_ptr<ConfiguredMethod> method_ = find_method("pg-kmeans").make();
};

/// What `act` throws as a message; empty when nothing.
template <class Exception = Error, class Act>
std::string message_of(const Act& act) {
  try {
    act();
  } catch (const Exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace kindred::testing
