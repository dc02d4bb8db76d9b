"""What scikit-optimize has in ``skopt.utils``."""

from believer.integrations.skopt import optimizer

OptimizeResult, expected_minimum, dump = optimizer.OptimizeResult, optimizer.expected_minimum, optimizer.dump
use_named_args, load = optimizer.use_named_args, optimizer.load
cook_initial_point_generator = optimizer.cook_initial_point_generator
