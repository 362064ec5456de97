"""Live evaluation: models build and draw whole games with a simulated Architect or Instructor, who corrects them."""
