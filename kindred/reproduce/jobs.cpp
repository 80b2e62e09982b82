#include "kindred/reproduce/jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace kindred::reproduce {
namespace {

void add(Output output, Job& job) {
  if (std::ranges::find(job.outputs, output.record, &Output::record) == job.outputs.end())
    job.outputs.push_back(std::move(output));
}

void add_outputs(const Measurement& wanted, Job& job) {
  const auto name = job.name();
  add({Output::Kind::kClustering, name}, job);
  for (const auto& variant : wanted.evaluations)
    for (const auto seed : wanted.evaluation_seeds)
      add({Output::Kind::kEvaluation, evaluation_name(name, variant, seed), variant, seed}, job);
  if (wanted.returns) add({Output::Kind::kReturns, returns_name(name)}, job);
}

}  // namespace

std::string record_name(const std::string& task, const std::string& configuration,
                        std::int64_t seed) {
  return fmt::format("{}-{}-{}", task, configuration, seed);
}

std::string evaluation_name(const std::string& job, const std::string& variant,
                            std::int64_t evaluation_seed) {
  return fmt::format("{}-evaluated-{}-{}", job, variant, evaluation_seed);
}

std::string returns_name(const std::string& job) { return job + "-returns"; }

std::string Job::name() const { return record_name(task, configuration, seed); }

std::vector<Job> jobs_of(const Declarations& declared, const std::vector<std::string>& items) {
  std::vector<Job> jobs;
  std::map<std::string, std::size_t> places;
  for (const auto& item : items)
    for (const auto& wanted : declared.item(item).measurements)
      for (const auto& configuration : wanted.configurations)
        for (const auto& task : wanted.tasks)
          for (const auto seed : wanted.seeds) {
            Job job{task, configuration, seed, {}, declared.configuration(configuration).gpu};
            const auto [place, is_new] = places.try_emplace(job.name(), jobs.size());
            if (is_new) jobs.push_back(std::move(job));
            add_outputs(wanted, jobs[place->second]);
          }
  return jobs;
}

}  // namespace kindred::reproduce
