// A translation unit of the program that look-ups are measured on: containers, algorithms and closures over types of its
// own. Namespace u0000 stands for the unit's number: copies of the object file get other digits in its place, of the same
// length, so that one compilation makes many units whose names, types and functions differ as those of a real program do.
#include <algorithm>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace u0000 {
volatile unsigned sink;

template <int N> struct Key {
  unsigned id;
  std::string text;
  bool operator<(const Key &o) const { return id != o.id ? id < o.id : text < o.text; }
  bool operator==(const Key &o) const { return id == o.id && text == o.text; }
};

template <int N> struct Hash {
  size_t operator()(const Key<N> &k) const { return k.id * 31 + std::hash<std::string>()(k.text); }
};

template <int N> struct Store {
  std::map<Key<N>, std::vector<Key<N>>> ordered;
  std::unordered_map<Key<N>, std::shared_ptr<Key<N>>, Hash<N>> hashed;
  std::set<Key<N>> distinct;
  std::deque<Key<N>> queue;
  std::list<std::function<void(Key<N> &)>> actions;

  void add(unsigned i) {
    Key<N> key{i * N, std::to_string(i)};
    ordered[key].push_back(key);
    hashed.emplace(key, std::make_shared<Key<N>>(key));
    distinct.insert(key);
    queue.push_back(key);
    if (i % 3 == 0)
      actions.emplace_back([i](Key<N> &k) {
        k.id += i;
        k.text.append(std::to_string(N));
      });
  }

  unsigned run() {
    std::vector<Key<N>> all(queue.begin(), queue.end());
    std::sort(all.begin(), all.end());
    std::stable_sort(all.begin(), all.end(), [](const Key<N> &a, const Key<N> &b) { return b < a; });
    all.erase(std::unique(all.begin(), all.end()), all.end());
    for (auto &action : actions) std::for_each(all.begin(), all.end(), std::ref(action));
    auto found = std::find_if(all.begin(), all.end(), [](const Key<N> &k) { return k.id % 7 == 1; });
    if (found != all.end()) std::rotate(all.begin(), found, all.end());
    std::partial_sort(all.begin(), all.begin() + all.size() / 2, all.end());
    for (auto &[key, list] : ordered) sink = sink + list.size() + hashed.count(key);
    return std::accumulate(all.begin(), all.end(), 0u, [](unsigned s, const Key<N> &k) { return s + k.id; });
  }
};

template <int N> __attribute__((noinline)) unsigned work(unsigned n) {
  Store<N> store;
  for (unsigned i = 0; i < n; i++) store.add(i);
  return store.run();
}

unsigned run(unsigned n) {
  return work<0>(n) + work<1>(n) + work<2>(n) + work<3>(n) + work<4>(n) + work<5>(n) + work<6>(n) + work<7>(n);
}
} // namespace u0000
