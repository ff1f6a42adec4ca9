"""What the server can do, measured on the machine at hand: each figure as a ratio to a floor of the same run.

The machines that this runs on are shared and noisy, so a figure counts work per CPU second of the server's process, a
floor does the least that the same work takes, and the two alternate.
"""
