// std::thread, std::mutex, std::condition_variable, std::async, std::call_once: three threads take a mutex 100 times each.
#include <chrono>
#include <condition_variable>
#include <future>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

static std::mutex lock;
static std::condition_variable cond;
static bool ready;
static int sum;

static void work(int number)
{
    for (int i = 0; i < 100; i++) {
        std::lock_guard<std::mutex> guard(lock);
        sum += number;
    }
}

static void waits()
{
    std::unique_lock<std::mutex> guard(lock);
    while (!ready)
        cond.wait(guard);
}

static int late()
{
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return 7;
}

static int fails()
{
    throw std::runtime_error("thrown");
}

int main()
{
    std::vector<std::thread> all;
    for (int i = 1; i <= 3; i++)
        all.emplace_back(work, i);
    std::thread waiting(waits);
    auto later = std::async(std::launch::async, late);
    auto failing = std::async(std::launch::async, fails);
    std::cout << later.get() << '\n';
    try {
        failing.get();
    } catch (const std::runtime_error &error) {
        std::cout << error.what() << '\n';
    }
    std::promise<int> never;
    auto nothing = never.get_future();
    for (int i = 0; i < 3; i++)
        nothing.wait_for(std::chrono::milliseconds(5));
    nothing.wait_until(std::chrono::steady_clock::now() + std::chrono::milliseconds(5));
    {
        std::lock_guard<std::mutex> guard(lock);
        ready = true;
    }
    cond.notify_all();
    waiting.join();
    for (auto &thread : all)
        thread.join();
    try {
        std::thread none;
        none.join();
    } catch (const std::system_error &error) {
        std::cout << (error.code() == std::errc::invalid_argument) << '\n';
    }
    std::cout << sum << '\n';
    return 0;
}
