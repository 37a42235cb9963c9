"""When does a capability appear in training, and which attention heads bring it?"""
