//! Tests of submission: validation, keys, networks and recordings.

use swe_ci_core::agent::{HarnessConfig, Protocol};
use swe_ci_core::usage::Prices;
use swe_ci_store::testing::{account, task};
use swe_ci_views::submission::RunForm;

use super::*;
use crate::Config;

/// An engine whose split `s` has three tasks, of which `c` cannot be run.
async fn engine(data: &std::path::Path) -> Engine {
    let engine = Engine::open(Config::new(data.to_owned())).await.unwrap();
    for (position, name) in (0..).zip(["a", "b", "c"]) {
        let mut task = task(name);
        if name == "c" {
            let reason = "no image".to_owned();
            task.state = TaskState::Unusable { reason };
        }
        engine.store.put_task("s", position, &task).await.unwrap();
    }
    engine
}

fn endpoint(url: &str, key: Option<&str>) -> Endpoint {
    Endpoint {
        protocol: Protocol::Chat,
        url: url.into(),
        model: "m-1".into(),
        key: key.map(str::to_owned),
        ..Endpoint::default()
    }
}

/// A run of the builtin agent.
fn asking(url: &str, key: Option<&str>) -> RunConfig {
    RunConfig {
        model: "m".into(),
        kind: Kind::Measured,
        harness: HarnessConfig::Builtin,
        endpoint: Some(endpoint(url, key)),
        ..RunConfig::human("s")
    }
}

const PUBLIC: &str = "https://api.example.org/v1";

/// The invalid fields; none when the run was queued.
async fn wrong(engine: &Engine, config: RunConfig) -> Vec<String> {
    match engine.submit(config, Visibility::Private).await {
        Ok(_) => Vec::new(),
        Err(Error::Rejected(problems)) => problems.into_iter().map(|bad| bad.field).collect(),
        Err(other) => panic!("{other}"),
    }
}

#[tokio::test]
async fn all_problems_are_reported_at_once() {
    let data = tempfile::tempdir().unwrap();
    let operator = engine(data.path()).await;
    let ada = operator.acting_for(account("ada", AccountRole::Submitter));
    let mut config = asking("http://10.0.0.1/v1", Some("mine"));
    config.samples = 0;
    config.tasks = ["a", "nope", "c"].map(|id| TaskId::new(id).unwrap()).into();
    config.budget.usd = Some(1.0);
    config.programmer = Some(AgentConfig {
        harness: HarnessConfig::Program {
            program: "nothing".into(),
            version: None,
        },
        endpoint: Some(Endpoint {
            recording: Some("no-run".into()),
            ..endpoint(PUBLIC, None)
        }),
    });
    let mut fields = wrong(&ada, config).await;
    fields.sort();
    let expect = [
        "budget.usd",
        "endpoint.key",
        "endpoint.url",
        "programmer.endpoint.recording",
        "programmer.harness.name",
        "samples",
        "tasks",
    ];
    assert_eq!(fields, expect);
    let elsewhere = RunConfig::human("nowhere");
    assert_eq!(wrong(&ada, elsewhere).await, ["split"]);
}

#[tokio::test]
async fn runs_that_name_no_budget_get_the_default() {
    let data = tempfile::tempdir().unwrap();
    drop(engine(data.path()).await);
    let config = Config {
        default_budget: "usd=100,tokens=500".parse().unwrap(),
        ..Config::new(data.path().to_owned())
    };
    let operator = Engine::open(config).await.unwrap();
    let check = async |config: RunConfig, expect: &str| {
        let id = operator.submit(config, Visibility::Private).await.unwrap();
        let stored = operator.run(&id).await.unwrap().summary.config.budget;
        assert_eq!(stored, expect.parse().unwrap(), "{expect}");
    };
    let mut config = asking(PUBLIC, None);
    // The price is unknown.
    check(config.clone(), "tokens=500").await;
    config.endpoint.as_mut().unwrap().prices = Some(Prices {
        input: 1.0,
        cached: None,
        output: 2.0,
    });
    check(config.clone(), "usd=100,tokens=500").await;
    config.budget.requests = Some(7);
    check(config, "requests=7").await;
    check(RunConfig::human("s"), "").await;
}

#[tokio::test]
async fn accounts_stay_below_the_operators_ceilings() {
    let data = tempfile::tempdir().unwrap();
    drop(engine(data.path()).await);
    let config = Config {
        ceilings: "memory_mb=4096,samples=2,unfinished_runs=2"
            .parse()
            .unwrap(),
        ..Config::new(data.path().to_owned())
    };
    let operator = Engine::open(config).await.unwrap();
    let ada = operator.acting_for(account("ada", AccountRole::Submitter));
    let mut large = RunConfig::human("s");
    large.limits.memory_mb = 4_097;
    large.samples = 3;
    assert_eq!(
        wrong(&ada, large.clone()).await,
        ["samples", "limits.memory_mb"]
    );
    let said = ada
        .draft(large.clone(), Visibility::Private)
        .await
        .unwrap_err()
        .to_string();
    assert!(
        said.contains("limits.memory_mb: 4097 is above this site's ceiling of 4096"),
        "{said}"
    );
    assert_eq!(wrong(&operator, large).await, [""; 0]);

    let human = || RunConfig::human("s");
    assert_eq!(wrong(&ada, human()).await, [""; 0]);
    let second = ada.submit(human(), Visibility::Private).await.unwrap();
    let third = ada.submit(human(), Visibility::Private).await;
    let Err(Error::Conflict(said)) = third else {
        panic!("{third:?}");
    };
    assert!(said.contains("2 unfinished runs"), "{said}");
    // It concerns this account alone, and ends with a run.
    let bob = operator.acting_for(account("bob", AccountRole::Submitter));
    assert_eq!(wrong(&bob, human()).await, [""; 0]);
    ada.cancel(&second).await.unwrap();
    assert_eq!(wrong(&ada, human()).await, [""; 0]);
    assert_eq!(wrong(&operator, human()).await, [""; 0]);
}

#[tokio::test]
async fn only_submitters_submit_and_only_models_are_measured() {
    let data = tempfile::tempdir().unwrap();
    let operator = engine(data.path()).await;
    for actor in [Actor::Visitor, account("r", AccountRole::Reader)] {
        let engine = operator.acting_for(actor);
        let refused = engine
            .submit(RunConfig::human("s"), Visibility::Private)
            .await;
        assert!(matches!(
            refused,
            Err(Error::Unauthenticated(_) | Error::Forbidden(_))
        ));
    }
    let ada = operator.acting_for(account("ada", AccountRole::Submitter));
    let as_kind = |kind, config: RunConfig| RunConfig { kind, ..config };
    let human = RunConfig::human("s");
    assert_eq!(wrong(&ada, human.clone()).await, [""; 0]);
    for bad in [
        as_kind(Kind::Measured, human.clone()),
        as_kind(Kind::Imported, human.clone()),
        as_kind(Kind::Human, asking(PUBLIC, None)),
    ] {
        assert_eq!(wrong(&ada, bad).await, ["kind"]);
    }
    let withdrawn = ada.submit(human, Visibility::Withdrawn).await;
    let message = withdrawn.unwrap_err().to_string();
    assert!(message.starts_with("visibility: "), "{message}");
}

#[tokio::test]
async fn a_run_uses_its_owners_keys_alone() {
    let data = tempfile::tempdir().unwrap();
    let operator = engine(data.path()).await;
    let ada = operator.acting_for(account("ada", AccountRole::Submitter));
    let bob = operator.acting_for(account("bob", AccountRole::Submitter));
    let root = operator.acting_for(account("root", AccountRole::Admin));
    let set = async |who: &Engine, name: &str| who.set_key(name, &"sk".into()).await.unwrap();
    set(&operator, "shared").await;
    set(&operator, "acme").await;
    set(&ada, "acme").await;
    set(&root, "acme").await;

    let keyring = async |who: &Engine, key: &str| {
        let run = asking(PUBLIC, Some(key));
        let id = who.submit(run, Visibility::Public).await.ok()?;
        Some(operator.store.permissions(&id).await.unwrap().keyring)
    };
    let of = |id: &str| Some(Keyring::Account(id.into()));
    assert_eq!(keyring(&ada, "acme").await, of("ada"));
    assert_eq!(keyring(&ada, "shared").await, None);
    assert_eq!(keyring(&bob, "acme").await, None);
    assert_eq!(keyring(&bob, "ada/acme").await, None);
    assert_eq!(keyring(&operator, "acme").await, Some(Keyring::Operator));
    // Administrators use their own first.
    assert_eq!(keyring(&root, "acme").await, of("root"));
    assert_eq!(keyring(&root, "shared").await, Some(Keyring::Operator));
    // A run that needs it protects only its owner's key.
    assert!(ada.remove_key("acme", false).await.is_err());
    set(&bob, "acme").await;
    bob.remove_key("acme", false).await.unwrap();
}

#[tokio::test]
async fn a_preview_is_no_use_of_a_key() {
    let data = tempfile::tempdir().unwrap();
    let operator = engine(data.path()).await;
    let ada = operator.acting_for(account("ada", AccountRole::Submitter));
    ada.set_key("acme", &"sk".into()).await.unwrap();
    let used = async || ada.key_names().await.unwrap()[0].used_at.clone();
    let form = RunForm::of_config(&asking(PUBLIC, Some("acme")));
    ada.preview(&form).await.unwrap();
    assert_eq!(used().await, None);
    assert_eq!(wrong(&ada, asking(PUBLIC, Some("acme"))).await, [""; 0]);
    assert_eq!(
        used().await,
        None,
        "only a request to the provider is a use"
    );
    let keyring = Keyring::Account("ada".into());
    ada.keys.open(&keyring, "acme").await.unwrap();
    assert!(used().await.is_some());
}

#[tokio::test]
async fn accounts_may_not_point_into_private_networks() {
    let data = tempfile::tempdir().unwrap();
    let operator = engine(data.path()).await;
    let ada = account("ada", AccountRole::Submitter);
    let root = account("root", AccountRole::Admin);
    let reach = async |who: &Engine, url: &str| {
        let submitted = who.submit(asking(url, None), Visibility::Private).await;
        let id = submitted.ok()?;
        Some(operator.store.permissions(&id).await.unwrap().reach)
    };
    let local = "http://localhost:8000/v1";
    let submitter = operator.acting_for(ada.clone());
    assert_eq!(reach(&submitter, local).await, None);
    assert_eq!(reach(&submitter, PUBLIC).await, Some(Reach::Public));
    let admin = operator.acting_for(root);
    assert_eq!(reach(&admin, local).await, Some(Reach::Anywhere));
    assert_eq!(reach(&operator, local).await, Some(Reach::Anywhere));
    // If the operator allows it, every account may.
    let config = Config {
        private_endpoints: true,
        ..Config::new(data.path().to_owned())
    };
    let open = Engine::open(config).await.unwrap().acting_for(ada);
    assert_eq!(reach(&open, local).await, Some(Reach::Anywhere));
}

#[tokio::test]
async fn only_visible_runs_can_be_replayed() {
    let data = tempfile::tempdir().unwrap();
    let operator = engine(data.path()).await;
    let ada = operator.acting_for(account("ada", AccountRole::Submitter));
    let bob = operator.acting_for(account("bob", AccountRole::Submitter));
    let private = ada.submit(asking(PUBLIC, None), Visibility::Private).await;
    let mut again = asking(PUBLIC, None);
    if let Some(endpoint) = &mut again.endpoint {
        endpoint.recording = Some(private.unwrap());
    }
    assert_eq!(wrong(&bob, again.clone()).await, ["endpoint.recording"]);
    assert_eq!(wrong(&ada, again).await, [""; 0]);
}

#[tokio::test]
async fn chosen_tasks_alone_are_worked_on() {
    let data = tempfile::tempdir().unwrap();
    let operator = engine(data.path()).await;
    let tasks = async |chosen: &[&str]| {
        let mut config = RunConfig::human("s");
        config.tasks = chosen.iter().map(|id| TaskId::new(*id).unwrap()).collect();
        let id = operator.submit(config, Visibility::Public).await.unwrap();
        let run = operator.run(&id).await.unwrap();
        let tasks = run.evolution_list.iter().map(|e| e.task_id.to_string());
        tasks.collect::<Vec<_>>()
    };
    assert_eq!(tasks(&["b"]).await, ["b"]);
    assert_eq!(tasks(&[]).await, ["a", "b"]);
}

#[tokio::test]
async fn a_copy_has_key_names_for_who_may_use_the_keys() {
    let data = tempfile::tempdir().unwrap();
    let operator = engine(data.path()).await;
    let ada = operator.acting_for(account("ada", AccountRole::Submitter));
    ada.set_key("acme", &"sk".into()).await.unwrap();
    let run = asking(PUBLIC, Some("acme"));
    let id = ada.submit(run, Visibility::Public).await.unwrap();
    let key = async |who: Actor| {
        let config = operator.acting_for(who).configuration_to_copy(&id).await;
        config.unwrap().endpoint.unwrap().key
    };
    let named = Some("acme".to_owned());
    assert_eq!(key(account("ada", AccountRole::Submitter)).await, named);
    assert_eq!(key(account("bob", AccountRole::Submitter)).await, None);
    assert_eq!(key(Actor::Visitor).await, None);
    let toml = ada.configuration(&id).await.unwrap();
    assert!(!toml.contains("acme"), "{toml}");
}

/// The problems that the form finds and those that only the engine knows come together.
#[tokio::test]
async fn a_form_reports_everything_at_once() {
    let data = tempfile::tempdir().unwrap();
    let operator = engine(data.path()).await;
    let ada = operator.acting_for(account("ada", AccountRole::Submitter));
    let mut form = RunForm::of_config(&asking(PUBLIC, Some("mine")));
    form.set("samples", "many");
    form.set("tasks", "nope");
    let refused = async |form: &RunForm, key: &str| {
        let read = ada.read_form(form, Visibility::Private, &key.into()).await;
        let Err(Error::Rejected(problems)) = read else {
            panic!("it is refused");
        };
        let fields = problems.into_iter().map(|bad| bad.field);
        fields.collect::<Vec<_>>()
    };
    let fields = refused(&form, "").await;
    assert_eq!(fields, ["samples", "tasks", "endpoint.key"]);
    // A key that comes with the run need not be stored.
    form = RunForm::of_config(&asking(PUBLIC, None));
    form.set("endpoint.key", "+");
    form.set("new-key-name", "mine");
    form.set("samples", "many");
    let fields = refused(&form, "with a space").await;
    assert_eq!(fields, ["samples", "new-key"]);
    form.set("samples", "1");
    let key = "sk".into();
    let config = ada.read_form(&form, Visibility::Private, &key);
    let config = config.await.unwrap();
    assert_eq!(config.keys(), ["mine"]);
}
