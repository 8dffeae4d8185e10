"""Trains ALS of implicit (https://github.com/benfred/implicit) on feedback that furze has exported, and saves it for
`furze model put`.

  furze export feedback --url http://127.0.0.1:8087 --format parquet -o feedback
  pip install implicit pandas pyarrow
  python train.py --feedback feedback --out als
  furze model put als.npz --ids als-items.txt --url http://127.0.0.1:8087 --wait
"""

import argparse

import numpy
import pyarrow.parquet
import scipy.sparse
from implicit.als import AlternatingLeastSquares


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--feedback", required=True, help="folder of Parquet files")
    parser.add_argument("--out", required=True, help="beginning of the names of what is written")
    parser.add_argument("--types", default="like", help="positive types of feedback, with commas between them")
    parser.add_argument("--until", help="learn from feedback before this moment alone (RFC 3339)")
    parser.add_argument("--factors", type=int, default=64)
    parser.add_argument("--iterations", type=int, default=15)
    parser.add_argument("--alpha", type=float, default=10, help="how much more a pair with feedback counts")
    parser.add_argument("--regularization", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    table = pyarrow.parquet.read_table(args.feedback, columns=["FeedbackType", "UserId", "ItemId", "Timestamp"])
    feedback = table.to_pandas()
    feedback = feedback[feedback.FeedbackType.isin(args.types.split(","))]
    if args.until:
        moment = numpy.datetime64(args.until.rstrip("Z"), "ms")
        feedback = feedback[feedback.Timestamp.to_numpy("datetime64[ms]") < moment]
    pairs = feedback[["UserId", "ItemId"]].drop_duplicates()
    users, rows = numpy.unique(pairs.UserId.to_numpy(str), return_inverse=True)
    items, columns = numpy.unique(pairs.ItemId.to_numpy(str), return_inverse=True)
    matrix = scipy.sparse.csr_matrix((numpy.ones(len(pairs), numpy.float32), (rows, columns)))
    model = AlternatingLeastSquares(
        factors=args.factors,
        iterations=args.iterations,
        alpha=args.alpha,
        regularization=args.regularization,
        random_state=args.seed,
    )
    model.fit(matrix, show_progress=False)
    model.save(args.out + ".npz")
    with open(args.out + "-items.txt", "w", encoding="utf-8") as file:
        file.writelines(item + "\n" for item in items)
    print(f"{len(pairs)} pairs, {len(users)} users, {len(items)} items, {args.factors} factors")


if __name__ == "__main__":
    main()
