//! Workers on several machines, and what happens to machines: the real binary on
//! the nodes, database, store and registry of `scripts/cluster.sh`.
//!
//! `make test-cluster` runs these tests. Each leaves the cluster as it found it.

mod cases;
mod cluster;
mod load;
mod proxy;
mod rows;
mod slurm;
mod worker;
