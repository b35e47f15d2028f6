"""The stress report of a critic network: will it survive bootstrapping?

networks    the network under test, and its refusals
plan        the jobs, the same for every network, and the references
score       from rows to numbers
grading     grades by the references, and the summary
run         :func:`stress`
"""
