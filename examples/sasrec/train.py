"""Trains a small SASRec (Kang and McAuley 2018, "Self-attentive sequential recommendation") on feedback that furze has
exported, and writes the vectors of items and of users for `furze model put`.

  furze export feedback --url http://127.0.0.1:8087 --format parquet -o feedback
  pip install torch pandas pyarrow
  python train.py --feedback feedback --out sasrec
  furze model put sasrec-items.parquet --users sasrec-users.parquet --fold mean --name sasrec --url http://127.0.0.1:8087 --wait

The vector of a user is what the network makes of the user's sequence, and is taken as it is; those who are not in the file are
the mean of what they like.
"""

import argparse

import numpy
import pyarrow
import pyarrow.parquet
import torch
from torch import nn


class SasRec(nn.Module):
    """One block of self-attention over the latest items; number 0 is none."""

    def __init__(self, items, width, length):
        super().__init__()
        self.items = nn.Embedding(items + 1, width, padding_idx=0)
        self.places = nn.Embedding(length, width)
        block = nn.TransformerEncoderLayer(width, 2, 2 * width, dropout=0.2, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(block, 1, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(width)
        nn.init.normal_(self.items.weight, std=0.05)
        nn.init.normal_(self.places.weight, std=0.05)

    def forward(self, sequences):
        length = sequences.shape[1]
        mask = torch.triu(torch.ones(length, length, dtype=torch.bool), 1)
        inputs = self.items(sequences) + self.places(torch.arange(length))
        return self.norm(self.blocks(inputs, mask=mask))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--feedback", required=True, help="folder of Parquet files")
    parser.add_argument("--out", required=True, help="beginning of the names of what is written")
    parser.add_argument("--types", default="like", help="positive types of feedback, with commas between them")
    parser.add_argument("--until", help="learn from feedback before this moment alone (RFC 3339)")
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--length", type=int, default=20, help="latest items of a user")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    table = pyarrow.parquet.read_table(args.feedback, columns=["FeedbackType", "UserId", "ItemId", "Timestamp"])
    feedback = table.to_pandas()
    feedback = feedback[feedback.FeedbackType.isin(args.types.split(","))]
    if args.until:
        moment = numpy.datetime64(args.until.rstrip("Z"), "ms")
        feedback = feedback[feedback.Timestamp.to_numpy("datetime64[ms]") < moment]
    feedback = feedback.sort_values(["UserId", "Timestamp", "ItemId"])
    items, numbers = numpy.unique(feedback.ItemId.to_numpy(str), return_inverse=True)
    feedback["Item"] = numbers + 1
    # At the left there may be nothing; what comes next is the goal at each place.
    users, inputs, goals = [], [], []
    for user, sequence in feedback.groupby("UserId").Item:
        latest = [0] * (args.length + 1) + sequence.to_list()
        users.append(user)
        inputs.append(latest[-args.length - 1 : -1])
        goals.append(latest[-args.length :])
    inputs, goals = torch.tensor(inputs), torch.tensor(goals)
    model = SasRec(len(items), args.width, args.length)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for _ in range(args.epochs):
        model.train()
        for batch in torch.randperm(len(inputs)).split(256):
            wanted = goals[batch] > 0
            states = model(inputs[batch])[wanted]
            scores = states @ model.items.weight.T
            scores[:, 0] = -torch.inf
            loss = nn.functional.cross_entropy(scores, goals[batch][wanted])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    model.eval()
    with torch.no_grad():
        vectors = torch.cat([model(part)[:, -1] for part in goals.split(1024)]).numpy()
    write(args.out + "-items.parquet", "ItemId", items, model.items.weight.detach().numpy()[1:])
    write(args.out + "-users.parquet", "UserId", users, vectors)
    print(f"{len(feedback)} likes, {len(users)} users, {len(items)} items, loss {loss.item():.3f}")


def write(path, name, ids, vectors):
    columns = {name: [str(one) for one in ids], "Vector": list(vectors.astype("float32"))}
    pyarrow.parquet.write_table(pyarrow.table(columns), path)


if __name__ == "__main__":
    main()
