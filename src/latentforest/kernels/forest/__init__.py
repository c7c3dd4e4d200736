"""The forest engine: plans, message passing over pattern tables, EM and its pyramid."""
