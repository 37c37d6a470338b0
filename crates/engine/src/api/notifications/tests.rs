//! Notifications through the façade, delivered to real servers on this machine.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use secrecy::ExposeSecret;
use swe_ci_core::permissions::RunPermissions;
use swe_ci_core::run::{Progress, RunConfig};
use swe_ci_store::testing::task;
use swe_ci_store::{Due, NewRun};
use swe_ci_views::account::{Actor, Standing, Visibility};
use swe_ci_views::notification::{DeliveryState, DeliveryView, News};
use swe_ci_views::view::Provenance;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::Config;
use crate::notifications::dispatcher::{NotificationDispatcher, Pace};
use crate::notifications::{Mailer, message};

/// A request to a receiver.
#[derive(Debug, Clone)]
struct Received {
    headers: HeaderMap,
    body: String,
}

/// A receiver on this machine, which answers with these statuses, and with 204
/// after that.
#[derive(Debug, Clone)]
struct Receiver {
    url: String,
    requests: Arc<Mutex<Vec<Received>>>,
}

impl Receiver {
    async fn answering(answers: &[u16]) -> Self {
        let answers = Arc::new(Mutex::new(VecDeque::from(answers.to_vec())));
        let requests: Arc<Mutex<Vec<Received>>> = Arc::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let (store, elsewhere) = (requests.clone(), format!("{url}/elsewhere"));
        let take = move |headers: HeaderMap, body: Bytes| async move {
            let body = String::from_utf8(body.to_vec()).unwrap();
            store.lock().unwrap().push(Received { headers, body });
            let status = answers.lock().unwrap().pop_front().unwrap_or(204);
            let status = StatusCode::from_u16(status).unwrap();
            (status, [("location", elsewhere)], "what it says").into_response()
        };
        let router = Router::new().fallback(take);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, requests }
    }

    fn requests(&self) -> Vec<Received> {
        self.requests.lock().unwrap().clone()
    }
}

/// A small SMTP server: accepts mails, after refusing the first ones with the
/// texts in `refused`.
struct MailServer {
    url: SecretString,
    mails: Arc<Mutex<Vec<String>>>,
}

impl MailServer {
    async fn open(refused: &'static [&'static str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("smtp://{}", listener.local_addr().unwrap()).into();
        let mails: Arc<Mutex<Vec<String>>> = Arc::default();
        let store = mails.clone();
        tokio::spawn(async move {
            let mut refusals = refused.iter();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let mail = take_mail(stream, refusals.next().copied()).await;
                store.lock().unwrap().extend(mail);
            }
        });
        Self { url, mails }
    }

    /// The mail of this number, from 1, once it is there: the sender continues
    /// before the conversation is over.
    async fn mail(&self, number: usize) -> String {
        for _ in 0..500 {
            if let Some(mail) = self.mails.lock().unwrap().get(number - 1) {
                return mail.clone();
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("mail {number} does not come");
    }
}

/// One conversation; returns the whole mail with the commands before it.
async fn take_mail(stream: tokio::net::TcpStream, refusal: Option<&str>) -> Option<String> {
    let mut stream = BufReader::new(stream);
    stream.write_all(b"220 here\r\n").await.unwrap();
    let (mut mail, mut in_data) = (String::new(), false);
    let mut line = String::new();
    while stream.read_line(&mut line).await.unwrap() > 0 {
        mail.push_str(&line);
        let answer = match (in_data, line.get(..4).unwrap_or_default()) {
            (true, _) if line == ".\r\n" => {
                in_data = false;
                "250 taken"
            }
            (true, _) => "",
            (false, "RCPT") => refusal.unwrap_or("250 fine"),
            (false, "DATA") => {
                in_data = true;
                "354 go on"
            }
            (false, "QUIT") => "221 bye",
            (false, _) => "250 fine",
        };
        if !answer.is_empty() {
            let answer = format!("{answer}\r\n");
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
        line.clear();
    }
    mail.contains("\r\n.\r\n").then_some(mail)
}

/// An engine with an administrator, who may have receivers on this machine, and
/// ada, who submits.
struct Setup {
    operator: Engine,
    admin: Engine,
    ada: Engine,
    dispatcher: NotificationDispatcher,
    _data: tempfile::TempDir,
}

async fn setup(mailer: Option<Mailer>) -> Setup {
    let data = tempfile::tempdir().unwrap();
    let config = Config {
        public_url: Some("https://bench.example.org".into()),
        mailer,
        ..Config::new(data.path().to_owned())
    };
    let operator = Engine::open(config.clone()).await.unwrap();
    // A failed delivery is due again at once.
    let pace = Pace {
        first: Duration::ZERO,
        longest: Duration::ZERO,
    };
    let (store, keys) = (&operator.store, &operator.parts.keys);
    let dispatcher = NotificationDispatcher::new(store, keys, &config, pace).unwrap();
    Setup {
        admin: account(&operator, "root", AccountRole::Admin).await,
        ada: account(&operator, "ada", AccountRole::Submitter).await,
        operator,
        dispatcher,
        _data: data,
    }
}

async fn account(operator: &Engine, name: &str, role: AccountRole) -> Engine {
    let (_, secret) = operator.invite(role, "").await.unwrap();
    let visitor = operator.acting_for(Actor::Visitor);
    let password = SecretString::from("correct horse battery");
    let who = visitor.accept_invitation(secret.expose_secret(), name, &password);
    operator.acting_for(Actor::Account(who.await.unwrap()))
}

impl Setup {
    /// Delivers everything that is due, one after the other, in at most `most`
    /// tries.
    async fn deliver(&self, most: usize) {
        for _ in 0..most {
            let Some(due) = self.dispatcher.claim().await.unwrap() else {
                return;
            };
            self.dispatcher.deliver(&due).await;
        }
    }
}

/// A run of this account's over one task.
async fn submitted(engine: &Engine) -> String {
    let task = task("t");
    let store = &engine.store;
    store.put_task("s", 0, &task).await.unwrap();
    let run = NewRun {
        config: RunConfig::human("s"),
        standing: Standing {
            owner: engine.by().identity().map(|who| who.account_id.clone()),
            visibility: Visibility::Private,
        },
        grant: RunPermissions::default(),
        provenance: Provenance::default(),
        tasks: vec![(task.id, 1.0)],
        preflight: false,
        forget_keys: false,
    };
    store.insert_run(&run, engine.by()).await.unwrap()
}

/// The newest delivery of an account.
async fn last(engine: &Engine) -> DeliveryView {
    let all = engine.notifications().await.unwrap();
    all.deliveries.into_iter().next().unwrap()
}

#[tokio::test]
async fn a_message_is_signed_tried_again_and_arrives() {
    let setup = setup(None).await;
    let receiver = Receiver::answering(&[500, 302]).await;
    let added = setup
        .admin
        .add_webhook(&receiver.url, &Occasion::OF_RUNS)
        .await;
    let (target, secret) = added.unwrap();
    assert!(secret.expose_secret().starts_with("whsec_"));
    setup.admin.test_target(&target.target_id).await.unwrap();

    setup.deliver(1).await;
    let tried = last(&setup.admin).await;
    assert_eq!((tried.state, tried.tries), (DeliveryState::Waiting, 1));
    assert_eq!(tried.answer, "500", "what it says besides is not kept");
    setup.deliver(1).await;
    let tried = last(&setup.admin).await;
    assert_eq!(tried.answer, "302: redirects are not followed");
    setup.deliver(9).await;
    let done = last(&setup.admin).await;
    assert_eq!((done.state, done.tries), (DeliveryState::Delivered, 3));
    assert_eq!(done.answer, "204");

    let requests = receiver.requests();
    assert_eq!(requests.len(), 3, "nobody followed the redirect");
    let header =
        |requests: &Received, name: &str| requests.headers[name].to_str().unwrap().to_owned();
    for one in &requests {
        let id = header(one, "webhook-id");
        assert_eq!(id, done.delivery_id, "the same in every try");
        let at: i64 = header(one, "webhook-timestamp").parse().unwrap();
        assert!((now_ms() / 1_000 - at).abs() < 60);
        let signed = message::signature(&secret, &id, at, &one.body).unwrap();
        assert_eq!(header(one, "webhook-signature"), signed);
        assert_eq!(header(one, "content-type"), "application/json");
        assert_eq!(one.body, requests[0].body);
    }
    let body: serde_json::Value = serde_json::from_str(&requests[0].body).unwrap();
    assert_eq!(body["type"], "test");

    // Sealed in the database and shown only once.
    let text = secret.expose_secret();
    let shown = serde_json::to_string(&setup.admin.notifications().await.unwrap());
    assert!(!shown.unwrap().contains(text));
    // A new master key seals it again, and it signs as before.
    setup.operator.rotate_secret(None).await.unwrap();
    setup.admin.test_target(&target.target_id).await.unwrap();
    setup.deliver(1).await;
    let after = receiver.requests().pop().unwrap();
    let at = header(&after, "webhook-timestamp").parse().unwrap();
    let signed = message::signature(&secret, &header(&after, "webhook-id"), at, &after.body);
    assert_eq!(header(&after, "webhook-signature"), signed.unwrap());
}

#[tokio::test]
async fn after_eight_tries_it_is_given_up_and_gone_means_gone() {
    let setup = setup(None).await;
    let receiver = Receiver::answering(&[503; 8]).await;
    let added = setup
        .admin
        .add_webhook(&receiver.url, &Occasion::OF_RUNS)
        .await;
    let id = added.unwrap().0.target_id;
    setup.admin.test_target(&id).await.unwrap();
    setup.deliver(20).await;
    let given_up = last(&setup.admin).await;
    assert_eq!(
        (given_up.state, given_up.tries),
        (DeliveryState::GivenUp, 8)
    );
    assert_eq!(receiver.requests().len(), 8);

    let gone = Receiver::answering(&[410]).await;
    let added = setup.admin.add_webhook(&gone.url, &Occasion::OF_RUNS).await;
    let id = added.unwrap().0.target_id;
    setup.admin.test_target(&id).await.unwrap();
    setup.deliver(20).await;
    let given_up = last(&setup.admin).await;
    assert_eq!(
        (given_up.state, given_up.tries),
        (DeliveryState::GivenUp, 1)
    );

    // A port without a listener.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let nobody = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let added = setup.admin.add_webhook(&nobody, &Occasion::OF_RUNS).await;
    let id = added.unwrap().0.target_id;
    setup.admin.test_target(&id).await.unwrap();
    setup.deliver(1).await;
    let waits = last(&setup.admin).await;
    assert_eq!(
        (waits.state, waits.answer.as_str()),
        (DeliveryState::Waiting, "no connection")
    );
}

#[tokio::test]
async fn accounts_have_receivers_on_the_open_internet_alone() {
    let setup = setup(None).await;
    let add = async |engine: &Engine, url: &str| {
        let added = engine.add_webhook(url, &Occasion::OF_RUNS).await;
        added.map(|_| ()).map_err(|error| error.to_string())
    };
    for bad in [
        "http://hooks.example.org/",
        "ftp://hooks.example.org/",
        "hooks.example.org",
        "https://user:secret@hooks.example.org/",
        "https://hooks.exam\nple.org/",
        "https://hooks.example.org/\r\nx-evil: 1",
        "https://hooks.example.org/#part",
        &format!("https://hooks.example.org/{}", "x".repeat(2_000)),
    ] {
        let says = add(&setup.ada, bad).await.unwrap_err();
        assert!(says.starts_with("write the address"), "{bad}: {says}");
        assert!(!says.contains("secret"), "{says}");
    }
    for private in [
        "https://127.0.0.1/",
        "https://localhost/",
        "https://10.0.0.7/",
        "https://[::1]/",
    ] {
        let says = add(&setup.ada, private).await.unwrap_err();
        assert!(says.contains("in a private network"), "{private}: {says}");
    }
    let says = setup
        .ada
        .add_webhook("https://hooks.example.org/", &[])
        .await
        .unwrap_err();
    assert!(
        says.to_string()
            .contains("run.finished, run.blocked, run.budget"),
        "{says}"
    );
    let says = setup
        .ada
        .add_webhook("https://h.example.org/", &[Occasion::Test])
        .await;
    assert!(matches!(says, Err(Error::Invalid(_))));

    // Checked again at delivery: a former administrator's private targets get
    // nothing, by number or by name.
    let receiver = Receiver::answering(&[]).await;
    let by_name = receiver.url.replace("127.0.0.1", "localhost");
    for url in [&receiver.url, &by_name] {
        let added = setup.admin.add_webhook(url, &Occasion::OF_RUNS).await;
        let id = added.unwrap().0.target_id;
        setup.admin.test_target(&id).await.unwrap();
        let due = setup.dispatcher.claim().await.unwrap().unwrap();
        let due = Due {
            of_admin: false,
            ..due
        };
        setup.dispatcher.deliver(&due).await;
        let refused = last(&setup.admin).await;
        assert_eq!(refused.state, DeliveryState::GivenUp);
        assert!(
            refused.answer.contains("private network"),
            "{}",
            refused.answer
        );
    }
    assert!(receiver.requests().is_empty());

    for n in 0..10 {
        let url = format!("https://hooks.example.org/{n}");
        add(&setup.ada, &url).await.unwrap();
    }
    let says = add(&setup.ada, "https://hooks.example.org/11")
        .await
        .unwrap_err();
    assert!(says.contains("10 webhooks already"), "{says}");
}

/// The connection checks the address that a name resolves to, whatever the name
/// is.
#[tokio::test]
async fn a_name_that_leads_here_is_refused_at_the_connection() {
    let client = swe_ci_gateway::client_within(
        swe_ci_core::permissions::Reach::Public,
        swe_ci_base::tls::http_client(),
    );
    let sent = client
        .build()
        .unwrap()
        .post("http://localhost:9/")
        .send()
        .await;
    let why = swe_ci_gateway::refusal(&sent.unwrap_err());
    assert!(why.is_some_and(|why| why.contains("private network")));
}

#[tokio::test]
async fn test_messages_are_limited_to_own_targets() {
    let setup = setup(None).await;
    let added = setup
        .ada
        .add_webhook("https://hooks.example.org/", &Occasion::OF_RUNS)
        .await;
    let id = added.unwrap().0.target_id;
    for strange in [
        setup.admin.test_target(&id).await,
        setup.admin.remove_target(&id).await,
        setup.ada.confirm_mailbox(&id, "x").await,
    ] {
        assert!(
            matches!(strange, Err(Error::NotFound { .. })),
            "{strange:?}"
        );
    }
    for _ in 0..20 {
        setup.ada.test_target(&id).await.unwrap();
    }
    let more = setup.ada.test_target(&id).await;
    assert!(matches!(more, Err(Error::TooMany { .. })), "{more:?}");
    setup.ada.remove_target(&id).await.unwrap();
    assert!(setup.dispatcher.claim().await.unwrap().is_none());

    let reader = account(&setup.operator, "rita", AccountRole::Reader).await;
    assert!(matches!(
        reader.notifications().await,
        Err(Error::Forbidden(_))
    ));
    let visitor = setup.operator.acting_for(Actor::Visitor);
    let sent = visitor.test_target(&id).await;
    assert!(matches!(sent, Err(Error::Unauthenticated(_))));
}

#[tokio::test]
async fn mails_go_where_a_code_was_read() {
    let postbox = MailServer::open(&["450 later"]).await;
    let mailer = Mailer::new(&postbox.url, "SWE-CI <swe-ci@example.org>").unwrap();
    let setup = setup(Some(mailer)).await;
    let added = setup
        .ada
        .add_mailbox("ada@example.org", &Occasion::OF_RUNS)
        .await;
    let id = added.unwrap().target_id;
    let second = setup
        .ada
        .add_mailbox("eve@example.org", &Occasion::OF_RUNS)
        .await;
    assert!(matches!(second, Err(Error::Conflict(_))));
    setup.deliver(1).await;
    let waits = last(&setup.ada).await;
    assert_eq!(
        (waits.state, waits.answer.as_str()),
        (DeliveryState::Waiting, "the mail server answers 450")
    );
    setup.deliver(1).await;
    assert_eq!(last(&setup.ada).await.state, DeliveryState::Delivered);

    let mail = postbox.mail(1).await;
    assert!(mail.contains("RCPT TO:<ada@example.org>"), "{mail}");
    assert!(
        mail.contains("https://bench.example.org/notifications"),
        "{mail}"
    );
    let code = mail
        .lines()
        .find_map(|line| line.strip_prefix("    "))
        .unwrap();
    let wrong = setup.ada.confirm_mailbox(&id, "AAAAA-AAAAA").await;
    assert!(matches!(wrong, Err(Error::Invalid(_))));
    setup
        .ada
        .confirm_mailbox(&id, &code.to_lowercase())
        .await
        .unwrap();
    let target = &setup.ada.notifications().await.unwrap().targets[0];
    assert!(target.confirmed);

    // A run's name cannot change this: a mail is one mail to one mailbox.
    let due = Due {
        delivery_id: "d1".into(),
        event: Occasion::RunFinished,
        news: Some(News {
            run_id: "r1".into(),
            model: "x\r\nBcc: eve@example.org\r\n\r\n.\r\nRCPT TO:<eve@example.org>".into(),
            split: "demo".into(),
            progress: Progress::Finished,
            evolutions: 1,
            evolutions_blocked: 0,
            evolutions_out_of_budget: 0,
            cause: None,
        }),
        made_at: now_ms(),
        tries: 1,
        target_id: id,
        channel: Channel::Mail,
        address: "ada@example.org".into(),
        of_admin: false,
    };
    setup.dispatcher.deliver(&due).await;
    let mail = postbox.mail(2).await;
    assert!(mail.contains("\r\n\r\nThe run of x"), "{mail}");
    for line in mail.lines() {
        assert!(
            !line.starts_with("Bcc") && !line.starts_with("RCPT TO:<eve"),
            "{mail}"
        );
    }
}

#[tokio::test]
async fn a_mailbox_nobody_has_is_given_up_and_codes_are_few() {
    let postbox = MailServer::open(&["550 no such user"]).await;
    let mailer = Mailer::new(&postbox.url, "swe-ci@example.org").unwrap();
    let setup = setup(Some(mailer)).await;
    let added = setup
        .ada
        .add_mailbox("nobody@example.org", &Occasion::OF_RUNS)
        .await;
    let id = added.unwrap().target_id;
    setup.deliver(9).await;
    let refused = last(&setup.ada).await;
    assert_eq!((refused.state, refused.tries), (DeliveryState::GivenUp, 1));
    for _ in 0..4 {
        setup.ada.test_target(&id).await.unwrap();
    }
    // Neither by another request nor by starting again.
    let more = setup.ada.test_target(&id).await;
    assert!(matches!(more, Err(Error::TooMany { .. })));
    setup.ada.remove_target(&id).await.unwrap();
    let anew = setup
        .ada
        .add_mailbox("ada@example.org", &Occasion::OF_RUNS)
        .await;
    assert!(matches!(anew, Err(Error::TooMany { .. })));
}

#[tokio::test]
async fn without_a_mail_server_no_mailbox_is_added() {
    let setup = setup(None).await;
    assert!(!setup.ada.notifications().await.unwrap().sends_mail);
    let added = setup
        .ada
        .add_mailbox("ada@example.org", &Occasion::OF_RUNS)
        .await;
    let says = added.unwrap_err().to_string();
    assert!(says.contains("sends no mails"), "{says}");
}

/// From the end of a run to the receiver, through the server.
#[tokio::test]
async fn the_server_notifies_the_owner_of_a_finished_run() {
    let setup = setup(None).await;
    let receiver = Receiver::answering(&[]).await;
    let added = setup
        .admin
        .add_webhook(&receiver.url, &Occasion::OF_RUNS)
        .await;
    added.unwrap();
    let run_id = submitted(&setup.admin).await;
    setup.admin.cancel(&run_id).await.unwrap();

    let stop = CancellationToken::new();
    let (engine, stopped) = (setup.operator.clone(), stop.clone());
    let worker = tokio::spawn(async move { engine.attend(&stopped).await });
    for _ in 0..200 {
        if !receiver.requests().is_empty()
            && last(&setup.admin).await.state == DeliveryState::Delivered
        {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    stop.cancel();
    worker.await.unwrap();
    let requests = receiver.requests();
    assert_eq!(requests.len(), 1);
    let body: serde_json::Value = serde_json::from_str(&requests[0].body).unwrap();
    assert_eq!(body["type"], "run.finished");
    assert_eq!(body["data"]["progress"], "cancelled");
    assert_eq!(body["data"]["run_id"], run_id.as_str());
    let url = format!("https://bench.example.org/runs/{run_id}");
    assert_eq!(body["data"]["url"], url.as_str());
}
