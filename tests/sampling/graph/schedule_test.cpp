// Tests of the schedule: its sizes, and every row in it once.
#include <gtest/gtest.h>

#include "tests/sampling/graph/schedule_cases.h"

namespace sage::graph_tests {
namespace {

Schedule build(const Ids& indptr, int64_t num_edges) {
  const int64_t num_rows = size(indptr) - 1;
  Schedule s{Ids(at(2 * schedule_num_tasks(num_rows, num_edges)), -77),
             Ids(at(2 * schedule_num_splits(num_rows, num_edges)), -77)};
  csr_schedule_cpu(indptr.data(), num_rows, num_edges, s.tasks.data(), s.splits.data());
  return s;
}

TEST(Schedule, ChunkFollowsTheGraphsSize) {
  EXPECT_EQ(schedule_chunk(169343, 2315598), 128);
  EXPECT_EQ(schedule_chunk(2449029, 123718280), 512);
  EXPECT_EQ(schedule_chunk(232965, 114615892), 2048);
  EXPECT_EQ(schedule_chunk(0, 0), 128);
  EXPECT_EQ(schedule_chunk(1, int64_t{1} << 39), 2048);
}

TEST(Schedule, MatchesItsDefinition) {
  for (const ScheduleCase& c : schedule_cases()) {
    SCOPED_TRACE(c.name);
    const Schedule expected = expected_schedule(c), got = build(c.indptr(), c.num_edges());
    EXPECT_EQ(got.tasks, expected.tasks);
    EXPECT_EQ(got.splits, expected.splits);
  }
}

TEST(Schedule, CoversEveryEdgeOnceAndKeepsItsBounds) {
  for (const ScheduleCase& c : schedule_cases()) {
    SCOPED_TRACE(c.name);
    const Schedule s = build(c.indptr(), c.num_edges());
    const ScheduleView view{s.tasks.data(), s.splits.data(), size(s.tasks) / 2, size(s.splits) / 2};
    Ids edges(at(c.num_edges()), 0), rows(c.degrees.size(), 0), slots(at(view.num_slots()), 0);
    for (int64_t i = 0; i < view.num_tasks; ++i) {
      const Task task = ScheduleView::decode_task(s.tasks[at(2 * i)], s.tasks[at(2 * i + 1)]);
      if (task.row < 0) continue;
      for (int64_t e = 0; e < task.count; ++e) ++edges[at(task.begin + e)];
      if (task.slot < 0) ++rows[at(task.row)];
      if (task.slot >= 0) ++slots.at(at(task.slot));
    }
    for (int64_t i = 0; i < view.num_splits; ++i) {
      const Split split = ScheduleView::decode_split(s.splits[at(2 * i)], s.splits[at(2 * i + 1)]);
      if (split.parts == 0) continue;
      ++rows[at(split.row)];
      for (int64_t k = 0; k < split.parts; ++k) EXPECT_EQ(slots.at(at(split.first_slot + k)), 1);
    }
    edges.resize(at(c.num_edges() - c.tail));
    EXPECT_EQ(rows, Ids(c.degrees.size(), 1));
    EXPECT_EQ(edges, Ids(edges.size(), 1));
  }
}

TEST(Schedule, SurvivesAnIndptrOfAnyContent) {
  const int64_t far = int64_t{1} << 60;
  for (const Ids& indptr : {Ids{0, 900, 2, 900}, Ids{far, -far, far, 900}, Ids{-1, far, 0, far}}) {
    const Schedule s = build(indptr, 900);
    EXPECT_EQ(size(s.tasks), 2 * schedule_num_tasks(3, 900));
    for (size_t i = 0; i < s.tasks.size(); i += 2) {
      const Task task = ScheduleView::decode_task(s.tasks[i], s.tasks[i + 1]);
      EXPECT_LE(task.begin + task.count, 900);
    }
  }
}

TEST(Schedule, RefusesWhatItsFieldsDoNotHold) {
  EXPECT_THROW(csr_schedule_cpu(nullptr, int64_t{1} << 31, 0, nullptr, nullptr), Error);
  EXPECT_THROW(csr_schedule_cpu(nullptr, 1, int64_t{1} << 40, nullptr, nullptr), Error);
}

}  // namespace
}  // namespace sage::graph_tests
