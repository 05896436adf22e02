"""The English that all offline readers share: words, sentences, numbers and dates, one lexicon."""
