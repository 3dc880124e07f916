#!/usr/bin/env python3
"""One rank of a small GPT trained by PyTorch's DistributedDataParallel, the same to the last bit in every run in which
NCCL adds in the same order.

    ddp_gpt.py PLAN.json EVENTS.jsonl     (plan: backend, device, steps, seed, layers, width, heads, sequence, batch,
                                           vocabulary, learning_rate, stop_at)

Everything is fp32 (no TF32) with deterministic kernels, attention is plain matrix products and a softmax, data and
weights come from fixed seeds. What is left is the order in which NCCL adds gradients: the conductor pins algorithm,
protocol, channels and threads (scenario_plan.py). Every step's loss, and a hash of all parameters at the end, go into
the events, exactly.
"""

from __future__ import annotations

import datetime
import hashlib
import math
import os
import sys
import time
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel

from rank_meeting import Events, Meeting, machine_facts, own_device, run_rank

_GROUP_TIMEOUT = datetime.timedelta(seconds=120)
_CHECK_TIME_EVERY = 10  # steps


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before_attention, self.before_mlp = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.projection = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        qkv = self.qkv(self.before_attention(x)).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = qkv.permute(2, 0, 3, 1, 4)
        scores = (query @ key.transpose(-2, -1)) / math.sqrt(width // self.heads) + mask
        mixed = (scores.softmax(dim=-1) @ value).transpose(1, 2).reshape(batch, length, width)
        x = x + self.projection(mixed)
        return x + self.mlp(self.before_mlp(x))


class Gpt(nn.Module):
    def __init__(self, plan: dict[str, Any]) -> None:
        super().__init__()
        width, length = plan["width"], plan["sequence"]
        self.tokens, self.places = nn.Embedding(plan["vocabulary"], width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, plan["heads"]) for _ in range(plan["layers"]))
        self.end, self.head = nn.LayerNorm(width), nn.Linear(width, plan["vocabulary"], bias=False)
        self.register_buffer("mask", torch.full((length, length), float("-inf")).triu(1))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.tokens(tokens) + self.places.weight
        for block in self.blocks:
            x = block(x, self.mask)
        return self.head(self.end(x))


def make_batch(plan: dict[str, Any], rank: int, step: int) -> torch.Tensor:
    """Sequences that can be learnt: each token follows from the previous one, except one in ten, which is random."""
    generator = torch.Generator().manual_seed((plan["seed"] * 1_000_003 + step) * 64 + rank)
    shape, vocabulary = (plan["batch"], plan["sequence"] + 1), plan["vocabulary"]
    noise = torch.randint(vocabulary, shape, generator=generator)
    random = torch.rand(shape, generator=generator) < 0.1
    tokens = noise.clone()
    for place in range(1, shape[1]):
        follows = (tokens[:, place - 1] * 5 + 17) % vocabulary
        tokens[:, place] = torch.where(random[:, place], noise[:, place], follows)
    return tokens


def cross_entropy(scores: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Uses a mask and sums, whose order is deterministic in every version of PyTorch."""
    match = targets.unsqueeze(-1) == torch.arange(scores.shape[-1], device=scores.device)
    return -(functional.log_softmax(scores, dim=-1) * match).sum(dim=-1).mean()


def _be_deterministic(seed: int) -> None:
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(True)
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = False


def _hash(model: nn.Module) -> str:
    digest = hashlib.sha256()
    for name, parameter in sorted(model.named_parameters()):
        digest.update(name.encode())
        digest.update(parameter.detach().cpu().numpy().tobytes())
    return digest.hexdigest()


def train(plan: dict[str, Any], events: Events) -> None:
    rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    device = own_device(torch, plan["device"], rank)
    events.record("imported", torch=torch.__version__)
    meeting = Meeting(dist, rank, ranks)
    if rank == 0:
        events.record("machine", **machine_facts(torch, device))
    _be_deterministic(plan["seed"])
    dist.init_process_group(plan["backend"], rank=rank, world_size=ranks, timeout=_GROUP_TIMEOUT,
                            store=dist.PrefixStore("group", meeting.store))
    model = DistributedDataParallel(Gpt(plan).to(device), device_ids=[device.index] if device.type == "cuda" else None,
                                    broadcast_buffers=False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=plan["learning_rate"])
    batches = [make_batch(plan, rank, step) for step in range(plan["steps"])]
    meeting.barrier()
    began, done = time.monotonic(), 0
    events.record("cell", config="ddp", op="train", parameters=sum(p.numel() for p in model.parameters()))
    for step, batch in enumerate(batches):
        if step % _CHECK_TIME_EVERY == 0 and meeting.decide(f"stop/{step}", time.monotonic() > plan["stop_at"]):
            break
        batch = batch.to(device)
        scores = model(batch[:, :-1])
        loss = cross_entropy(scores, batch[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        events.record("step", config="ddp", op="train", step=step, loss=loss.item().hex())
        done += 1
    events.record("trained", steps=done, parameters=_hash(model.module), seconds=time.monotonic() - began)
    meeting.barrier()
    dist.destroy_process_group()
    meeting.leave()
    events.record("done")


if __name__ == "__main__":
    sys.exit(run_rank(train))
