"""What every element is: names, checks, parameters, expressions, kinds."""
