"""baraff96: "Linear-Time Dynamics using Lagrange Multipliers", sections 3 to 7, section 9's sizes and appendix A."""
