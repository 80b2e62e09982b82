// Episodes of which others hold some.
#include "kindred/data/fingerprint.h"
#include "kindred/data/join.h"
#include "kindred/data/select.h"
#include "test_files.h"

namespace kindred::testing {
namespace {

using ::testing::ElementsAre;

ReadOptions holding(std::int64_t begin, std::int64_t end) {
  ReadOptions options;
  options.own = [=](std::span<const std::int64_t>) { return EpisodeRange{begin, end}; };
  return options;
}

std::vector<float> rows_of(const Trajectories& data) {
  std::vector<float> rows(static_cast<std::size_t>(data.steps() * data.observations.dim()));
  data.observations.copy(0, data.steps(), rows.data());
  return rows;
}

TEST(Held, IsReadAndTheRestIsKnownByEpisode) {
  const TempDir folder;
  const auto all = make_trajectories();
  for (const auto format : kFormats) {
    SCOPED_TRACE(name_of(format));
    const auto path = folder / std::string(name_of(format));
    write_trajectories(all, path, format);
    const auto whole = read_trajectories(path);
    const auto some = read_trajectories(path, holding(1, 3));
    ASSERT_TRUE(some.held.has_value());
    EXPECT_EQ(some.episodes(), whole.episodes());
    EXPECT_EQ(some.ids, whole.ids);
    EXPECT_TRUE(std::ranges::equal(some.labels, whole.labels));
    const auto expected = slice_episodes(whole, {1, 3}), own = own_part(some);
    EXPECT_EQ(rows_of(own), rows_of(expected));
    EXPECT_TRUE(std::ranges::equal(own.actions.floats(), expected.actions.floats()));
  }
}

TEST(Held, StepsOfOthersAreNotReadWhereTheFormatCanDoWithout) {
  const TempDir folder;
  const auto all = make_trajectories();
  for (const auto format : {Format::kD4rl, Format::kMinari, Format::kRobomimic}) {
    SCOPED_TRACE(name_of(format));
    const auto path = folder / std::string(name_of(format));
    write_trajectories(all, path, format);
    const auto rows = rows_of(read_trajectories(path, holding(0, 1)));
    const auto own = static_cast<std::size_t>(all.length(0) * all.observations.dim());
    EXPECT_TRUE(std::ranges::all_of(rows.begin() + static_cast<std::ptrdiff_t>(own), rows.end(),
                                    [](float x) { return x == 0.0F; }));
  }
}

TEST(Held, HashesOfPartsAddUp) {
  const TempDir folder;
  const auto all = make_trajectories();
  write_trajectories(all, folder / "d", Format::kD4rl);
  const auto whole = fingerprint_of(read_trajectories(folder / "d"));
  auto sum = fingerprint_of(read_trajectories(folder / "d", holding(0, 2)));
  const auto rest = fingerprint_of(read_trajectories(folder / "d", holding(2, all.episodes())));
  EXPECT_FALSE(sum == whole);
  sum.observation_hash += rest.observation_hash;
  sum.action_hash += rest.action_hash;
  EXPECT_TRUE(sum == whole);
}

TEST(Held, SelectingAndJoiningKeepWhatIsHeld) {
  const TempDir folder;
  const auto all = make_trajectories();
  write_trajectories(all, folder / "a", Format::kD4rl);
  write_trajectories(all, folder / "b", Format::kD4rl);
  const std::vector<std::string> names{(folder / "a").string(), (folder / "b").string()};
  const auto whole =
      join_episodes({read_trajectories(names[0]), read_trajectories(names[1])}, names);
  const auto some = join_episodes(
      {read_trajectories(names[0], holding(3, 5)), read_trajectories(names[1], holding(0, 2))},
      names);
  ASSERT_TRUE(some.held.has_value());
  EXPECT_EQ(some.held->begin, 3);
  EXPECT_EQ(some.held->end, 7);
  EXPECT_EQ(rows_of(own_part(some)), rows_of(slice_episodes(whole, {3, 7})));

  const std::vector<std::int64_t> chosen{0, 4, 5, 9};
  const auto selected = select_episodes(some, chosen);
  EXPECT_EQ(selected.held->begin, 1);
  EXPECT_EQ(selected.held->end, 3);
  EXPECT_EQ(rows_of(own_part(selected)),
            rows_of(slice_episodes(select_episodes(whole, chosen), {1, 3})));
  EXPECT_THROW(select_episodes(some, std::vector<std::int64_t>{4, 3}), InvalidArgument);
}

TEST(Held, EqualPartsCoverAllEpisodes) {
  const std::vector<std::int64_t> offsets{0, 10, 20, 100, 110, 200};
  EXPECT_THAT(equal_parts(offsets, 2), ElementsAre(0, 3, 5));
  EXPECT_THAT(equal_parts(offsets, 1), ElementsAre(0, 5));
  const auto many = equal_parts(offsets, 64);
  EXPECT_TRUE(std::ranges::is_sorted(many));
  EXPECT_EQ(many.front(), 0);
  EXPECT_EQ(many.back(), 5);
}

}  // namespace
}  // namespace kindred::testing
