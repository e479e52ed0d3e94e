"""What pytest does before the tests."""

import signal

# A shell's background job begins with SIGINT ignored, and so would the programs that tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)
