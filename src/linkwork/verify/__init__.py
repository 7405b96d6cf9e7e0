"""`lw.check`: a user's elements against finite differences."""
