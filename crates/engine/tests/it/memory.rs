//! The recorded facts about the containers of steps, such as a container that
//! exceeded its memory.

use swe_ci_core::run::RunConfig;
use swe_ci_core::step::{Role, StepOutcome};
use swe_ci_engine::testing::TinyTask;

use crate::fixture::{Fixture, SPLIT};

const TEST_FILE: &str = "tests/test_tiny.py";
const TESTS: &str = "
import tiny
def test_one(): assert tiny.one() == 1
";
const NOTHING: &str = "def one(): return 0\n";
const HOG: &str = "hog = bytearray(1 << 30)\ndef one(): return 1\n";
const ONE: &str = "def one(): return 1\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_exceeds_its_memory_says_so() {
    let fixture = Fixture::new().await;
    let version = |code: &'static str| [("tiny.py", code), (TEST_FILE, TESTS)];
    let versions = [NOTHING, HOG, ONE].map(version);
    let versions: Vec<&[(&str, &str)]> = versions.iter().map(<[_; 2]>::as_slice).collect();
    let task = TinyTask {
        name: "hungry",
        versions: &versions,
    };
    fixture.import(&[task]).await.unwrap();
    let mut config = RunConfig::human(SPLIT);
    config.limits.memory_mb = 192;
    config.limits.test_seconds = 120;
    let run = fixture.run(config).await;
    let evolution = &run.evolution_list[0];
    let engine = &fixture.engine;
    let steps = engine.steps(&evolution.evolution_id).await.unwrap();
    let tested = |iteration: u32| {
        let mut steps = steps.iter();
        let step = steps.find(|s| (s.iteration, s.role) == (iteration, Role::Test));
        step.unwrap()
    };

    let hungry = tested(1);
    assert_eq!(hungry.outcome, StepOutcome::Collapsed);
    let container = hungry.container.as_ref().unwrap();
    assert!(container.out_of_memory, "{container:?}");
    assert_eq!(container.exit_code, Some(137));
    let limits = container.limits;
    assert_eq!((limits.memory_mb, limits.seconds), (192, 120));
    assert!(container.seconds > 0.0);

    let modest = tested(2);
    let container = modest.container.as_ref().unwrap();
    assert!(!container.out_of_memory, "{container:?}");
    assert_eq!(container.exit_code, Some(0));
    let task = engine.task(&evolution.task_id).await.unwrap();
    assert_eq!(container.image, task.image_digest);

    // The agents' containers are recorded as well.
    let agents = steps.iter().filter(|step| step.role != Role::Test);
    for step in agents.filter(|step| step.outcome == StepOutcome::Done) {
        let container = step.container.as_ref().unwrap();
        assert_eq!(container.exit_code, Some(0), "{step:?}");
        assert_eq!(container.limits.seconds, 3_600);
    }
}
