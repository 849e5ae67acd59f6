"""Fifty-two small programs; each ends in the state it began. What runs when is compared with what reference.py sees."""

import asyncio
import contextlib
import functools
import json
import operator
import threading

CASES = []


def case(function):
    CASES.append(function)
    return function


def leaf(value=0):
    return value


@case
def calls_in_order():
    leaf(1)
    leaf(leaf(2))


@case
def recursion():
    def down(n):
        return n if n == 0 else down(n - 1)

    down(30)


@case
def mutual_recursion():
    def even(n):
        return True if n == 0 else odd(n - 1)

    def odd(n):
        return False if n == 0 else even(n - 1)

    even(11)


@case
def deep_recursion():
    def down(n):
        if n:
            down(n - 1)

    down(400)


@case
def exception_through_many():
    def down(n):
        if n == 0:
            raise RecursionError
        down(n - 1)

    with contextlib.suppress(RecursionError):
        down(200)


@case
def exception_through_three():
    def a():
        b()

    def b():
        c()

    def c():
        raise ValueError

    try:
        a()
    except ValueError:
        leaf()


@case
def exception_that_is_caught_inside():
    def a():
        try:
            leaf() / 0
        except ZeroDivisionError:
            return leaf()

    a()


@case
def exception_in_finally():
    def a():
        try:
            raise KeyError
        finally:
            leaf()

    with contextlib.suppress(KeyError):
        a()


@case
def exception_that_is_raised_again():
    def a():
        try:
            b()
        except KeyError as error:
            raise ValueError from error

    def b():
        raise KeyError

    with contextlib.suppress(ValueError):
        a()


@case
def exception_through_c():
    def key(value):
        raise IndexError

    with contextlib.suppress(IndexError):
        sorted([1, 2], key=key)


@case
def exception_from_c():
    def a():
        return int("x")

    with contextlib.suppress(ValueError):
        a()


@case
def callback_from_c():
    sorted([3, 1, 2], key=leaf)
    list(map(leaf, range(3)))
    functools.reduce(lambda a, b: leaf(a + b), range(4))


@case
def comparison_from_c():
    class Item:
        def __init__(self, value):
            self.value = value

        def __lt__(self, other):
            return self.value < other.value

    sorted([Item(3), Item(1), Item(2)])


@case
def generator_to_its_end():
    def numbers():
        yield leaf(1)
        yield leaf(2)

    for number in numbers():
        leaf(number)


@case
def generator_that_is_left():
    def numbers():
        yield 1
        yield 2

    iterator = numbers()
    next(iterator)
    iterator.close()


@case
def generator_that_is_closed_with_finally():
    def numbers():
        try:
            yield 1
        finally:
            leaf()

    iterator = numbers()
    next(iterator)
    iterator.close()


@case
def generator_that_never_began():
    def numbers():
        yield 1

    iterator = numbers()
    iterator.close()


@case
def generator_that_is_sent_to():
    def echo():
        value = None
        while value != 3:
            value = yield leaf(value)

    iterator = echo()
    next(iterator)
    for number in range(3):
        iterator.send(number)
    with contextlib.suppress(StopIteration):
        iterator.send(3)


@case
def generator_that_is_thrown_into():
    def numbers():
        try:
            yield 1
        except ValueError:
            yield leaf(2)

    iterator = numbers()
    next(iterator)
    iterator.throw(ValueError())
    iterator.close()


@case
def generator_that_a_throw_ends():
    def numbers():
        yield 1

    iterator = numbers()
    next(iterator)
    with contextlib.suppress(ValueError):
        iterator.throw(ValueError())


@case
def generator_that_a_throw_begins():
    def numbers():
        yield 1

    with contextlib.suppress(ValueError):
        numbers().throw(ValueError())


@case
def generator_that_raises():
    def numbers():
        yield 1
        raise ValueError

    with contextlib.suppress(ValueError):
        list(numbers())


@case
def generator_with_a_value():
    def inner():
        yield 1
        return leaf(5)

    def outer():
        value = yield from inner()
        yield value

    list(outer())


@case
def generators_three_deep():
    def a():
        yield from b()

    def b():
        yield from c()

    def c():
        yield leaf(1)
        yield leaf(2)

    list(a())


@case
def generators_in_turn():
    def numbers(first):
        yield first
        yield first + 1

    for pair in zip(numbers(1), numbers(10)):
        leaf(pair)


@case
def generator_of_one_function_many_times():
    def numbers():
        yield 1
        yield 2

    all_of_them = [numbers() for _ in range(5)]
    for iterator in all_of_them:
        next(iterator)
    for iterator in all_of_them:
        next(iterator)
    for iterator in all_of_them:
        iterator.close()


@case
def generator_expression():
    sum(leaf(number) for number in range(3))


@case
def context_manager_of_a_generator():
    @contextlib.contextmanager
    def block():
        leaf()
        yield
        leaf()

    with block():
        leaf()


@case
def comprehension():
    [leaf(number) for number in range(3)]
    {leaf(number): 1 for number in range(2)}


@case
def coroutine():
    async def one():
        return leaf(1)

    async def two():
        return await one()

    asyncio.run(two())


@case
def coroutine_that_waits():
    async def one():
        await asyncio.sleep(0)
        leaf()
        await asyncio.sleep(0)

    asyncio.run(one())


@case
def tasks_in_turn():
    async def one(number):
        for _ in range(3):
            leaf(number)
            await asyncio.sleep(0)

    async def both():
        await asyncio.gather(one(1), one(2), one(3))

    asyncio.run(both())


@case
def task_that_is_cancelled():
    async def one():
        try:
            await asyncio.sleep(100)
        finally:
            leaf()

    async def both():
        task = asyncio.ensure_future(one())
        await asyncio.sleep(0)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    asyncio.run(both())


@case
def asynchronous_generator():
    async def numbers():
        yield leaf(1)
        await asyncio.sleep(0)
        yield leaf(2)

    async def read():
        async for number in numbers():
            leaf(number)

    asyncio.run(read())


@case
def asynchronous_context():
    class Block:
        async def __aenter__(self):
            leaf()

        async def __aexit__(self, *_):
            leaf()

    async def inside():
        async with Block():
            leaf()

    asyncio.run(inside())


@case
def awaitable_of_a_generator():
    class Wait:
        def __await__(self):
            yield
            return leaf(3)

    async def wait():
        return await Wait()

    running = wait()
    running.send(None)
    with contextlib.suppress(StopIteration):
        running.send(None)


@case
def decorator():
    def twice(function):
        @functools.wraps(function)
        def inside(*arguments):
            function(*arguments)
            return function(*arguments)

        return inside

    @twice
    def one(value):
        return leaf(value)

    one(1)


@case
def cached_function():
    @functools.lru_cache(maxsize=None)
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    fib(12)


@case
def partial_function():
    functools.partial(leaf, 1)()
    operator.methodcaller("one")(type("T", (), {"one": lambda self: leaf()})())


@case
def class_body():
    class One:
        value = leaf(1)

        class Two:
            value = leaf(2)

    One.Two()


@case
def methods_of_all_kinds():
    class One:
        def __new__(cls):
            return super().__new__(cls)

        def __init__(self):
            self.value = leaf()

        def plain(self):
            return self.value

        @classmethod
        def of_class(cls):
            return cls()

        @staticmethod
        def static():
            return leaf()

        @property
        def shown(self):
            return leaf(self.value)

        def __call__(self):
            return self.plain()

        def __getattr__(self, name):
            return leaf(name)

        def __len__(self):
            return leaf(3)

    one = One.of_class()
    one()
    one.static()
    one.shown
    one.missing
    len(one)


@case
def inheritance():
    class A:
        def f(self):
            return leaf()

    class B(A):
        def f(self):
            return super().f()

    B().f()


@case
def metaclass():
    class Meta(type):
        def __call__(cls, *arguments):
            leaf()
            return super().__call__(*arguments)

    class One(metaclass=Meta):
        def __init__(self):
            leaf()

    One()


@case
def descriptor():
    class Get:
        def __get__(self, instance, owner):
            return leaf(1)

        def __set__(self, instance, value):
            leaf(value)

    class One:
        value = Get()

    one = One()
    one.value = one.value


@case
def iterator_of_a_class():
    class Count:
        def __init__(self):
            self.number = 0

        def __iter__(self):
            return self

        def __next__(self):
            self.number += 1
            if self.number > 3:
                raise StopIteration
            return self.number

    list(Count())


@case
def destructor():
    class One:
        def __del__(self):
            leaf()

    One()


@case
def text_that_is_run():
    exec(compile("def made(x):\n    return leaf(x)\nmade(1)\n", __file__, "exec"), {"leaf": leaf, "__name__": __name__})
    eval(compile("leaf(leaf(1))", __file__, "eval"), {"leaf": leaf, "__name__": __name__})


@case
def function_of_json():
    json.loads('{"a": [1, {"b": 2}]}', object_hook=leaf)


@case
def closures():
    def outer(a):
        def inner(b):
            return leaf(a + b)

        return inner

    outer(1)(2)
    (lambda value: leaf(value))(3)


@case
def threads_one_after_the_other():
    def work():
        for number in range(20):
            leaf(number)

    for number in range(3):
        thread = threading.Thread(target=work, name=f"after-{number}")
        thread.start()
        thread.join()


@case
def threads_at_once():
    together = threading.Barrier(2)

    def work():
        together.wait()
        for number in range(500):
            leaf(number)

    threads = [threading.Thread(target=work, name=f"at-once-{number}") for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@case
def generator_that_changes_its_thread():
    def numbers():
        yield leaf(1)
        yield leaf(2)

    iterator = numbers()
    next(iterator)
    thread = threading.Thread(target=lambda: list(iterator), name="other")
    thread.start()
    thread.join()


def main():
    for one in CASES:
        one()
    print(len(CASES), "cases")


if __name__ == "__main__":
    main()
