// Tests of the schedule on the GPU: the arrays of the CPU, each time.
#include "tests/sampling/graph/device_arrays.cuh"
#include "tests/sampling/graph/schedule_cases.h"

namespace sage::graph_tests {
namespace {

using ScheduleCuda = GraphCuda;

Schedule schedule_cuda(const Ids& starts, int64_t num_edges) {
  const SideStream stream;
  const int64_t num_rows = size(starts) - 1;
  const DeviceIndex indptr(starts, 8), tasks(2 * schedule_num_tasks(num_rows, num_edges), 8),
      splits(2 * schedule_num_splits(num_rows, num_edges), 8);
  const DeviceBytes workspace(csr_schedule_workspace(num_rows, num_edges));
  csr_schedule_cuda(indptr.int64s(), num_rows, num_edges, tasks.int64s(), splits.int64s(),
                    workspace.data(), stream);
  stream.wait();
  return {tasks.values(), splits.values()};
}

Schedule schedule_cpu(const Ids& indptr, int64_t num_edges) {
  const int64_t num_rows = size(indptr) - 1;
  Schedule s{Ids(at(2 * schedule_num_tasks(num_rows, num_edges))),
             Ids(at(2 * schedule_num_splits(num_rows, num_edges)))};
  csr_schedule_cpu(indptr.data(), num_rows, num_edges, s.tasks.data(), s.splits.data());
  return s;
}

void expect_same(const Ids& indptr, int64_t num_edges) {
  const Schedule expected = schedule_cpu(indptr, num_edges);
  for (int round = 0; round < 2; ++round) {
    const Schedule got = schedule_cuda(indptr, num_edges);
    EXPECT_EQ(got.tasks, expected.tasks);
    EXPECT_EQ(got.splits, expected.splits);
  }
}

TEST_F(ScheduleCuda, MatchesTheCpu) {
  for (const ScheduleCase& c : schedule_cases()) {
    SCOPED_TRACE(c.name);
    expect_same(c.indptr(), c.num_edges());
  }
}

TEST_F(ScheduleCuda, LargeGraph) {
  Ids indptr{0};
  for (int64_t row = 0; row < 300000; ++row) {
    indptr.push_back(indptr.back() + row * 7919 % 23 + (row % 40009 == 0 ? 500000 : 0));
  }
  expect_same(indptr, indptr.back() + 100);
}

TEST_F(ScheduleCuda, SurvivesAnIndptrOfAnyContent) {
  const int64_t far = int64_t{1} << 60;
  for (const Ids& indptr : {Ids{0, 900, 2, 900}, Ids{far, -far, far, 900}, Ids{-1, far, 0, far}}) {
    const Ids tasks = schedule_cuda(indptr, 900).tasks;
    for (size_t i = 0; i < tasks.size(); i += 2) {
      const Task task = ScheduleView::decode_task(tasks[i], tasks[i + 1]);
      EXPECT_LE(task.begin + task.count, 900);
    }
  }
}

}  // namespace
}  // namespace sage::graph_tests
