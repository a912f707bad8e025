"""InferSent: a BiLSTM with max pooling over word vectors."""
