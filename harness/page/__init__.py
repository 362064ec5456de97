"""The local web page for both worlds: the drawing application, the game, the gallery, and a Builder to talk to."""
