"""A Qwen3 model of two thin layers with random weights, and a tokenizer of the real one's format, in a folder."""

from pathlib import Path

from thinkback.models.rerankers.qwen3 import INSTRUCTION, PREFIX, SUFFIX

SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
MARKS = ("<think>", "</think>")
# The pattern by which Qwen's tokenizers split words before merging bytes.
SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def write_tokenizer(folder: Path, size: int = 700) -> None:
    """Byte-level pair encoding with Qwen's normaliser, splitting and special tokens, learnt from a few sentences."""
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    split = pre_tokenizers.Split(Regex(SPLIT), "isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator([PREFIX, SUFFIX, INSTRUCTION] * 3 + ["yes", "no"] * 9, trainer)
    tokenizer.add_special_tokens([AddedToken(token, normalized=False, special=True) for token in SPECIAL])
    tokenizer.add_tokens([AddedToken(token, normalized=False) for token in MARKS])
    tokenizer.save(str(folder / "tokenizer.json"))


def write_model(folder: Path, seed: int = 3) -> None:
    """Weights large enough that scores are spread between 0 and 1."""
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(seed)
    config = Qwen3Config(
        vocab_size=1024,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        max_position_embeddings=2048,
        tie_word_embeddings=True,
        initializer_range=0.5,
    )
    Qwen3ForCausalLM(config).save_pretrained(folder)
