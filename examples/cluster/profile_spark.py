#!/usr/bin/env python3
"""The profile of `instr summary` from the Parquet files of many processes, by Spark.

    spark-submit profile_spark.py FOLDER.tables...
"""

import json
import sys

from pyspark.sql import SparkSession, functions as f


def profile(spark, folders):
    def table(name):
        one = lambda folder: spark.read.option("basePath", f"{folder}/{name}").parquet(f"{folder}/{name}").withColumn("data_set", f.lit(folder))
        first, *rest = map(one, folders)
        for other in rest:
            first = first.unionByName(other)
        return first

    def grouped(frame, key):
        found = frame.groupBy(key).agg(f.count("*").alias("count"), f.sum("duration_ns").alias("total_ns")).collect()
        return {row[key]: [row["count"], row["total_ns"]] for row in found}

    waits = table("sync").where("what = 'wait' AND ended = 'event' AND kind <> 'closing barrier'")
    tasks = table("tasks").where("begin_ns IS NOT NULL AND kind <> 'taskwait'")
    return {
        "processes": table("processes").count(),
        "states": {state: total for state, (_, total) in grouped(table("states"), "state").items()},
        "regions": grouped(table("regions"), "name"),
        "tasks": grouped(tasks, "name"),
        "waits": grouped(waits, "kind"),
    }


def main(folders):
    spark = SparkSession.builder.appName("instr profile").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    print(json.dumps(profile(spark, folders), indent=2, sort_keys=True))
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
