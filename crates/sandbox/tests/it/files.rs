//! Commands and files of a container.

use crate::trial::{Trial, exec, run};
use swe_ci_base::code::CodeTree;
use swe_ci_core::run::Limits;
use swe_ci_sandbox::{Exec, Exit, Lines, SandboxError, WantedFiles};

#[tokio::test(flavor = "multi_thread")]
async fn files_go_in_and_come_out() {
    let trial = Trial::new().await;
    let container = trial.container(Limits::default()).await;
    let mut code = CodeTree::default();
    code.insert_file("pkg/a.py", "a = 1\n");
    let script = "pwd; cat pkg/a.py; mkdir new; echo b >new/b.py; chmod 0 new/b.py; ln -s new/b.py link; exit 3";
    let command = Exec {
        working_dir: "/tmp/app/code".into(),
        ..exec(&["sh", "-c", script])
    };
    let mut printed = Vec::new();
    let mut on_line = |line: &str| printed.push(line.to_owned());
    let parts = [("/tmp/app/code", &code)];
    let exit = container.exec_with(&parts, &command, &mut on_line).await;
    assert_eq!(exit.unwrap(), Exit::Code(3));
    assert_eq!(printed, ["/tmp/app/code", "a = 1"]);
    let all = container
        .get(&WantedFiles::folder("/tmp/app/code", 1_000))
        .await;
    let all = all.unwrap().unwrap();
    assert_eq!(
        all.paths().collect::<Vec<_>>(),
        ["link", "new/b.py", "pkg/a.py"]
    );
    assert_eq!(all.file("new/b.py").unwrap(), b"b\n");
    let little = container
        .get(&WantedFiles::folder("/tmp/app/code", 10))
        .await;
    assert!(matches!(little, Err(SandboxError::TooBig { .. })));
    assert_eq!(container.read("/tmp/app/gone", 10).await.unwrap(), None);
    let (exit, _) = run(container.as_ref(), &["no-such-program"]).await;
    assert!(matches!(exit, Exit::Code(126 | 127)), "{exit:?}");
}

/// Code that puts links in the place of folders reaches its own container alone.
#[tokio::test(flavor = "multi_thread")]
async fn links_lead_nowhere_else() {
    let trial = Trial::new().await;
    let outside = trial.folder.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("key"), "hunter2").unwrap();
    let container = trial.container(Limits::default()).await;
    let path = outside.display();
    let script = format!(
        "mkdir -p /tmp/app; ln -s {path} /tmp/app/code; ln -s {path}/key /tmp/app/key; ln -s ../../../../../../..{path} /tmp/app/up"
    );
    let (exit, printed) = run(container.as_ref(), &["sh", "-c", &script]).await;
    assert_eq!(exit, Exit::Code(0), "{printed}");
    let mut code = CodeTree::default();
    code.insert_file("planted", "text");
    // Whether it is refused or lands inside is the engine's matter.
    let _ = container
        .put(&[("/tmp/app/code", &code), ("/tmp/app/up", &code)])
        .await;
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
    for path in ["/tmp/app/key", "/tmp/app/code/key", "/tmp/app/up/key"] {
        let read = container.read(path, 100).await;
        assert!(
            !matches!(&read, Ok(Some(text)) if text == b"hunter2"),
            "{path}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_reads_what_is_written() {
    let trial = Trial::new().await;
    let container = trial.container(Limits::default()).await;
    for _ in 0..2 {
        let talk = Exec {
            reads_input: true,
            ..exec(&["sh", "-c", "read line; echo \"$GREETING $line\"; exit 4"])
        };
        let mut command = container.start(&talk).await.unwrap();
        command.write(b"you\nand more\n").await.unwrap();
        let mut printed = String::new();
        let mut on_line = |line: &str| printed.push_str(line);
        let mut lines = Lines::new(&mut on_line);
        let mut on_output = |piece| {
            let (swe_ci_sandbox::Output::Stdout(piece) | swe_ci_sandbox::Output::Stderr(piece)) =
                piece;
            lines.push(&piece);
            std::ops::ControlFlow::Continue(())
        };
        let exit = container
            .wait(command, &talk, &mut on_output)
            .await
            .unwrap();
        lines.finish();
        assert_eq!((exit, &*printed), (Exit::Code(4), "hello you"));
    }
}
