"""METHOD dp_histogram and METHOD dp_synthetic: counts with the noise of differential privacy, and rows sampled from
these counts.
"""
