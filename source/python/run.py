"""Runs a program that declares resources. The engine starts it with the interpreter of the program's environment.

The exit status is 32 if the reason of a failure has been reported through the engine, and 34 if the program has come to its end. A process
that ends with 0 was ended in the middle, for example by os._exit.
"""

import argparse
import asyncio
import concurrent.futures
import inspect
import logging
import os
import runpy
import sys
import traceback

REPORTED = 32
NO_SDK = 33
FINISHED = 34


def arguments():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    for name in ("monitor", "engine", "project", "stack", "organization", "root_directory", "pwd"):
        parser.add_argument("--" + name)
    parser.add_argument("--parallel", type=int, default=1)
    parser.add_argument("--dry_run", action="store_true")
    parser.add_argument("program")
    parser.add_argument("rest", nargs=argparse.REMAINDER)
    return parser.parse_args()


def configure(pulumi, args):
    """Tells the SDK where the engine is. Older SDKs know fewer settings."""
    config = pulumi.runtime.get_config_env()
    if hasattr(pulumi.runtime, "set_all_config"):
        pulumi.runtime.set_all_config(config, pulumi.runtime.get_config_secret_keys_env())
    else:
        for key, value in config.items():
            pulumi.runtime.set_config(key, value)
    settings = {
        name: getattr(args, name)
        for name in ("monitor", "engine", "project", "stack", "parallel", "dry_run", "organization", "root_directory")
    }
    known = inspect.signature(pulumi.runtime.Settings.__init__).parameters
    pulumi.runtime.configure(pulumi.runtime.Settings(**{k: v for k, v in settings.items() if k in known}))


class Tracebacks:
    """The tracebacks of exceptions from the first frame in the program's files on.

    A future forgets the traceback of its exception when it is awaited for the second time. The traceback is therefore recorded where a task fails.
    """

    def __init__(self, program, root):
        folders = (root, program if os.path.isdir(program) else os.path.dirname(program))
        self.folders = [os.path.realpath(folder) + os.sep for folder in folders if folder]
        self.installed = [os.path.realpath(folder) + os.sep for folder in (sys.prefix, sys.base_prefix)]
        self.recorded = {}  # by the identity of the exception, which is there, too, so that it stays alive

    def is_own(self, file):
        if file.startswith("<"):
            return False
        file = os.path.realpath(file)
        if file == os.path.realpath(__file__):  # the folder of temporary files may be in the project
            return False
        if any(map(file.startswith, self.installed)) or "site-packages" in file.split(os.sep):
            return False
        return any(map(file.startswith, self.folders))

    def from_own(self, trace):
        while trace is not None and not self.is_own(trace.tb_frame.f_code.co_filename):
            trace = trace.tb_next
        return trace

    def record(self, error):
        own = self.from_own(error.__traceback__)
        if own is not None:
            self.recorded.setdefault(id(error), (error, own))

    def task(self, loop, coroutine, **options):
        async def recorded():
            try:
                return await coroutine
            except Exception as error:
                self.record(error)
                raise

        return asyncio.Task(recorded() if asyncio.iscoroutine(coroutine) else coroutine, loop=loop, **options)

    def text(self, error):
        """The text of an exception and of those that caused it."""
        seen, left = set(), [error]
        while left:
            one = left.pop()
            if one is None or id(one) in seen:
                continue
            seen.add(id(one))
            left += [one.__cause__, one.__context__]
            self.record(one)
            if id(one) in self.recorded:
                one.__traceback__ = self.recorded[id(one)][1]
            elif isinstance(one, SyntaxError):  # its text has the place
                one.__traceback__ = None
        return "".join(traceback.format_exception(type(error), error, error.__traceback__))


def main():
    args = arguments()
    os.chdir(args.pwd)
    program = os.path.abspath(args.program)
    sys.path[0] = args.pwd
    try:
        import pulumi
        import pulumi.runtime
    except ModuleNotFoundError as missing:
        if missing.name != "pulumi":
            raise
        return NO_SDK
    configure(pulumi, args)
    sys.argv = [args.program] + args.rest

    tracebacks = Tracebacks(program, args.root_directory)
    loop = asyncio.new_event_loop()
    loop.set_task_factory(tracebacks.task)
    asyncio.set_event_loop(loop)
    # What awaits an output holds a thread in some places of the SDK.
    executor = concurrent.futures.ThreadPoolExecutor(max_workers=4 * max(1, args.parallel))
    loop.set_default_executor(executor)
    # A program that fails leaves awaitables behind that nobody awaits, about which asyncio would write a lot.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    try:
        loop.run_until_complete(pulumi.runtime.run_in_stack(lambda: runpy.run_path(program, run_name="__main__") and None))
        return FINISHED
    except SystemExit as end:  # what the program has declared until then is registered
        if end.code is None or end.code == 0:
            return FINISHED
        raise
    except pulumi.RunError as failure:
        pulumi.log.error(str(failure))
        return REPORTED
    except Exception as failure:
        pulumi.log.error("Program failed with an unhandled exception:\n" + tracebacks.text(failure))
        return REPORTED
    finally:
        executor.shutdown(wait=True)
        loop.close()
        sys.stdout.flush()
        sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
