//! The programs that are compiled: a large one in C++, OpenMP in C and Fortran.

use std::fs;
use std::path::Path;

/// A header in a folder of its own, so that paths have parts to be joined.
const SHARED: &str = r#"
#pragma once
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace shared {
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class T, int Depth> struct Fold {
  static inline __attribute__((always_inline)) T run(const T *at, T start) {
    start = start * 3 + at[Depth % 7];
    return Fold<T, Depth - 1>::run(at, start);
  }
};
template <class T> struct Fold<T, 0> {
  static inline __attribute__((always_inline)) T run(const T *at, T start) { return start ^ at[0]; }
};

template <class... Parts> inline std::string joined(const Parts &...parts) {
  std::string out;
  (void)std::initializer_list<int>{(out += std::string(parts), 0)...};
  return out;
}

struct Shape {
  virtual ~Shape() = default;
  virtual long area(long by) const = 0;
};
template <int Kind> struct Square : Shape {
  long side = Kind;
  long area(long by) const override {
    if (by > 1000 * Kind)
      throw Error(joined("too large: ", std::to_string(by)));
    return side * by + Kind;
  }
};

template <class Key, class Value> class Table {
  std::map<Key, Value> entries;

public:
  Value &operator[](const Key &key) { return entries[key]; }
  template <class Visit> void each(Visit &&visit) const {
    for (const auto &entry : entries)
      visit(entry.first, entry.second);
  }
  long size() const { return static_cast<long>(entries.size()); }
};

inline long clamp(long x, long low, long high) {
  return x < low ? low : x > high ? high : x;
}
} // namespace shared
"#;

/// One translation unit; `@N@` is its number.
const UNIT: &str = r#"
#include "shared/shared.hpp"

extern volatile long sink;
namespace {
struct Point@N@ {
  long x, y;
  bool operator<(const Point@N@ &other) const { return x != other.x ? x < other.x : y < other.y; }
  Point@N@ operator+(const Point@N@ &other) const { return {x + other.x, y - other.y}; }
};

inline long mix(long a, long b) {
  a ^= b << 7;
  a += sink;
  return a ^ (a >> 3);
}

static __attribute__((noinline)) long partial(long x, long unused, const char *text) {
  long sum = unused * 0;
  for (const char *at = text; *at; at++)
    sum += mix(x, *at);
  return sum;
}

template <int Step> __attribute__((noinline)) long stepped(const std::vector<long> &values) {
  long sum = 0;
  for (std::size_t i = 0; i < values.size(); i += Step)
    sum += shared::Fold<long, Step + 3>::run(values.data(), mix(sum, values[i]));
  return sum;
}
} // namespace

namespace unit@N@ {
long points(int n) {
  std::vector<Point@N@> all;
  for (int i = 0; i < n; i++)
    all.push_back(Point@N@{mix(i, @N@), i} + Point@N@{1, 2});
  std::sort(all.begin(), all.end());
  auto far = std::count_if(all.begin(), all.end(), [n](const Point@N@ &p) { return p.x > n; });
  return far + std::accumulate(all.begin(), all.end(), 0L, [](long sum, const Point@N@ &p) { return sum + shared::clamp(p.x, -5, p.y); });
}

long words(const std::string &text) {
  shared::Table<std::string, long> counts;
  std::string word;
  for (char c : text) {
    if (c == ' ') {
      counts[word] += @N@;
      word.clear();
    } else {
      word += c;
    }
  }
  long longest = counts.size();
  counts.each([&](const std::string &key, long count) {
    longest = std::max<long>(longest, static_cast<long>(key.size()) * count);
    sink += partial(count, 7, key.c_str());
  });
  return longest;
}

long shapes(long by) {
  std::vector<std::unique_ptr<shared::Shape>> all;
  all.push_back(std::make_unique<shared::Square<@N@ + 1>>());
  all.push_back(std::make_unique<shared::Square<@N@ + 2>>());
  long sum = 0;
  try {
    for (const auto &shape : all)
      sum += shape->area(by);
  } catch (const shared::Error &error) {
    sum -= static_cast<long>(shared::joined(error.what(), " caught").size());
  } catch (...) {
    sum = partial(sum, 7, "other");
    throw;
  }
  return sum;
}

long calls(long n) {
  std::vector<std::function<long(long)>> steps;
  long captured = n * @N@;
  steps.emplace_back([captured](long x) { return mix(x, captured); });
  steps.emplace_back([&captured](long x) { return captured += shared::clamp(x, 0, 9); });
  auto generic = [](auto x, auto... rest) { return x + static_cast<long>(sizeof...(rest)); };
  std::vector<long> values(static_cast<std::size_t>(n) + 8);
  std::iota(values.begin(), values.end(), generic(n, 1, 'c'));
  for (auto &step : steps)
    n = step(n) + stepped<1>(values) + stepped<2>(values) + stepped<5>(values);
  std::stable_sort(values.rbegin(), values.rend());
  return n + values[3];
}

long run(int n) {
  return points(n) + words("the quick brown fox jumps over the lazy dog") + shapes(n) + calls(n);
}
} // namespace unit@N@
"#;

/// OpenMP in C: loops, tasks, sections, criticals, inlined calls, a clone, a switch.
const OPENMP_C: &str = include_str!("../programs/openmp.c");

/// Rust: generics, closures, traits, formatting, threads.
const RUST: &str = include_str!("../programs/collections.rs");

/// OpenMP in Fortran: a module, an internal procedure, tasks.
const OPENMP_F: &str = r#"
module grid
  implicit none
  integer, parameter :: n = 64
  type :: field
    real(8) :: values(n, n)
  contains
    procedure :: total
  end type
contains
  pure function weight(i, j) result(w)
    integer, intent(in) :: i, j
    real(8) :: w
    w = 1d0 / (i + j)
  end function
  function total(self) result(t)
    class(field), intent(in) :: self
    real(8) :: t
    integer :: i, j
    t = 0
    !$omp parallel do reduction(+:t) private(i)
    do j = 1, n
      do i = 1, n
        t = t + self%values(i, j) * weight(i, j)
      end do
    end do
  end function
  subroutine fill(a)
    type(field), intent(inout) :: a
    integer :: j
    !$omp parallel
    !$omp single
    do j = 1, n
      !$omp task firstprivate(j) shared(a)
      call column(j)
      !$omp end task
    end do
    !$omp end single
    !$omp end parallel
  contains
    subroutine column(j)
      integer, intent(in) :: j
      integer :: i
      do i = 1, n
        a%values(i, j) = weight(i, j)
      end do
    end subroutine
  end subroutine
end module
program p
  use grid
  implicit none
  type(field) :: a
  call fill(a)
  !$omp critical (out)
  print *, a%total(), maxval(a%values)
  !$omp end critical (out)
end program
"#;

/// Writes all sources below `folder`; the C++ program has `units` units. Gives their names.
pub(crate) fn write(folder: &Path, units: usize) -> Vec<String> {
    let put = |name: &str, text: &str| fs::write(folder.join(name), text).expect("a source");
    fs::create_dir_all(folder.join("shared")).expect("a folder");
    put("shared/shared.hpp", SHARED);
    put("openmp.c", OPENMP_C);
    put("openmp.f90", OPENMP_F);
    put("collections.rs", RUST);
    let mut main = String::from("volatile long sink;\n");
    let mut calls = String::new();
    let mut names = Vec::new();
    for number in 0..units {
        let name = format!("unit{number}.cc");
        put(&name, &UNIT.replace("@N@", &number.to_string()));
        main += &format!("namespace unit{number} {{ long run(int n); }}\n");
        calls += &format!(" + unit{number}::run(n)");
        names.push(name);
    }
    main += &format!("int main(int n, char **) {{\n  return static_cast<int>(0{calls});\n}}\n");
    put("main.cc", &main);
    names.push(String::from("main.cc"));
    names
}

/// Whether the line holds an OpenMP directive in one of our sources, told by the file's name.
pub(crate) fn is_directive(file: &str, line: u32) -> bool {
    let text = match file.rsplit('/').next() {
        Some("openmp.c") => OPENMP_C,
        Some("openmp.f90") => OPENMP_F,
        _ => return false,
    };
    let line = text
        .lines()
        .nth((line as usize).wrapping_sub(1))
        .unwrap_or_default();
    let line = line.trim_start();
    line.starts_with("#pragma omp ") || line.starts_with("!$omp ")
}
