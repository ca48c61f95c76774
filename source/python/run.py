"""Runs a program that declares resources. The engine starts it with the interpreter of the program's environment.

The exit status is 32 if the reason of a failure has been reported through the engine.
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


def own_frames(program):
    """The text of the exception at hand, from the first frame in the program on."""
    kind, value, trace = sys.exc_info()
    main = os.path.join(program, "__main__.py") if os.path.isdir(program) else program
    frame = trace
    while frame is not None and os.path.abspath(frame.tb_frame.f_code.co_filename) != main:
        frame = frame.tb_next
    return "".join(traceback.format_exception(kind, value, frame or trace))


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

    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    # What awaits an output holds a thread in some places of the SDK.
    executor = concurrent.futures.ThreadPoolExecutor(max_workers=4 * max(1, args.parallel))
    loop.set_default_executor(executor)
    # A program that fails leaves awaitables behind that nobody awaits, about which asyncio would write a lot.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    try:
        loop.run_until_complete(pulumi.runtime.run_in_stack(lambda: runpy.run_path(program, run_name="__main__") and None))
        return 0
    except pulumi.RunError as failure:
        pulumi.log.error(str(failure))
        return REPORTED
    except Exception:
        pulumi.log.error("Program failed with an unhandled exception:\n" + own_frames(program))
        return REPORTED
    finally:
        executor.shutdown(wait=True)
        loop.close()
        sys.stdout.flush()
        sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
