"""From trees to weights: samples and their files, the replay window, the loss and the training of one iteration."""
