from hypothesis import settings

# A shared machine may pause for longer than the default deadline of one example.
settings.register_profile("shared-machine", deadline=None)
settings.load_profile("shared-machine")
