"""Templates and what they are made of. Labels stand here since an assessment's unit may name a label group."""
