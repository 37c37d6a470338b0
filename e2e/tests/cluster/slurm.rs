//! Workers as jobs of Slurm, by the script that `deploy/` has for it.
#![expect(
    clippy::print_stdout,
    reason = "what was measured is for those who run these tests by hand"
)]

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::cluster::{Cluster, containers_on, home, printed, program, root, script};
use crate::{load, rows};

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a cluster: make test-cluster"]
async fn a_node_of_slurm_loses_its_power() {
    const SAMPLES: u32 = 3;
    let cluster = Cluster::open().await;
    script(&["slurm"]);
    write_variables(&cluster);
    let run = load::submit(&cluster, "slurm", 4, SAMPLES);
    // Two of three nodes: a job that lost its own finds another.
    let job = submit(&cluster, &["--array=1-2"]);
    let mut lost = None;
    cluster
        .until("a job is in a step", || {
            lost = nodes_of(&job)
                .into_iter()
                .find(|node| containers_on(node) > 0);
            lost.is_some()
        })
        .await;
    let lost = lost.unwrap();
    script(&["power-off", &lost]);
    let began = Instant::now();
    cluster.until_over(&run).await;
    println!("the run was over {} s later", began.elapsed().as_secs());
    cluster
        .until("all jobs have ended", || nodes_of(&job).is_empty())
        .await;
    let jobs = slurm("scontrol", &["show", "--oneliner", "job", &job]);
    assert_eq!(jobs.matches("JobState=COMPLETED").count(), 2, "{jobs}");
    assert_eq!(jobs.matches("Restarts=1").count(), 1, "{jobs}");

    // The next job on the node removes what the lost one has left.
    script(&["power-on", &lost]);
    let node = format!("--nodelist={lost}");
    let next = submit(&cluster, &[&node]);
    cluster
        .until("the node's next job has ended", || {
            nodes_of(&next).is_empty()
        })
        .await;
    cluster.nothing_is_left().await;
    rows::as_undisturbed(&cluster, &run, 4, 4 * SAMPLES as usize).await;
}

/// The file of variables that the jobs read. Each node's own engine is theirs.
fn write_variables(cluster: &Cluster) {
    let mut text = String::from("SWE_CI_CODE_STYLE=no\nSWE_CI_AUDIT=no\nSWE_CI_SLOTS=1\n");
    for (name, value) in cluster.variables() {
        if name != "DOCKER_HOST" {
            writeln!(text, "{name}={value}").unwrap();
        }
    }
    let mut options = File::options();
    // It has secrets.
    let file = options.write(true).create(true).truncate(true).mode(0o600);
    let mut file = file.open(variables(cluster.folder())).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn variables(folder: &Path) -> PathBuf {
    folder.join("slurm.env")
}

/// Queues workers; the number of the job.
fn submit(cluster: &Cluster, options: &[&str]) -> String {
    let mut sbatch = command("sbatch");
    sbatch
        .args(["--parsable", "--cpus-per-task=2", "--output"])
        .arg(cluster.folder().join("slurm-%A_%a.log"))
        .args(options)
        .arg(root().join("deploy/slurm/worker.sbatch"))
        .env("SWE_CI", program())
        .env("SWE_CI_ENV", variables(cluster.folder()));
    printed(&mut sbatch).trim().to_owned()
}

/// Where the jobs of an array are that have not ended; nothing for one that waits.
fn nodes_of(job: &str) -> Vec<String> {
    let format = ["--noheader", "--array", "--format=%N", "--jobs", job];
    slurm("squeue", &format)
        .lines()
        .map(|node| node.trim().to_owned())
        .collect()
}

fn slurm(program: &str, args: &[&str]) -> String {
    printed(command(program).args(args))
}

fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command
        .env("SLURM_CONF", home().join("slurm/slurm.conf"))
        .env_remove("DOCKER_HOST");
    command
}
