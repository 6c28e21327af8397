"""METHOD itemsets: items in lists get labels of their hierarchy until each set of m of them has k lists."""
