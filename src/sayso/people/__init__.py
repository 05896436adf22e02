"""What people say of a run's answers: labels, how they were drawn, and the page to label on."""
