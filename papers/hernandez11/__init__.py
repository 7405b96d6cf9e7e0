"""hernandez11: "Linear-Time Dynamics of Characters with Stiff Joints", its algorithm, appendix, figures and examples."""
