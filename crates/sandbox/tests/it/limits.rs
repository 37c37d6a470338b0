//! The limits of a container: memory, processes, time, disk and output; and its end.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use crate::trial::{Trial, exec, processes_with, run, until_none_has};
use swe_ci_core::run::Limits;
use swe_ci_sandbox::{Exec, Exit};

#[tokio::test(flavor = "multi_thread")]
async fn memory_runs_out() {
    let trial = Trial::new().await;
    let limits = Limits {
        memory_mb: 192,
        ..Limits::default()
    };
    let container = trial.container(limits).await;
    let hog = "import time; hog = [bytearray(16 << 20) for n in range(48)]; time.sleep(20)";
    let (exit, _) = run(container.as_ref(), &["python3", "-c", hog]).await;
    assert_eq!(exit, Exit::Code(137));
    let seen = container.seen().await.unwrap();
    assert!(seen.out_of_memory, "{seen:?}");
    // The container goes on.
    let (exit, printed) = run(container.as_ref(), &["echo", "still here"]).await;
    assert_eq!((exit, &*printed), (Exit::Code(0), "still here\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_run_out() {
    let trial = Trial::new().await;
    let limits = Limits {
        pids: 60,
        ..Limits::default()
    };
    let container = trial.container(limits).await;
    let bomb = "import os, time\nfor n in range(500):\n    try: pid = os.fork()\n    except OSError: break\n    \
        if pid == 0: time.sleep(271828); os._exit(0)\nprint(n, flush=True); time.sleep(2)";
    let (exit, printed) = run(container.as_ref(), &["python3", "-c", bomb]).await;
    // Either no more begin, or all are ended.
    let begun: usize = printed.trim().parse().unwrap_or(0);
    assert!(begun < 60 || exit == Exit::Code(137), "{exit:?} {printed}");
    assert!(processes_with("271828") < 62);
    drop(container);
    until_none_has("271828").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn time_runs_out_and_nothing_is_left() {
    let trial = Trial::new().await;
    let container = trial.container(Limits::default()).await;
    let long = Exec {
        time_limit: Duration::from_secs(1),
        ..exec(&["sh", "-c", "setsid sleep 161803 & sleep 161803"])
    };
    let began = Instant::now();
    let exit = container.exec(&long, &mut |_| {}).await.unwrap();
    assert_eq!(exit, Exit::TimedOut);
    assert!(began.elapsed() < Duration::from_secs(20));
    until_none_has("161803").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_container_takes_its_processes_along() {
    let trial = Trial::new().await;
    let container = trial.container(Limits::default()).await;
    let script = "(setsid sleep 141421 &) ; (trap '' HUP TERM INT; sleep 141421 &) ; echo started";
    let (exit, printed) = run(container.as_ref(), &["sh", "-c", script]).await;
    assert_eq!((exit, &*printed), (Exit::Code(0), "started\n"));
    assert!(processes_with("141421") > 0);
    drop(container);
    until_none_has("141421").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_disk_fills() {
    let trial = Trial::new().await;
    let limits = Limits {
        disk_mb: 32,
        ..Limits::default()
    };
    let container = trial.container(limits).await;
    let script = "mkdir /tmp/hidden; for n in 1 2 3; do head -c 20M /dev/zero > /tmp/hidden/$n; done; chmod 0 /tmp/hidden; sleep 50";
    let (exit, printed) = run(container.as_ref(), &["sh", "-c", script]).await;
    assert_eq!(exit, Exit::DiskSpent, "{printed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_output_passes_by() {
    let trial = Trial::new().await;
    let container = trial.container(Limits::default()).await;
    let mut bytes = 0;
    let flood = exec(&[
        "sh",
        "-c",
        "head -c 30M /dev/zero; head -c 1M /dev/zero >&2; exit 3",
    ]);
    let command = container.start(&flood).await.unwrap();
    let mut count = |piece| {
        let (swe_ci_sandbox::Output::Stdout(piece) | swe_ci_sandbox::Output::Stderr(piece)) = piece;
        bytes += piece.len();
        ControlFlow::Continue(())
    };
    let exit = container.wait(command, &flood, &mut count).await.unwrap();
    assert_eq!((exit, bytes), (Exit::Code(3), 31 << 20));
    // Nobody has to hear all of it.
    let endless = Exec {
        time_limit: Duration::from_secs(3),
        ..exec(&["sh", "-c", "exec yes"])
    };
    let command = container.start(&endless).await.unwrap();
    let exit = container
        .wait(command, &endless, &mut |_| ControlFlow::Break(()))
        .await;
    assert!(!matches!(exit, Ok(Exit::Code(0))), "{exit:?}");
}
