"""The journal: everything that was contributed, once more, in a file of its own.

An index that is damaged or deleted is made again from files. What agents contributed is
in none, so each change is also a line in this file, written before it is committed.
"""
