"""Tasks of asyncio whose steps and waits are known: see tests/tests/e2e/python/asynchronous.rs."""

import asyncio


async def sleeper():
    for _ in range(3):
        await asyncio.sleep(0.02)


async def waits(event):
    await event.wait()


async def fails():
    await asyncio.sleep(0)
    raise ValueError


async def never():
    await asyncio.get_running_loop().create_future()


async def main():
    event = asyncio.Event()
    slow = asyncio.create_task(sleeper(), name="slow")
    waiting = [asyncio.create_task(waits(event)) for _ in range(4)]
    await slow
    event.set()
    await asyncio.gather(*waiting)
    done = await asyncio.gather(asyncio.create_task(fails(), name="failing"), return_exceptions=True)
    cancelled = asyncio.create_task(never(), name="cancelled")
    await asyncio.sleep(0)
    cancelled.cancel()
    done += await asyncio.gather(cancelled, return_exceptions=True)
    print([type(one).__name__ for one in done])


asyncio.run(main())
