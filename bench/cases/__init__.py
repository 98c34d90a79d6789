"""The cases of the bench suites, as data: shapes, seeds, tolerances and goals. No code here.

Goals bound one derived figure, by a table where the bound depends on the graph or the device. They
are printed beside the figures and never asserted.
"""
