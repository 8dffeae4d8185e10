"""Trains ALS with implicit preferences (Spark MLlib) on feedback that furze has exported, and writes items' factors for
`furze model put`.

  furze export feedback --url http://127.0.0.1:8087 --format parquet -o feedback
  spark-submit train_als.py --feedback feedback --out factors
  furze model put factors --url http://127.0.0.1:8087 --name spark-als --wait

On a cluster the feedback lies where all executors reach it: a shared folder, S3 or HDFS.
"""

import argparse

from pyspark.ml.feature import StringIndexer
from pyspark.ml.recommendation import ALS
from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--feedback", required=True, help="folder of Parquet files")
    parser.add_argument("--out", required=True, help="folder for the factors")
    parser.add_argument("--types", default="like", help="positive types of feedback, with commas between them")
    parser.add_argument("--until", help="learn from feedback before this moment alone (RFC 3339)")
    parser.add_argument("--master", help="by default as spark-submit says")
    parser.add_argument("--factors", type=int, default=64)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--alpha", type=float, default=10, help="how much more a pair with feedback counts")
    parser.add_argument("--regularization", type=float, default=0.1, help="times the feedback of a user or an item")
    parser.add_argument("--partitions", type=int, default=200, help="parts of each stage; some times the cores")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def main():
    args = parse_args()
    builder = SparkSession.builder.appName("furze-als").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", args.partitions)
    spark = (builder.master(args.master) if args.master else builder).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    feedback = spark.read.parquet(args.feedback).where(F.col("FeedbackType").isin(args.types.split(",")))
    if args.until:
        feedback = feedback.where(F.col("Timestamp") < F.to_timestamp(F.lit(args.until)))
    pairs = feedback.select("UserId", "ItemId").distinct()
    # ALS takes whole numbers, which indexers give.
    users = StringIndexer(inputCol="UserId", outputCol="user", stringOrderType="alphabetAsc").fit(pairs)
    items = StringIndexer(inputCol="ItemId", outputCol="item", stringOrderType="alphabetAsc").fit(pairs)
    ratings = (
        items.transform(users.transform(pairs))
        .select(F.col("user").cast("int"), F.col("item").cast("int"), F.lit(1.0).alias("rating"))
        .cache()
    )
    als = ALS(
        userCol="user",
        itemCol="item",
        ratingCol="rating",
        implicitPrefs=True,
        rank=args.factors,
        maxIter=args.iterations,
        alpha=args.alpha,
        regParam=args.regularization,
        seed=args.seed,
        numUserBlocks=min(10, args.partitions),
        numItemBlocks=min(10, args.partitions),
        # A long chain of iterations is cut by checkpoints only where there is a folder for them.
        checkpointInterval=-1,
    )
    model = als.fit(ratings)
    ids = spark.createDataFrame([(at, label) for at, label in enumerate(items.labels)], "id int, ItemId string")
    factors = model.itemFactors.join(ids, "id").select("ItemId", F.col("features").alias("Vector"))
    factors.write.mode("overwrite").parquet(args.out)
    print(f"{ratings.count()} pairs, {len(users.labels)} users, {len(items.labels)} items, {args.factors} factors")
    spark.stop()


if __name__ == "__main__":
    main()
