// Threads of TBB: three workers and main divide 400 calls, and meet before the first ends. Each call takes one mutex once; a thread of the program's own
// takes it three times more.
#include <chrono>
#include <condition_variable>
#include <iostream>
#include <mutex>
#include <set>
#include <thread>

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

static const int THREADS = 4, CALLS = 400;

static std::mutex lock;
static std::mutex meeting_lock;
static std::condition_variable meeting;
static std::set<std::thread::id> all;
static int sum;

// Waits until so many threads are here; for a minute at most, so that what goes wrong ends.
static void meet()
{
    std::unique_lock<std::mutex> guard(meeting_lock);
    if (!all.insert(std::this_thread::get_id()).second)
        return;
    meeting.notify_all();
    meeting.wait_for(guard, std::chrono::minutes(1), [] { return all.size() == THREADS; });
}

static void call(int number)
{
    meet();
    std::lock_guard<std::mutex> guard(lock);
    sum += number;
}

int main()
{
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, THREADS);
    tbb::task_arena arena(THREADS);
    arena.execute([] {
        tbb::parallel_for(
            tbb::blocked_range<int>(0, CALLS, 1),
            [](const tbb::blocked_range<int> &range) {
                for (int i = range.begin(); i < range.end(); i++)
                    call(i);
            },
            tbb::simple_partitioner());
    });
    std::thread own([] {
        for (int i = 0; i < 3; i++) {
            std::lock_guard<std::mutex> guard(lock);
            sum += 1000;
        }
    });
    own.join();
    std::cout << all.size() << ' ' << sum << '\n';
    return 0;
}
