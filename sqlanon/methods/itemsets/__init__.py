"""METHOD itemsets: items in lists get labels of their hierarchy until each set of m labels is in k lists."""
