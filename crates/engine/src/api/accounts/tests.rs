//! Accounts through the façade: sign-in, and permissions.

use secrecy::{ExposeSecret, SecretString};
use swe_ci_base::error::{Error, Result};
use swe_ci_core::finding::Decision;
use swe_ci_core::run::RunConfig;
use swe_ci_views::account::{AccountRole, Actor, Identity, TokenScope, Visibility};

use crate::{Admission, Config, Engine, PageRequest, ProvenIdentity, SessionData};

const PASSWORD: &str = "correct horse battery";

/// An empty engine for the operator.
async fn operator(folder: &std::path::Path) -> Engine {
    Engine::open(Config::new(folder.to_owned())).await.unwrap()
}

/// The engine for a new account of this role.
async fn account(operator: &Engine, name: &str, role: AccountRole) -> Engine {
    let (_, secret) = operator.invite(role, "").await.unwrap();
    let visitor = operator.acting_for(Actor::Visitor);
    let (secret, password) = (secret.expose_secret(), PASSWORD.into());
    let who = visitor.accept_invitation(secret, name, &password).await;
    operator.acting_for(Actor::Account(who.unwrap()))
}

fn identity(engine: &Engine) -> &Identity {
    engine.by().identity().unwrap()
}

/// The result in a word.
fn answer<T>(done: &Result<T>) -> &'static str {
    match done {
        Ok(_) => "done",
        Err(Error::Unauthenticated(_)) => "sign in",
        Err(Error::Forbidden(_)) => "may not",
        Err(Error::NotFound { .. }) => "not found",
        Err(Error::Invalid(_)) => "invalid",
        Err(Error::TooMany { .. }) => "too many",
        Err(_) => "other",
    }
}

async fn audit_lines(engine: &Engine, subject: &str) -> Vec<String> {
    let page = engine.audit(&PageRequest::default(), Some(subject)).await;
    let entries = page.unwrap().items.into_iter().rev();
    entries
        .map(|e| format!("{}: {} {}", e.actor, e.action, e.detail))
        .collect()
}

/// Every action, done so that it changes nothing for the next one.
async fn actions(engine: &Engine) -> Vec<(&'static str, &'static str)> {
    use AccountRole::{Admin, Reader, Submitter};
    let page = PageRequest::default();
    let new = SecretString::from("another long password");
    let config = RunConfig::human("no such split");
    let finding = "none.1.1".parse().unwrap();
    vec![
        ("first_invitation", answer(&engine.first_invitation().await)),
        ("invite", answer(&engine.invite(Reader, "").await)),
        ("invitations", answer(&engine.invitations().await)),
        (
            "withdraw_invitation",
            answer(&engine.withdraw_invitation("none").await),
        ),
        ("accounts", answer(&engine.accounts().await)),
        ("set_role", answer(&engine.set_role("nobody", Admin).await)),
        (
            "set_disabled",
            answer(&engine.set_disabled("nobody", true).await),
        ),
        (
            "reset_password",
            answer(&engine.reset_password("nobody", &new).await),
        ),
        ("audit", answer(&engine.audit(&page, None).await)),
        ("open_findings", answer(&engine.open_findings().await)),
        (
            "review_finding",
            answer(
                &engine
                    .review_finding("none", &finding, Decision::Cleared, "why")
                    .await,
            ),
        ),
        (
            "remove_price",
            answer(&engine.remove_price("m", "2026-01-01").await),
        ),
        (
            "submit",
            answer(&engine.submit(config, Visibility::Public).await),
        ),
        ("publish", answer(&engine.publish("none").await)),
        ("tokens", answer(&engine.tokens().await)),
        (
            "a token to read",
            answer(&engine.make_token("t", Reader, 1).await),
        ),
        (
            "a token to submit",
            answer(&engine.make_token("t", Submitter, 1).await),
        ),
        (
            "a token for all",
            answer(&engine.make_token("t", Admin, 1).await),
        ),
        ("revoke_token", answer(&engine.revoke_token("none").await)),
        ("notifications", answer(&engine.notifications().await)),
        ("test_target", answer(&engine.test_target("none").await)),
        (
            "change_password",
            answer(&engine.change_password(&"wrong".into(), &new).await),
        ),
    ]
}

#[tokio::test]
async fn permissions_of_each_role() {
    let data = tempfile::tempdir().unwrap();
    let operator = operator(data.path()).await;
    let all = [
        operator.acting_for(Actor::Visitor),
        account(&operator, "rea", AccountRole::Reader).await,
        account(&operator, "sue", AccountRole::Submitter).await,
        account(&operator, "ada", AccountRole::Admin).await,
        operator,
    ];
    let mut found = Vec::new();
    for engine in &all {
        found.push(actions(engine).await);
    }
    let check = |deed: &str, expect: [&str; 5]| {
        let answers = found.iter().map(|of_one| {
            let done = of_one.iter().find(|(name, _)| *name == deed);
            done.unwrap().1
        });
        assert_eq!(answers.collect::<Vec<_>>(), expect, "{deed}");
    };
    let admins = |last| ["sign in", "may not", "may not", last, last];
    check("first_invitation", admins("done"));
    check("invite", admins("done"));
    check("invitations", admins("done"));
    check("withdraw_invitation", admins("not found"));
    check("accounts", admins("done"));
    check("set_role", admins("not found"));
    check("set_disabled", admins("not found"));
    check("reset_password", admins("not found"));
    check("audit", admins("done"));
    check("open_findings", admins("done"));
    check("review_finding", admins("not found"));
    check("remove_price", admins("not found"));
    // Only submitters learn the problems of a configuration.
    check("submit", ["sign in", "may not", "other", "other", "other"]);
    check("publish", ["not found"; 5]);
    // The command line has no account.
    check("tokens", ["sign in", "done", "done", "done", "may not"]);
    check(
        "a token to read",
        ["sign in", "done", "done", "done", "may not"],
    );
    check(
        "a token to submit",
        ["sign in", "may not", "done", "done", "may not"],
    );
    check(
        "a token for all",
        ["sign in", "may not", "may not", "done", "may not"],
    );
    check(
        "notifications",
        ["sign in", "may not", "done", "done", "may not"],
    );
    let own = ["sign in", "may not", "not found", "not found", "may not"];
    check("test_target", own);
    check(
        "revoke_token",
        [
            "sign in",
            "not found",
            "not found",
            "not found",
            "not found",
        ],
    );
    check(
        "change_password",
        ["sign in", "invalid", "invalid", "invalid", "may not"],
    );
}

#[tokio::test]
async fn the_first_administrator_comes_by_a_link() {
    let data = tempfile::tempdir().unwrap();
    let operator = operator(data.path()).await;
    let visitor = operator.acting_for(Actor::Visitor);
    let old = operator.first_invitation().await.unwrap().unwrap();
    let link = operator.first_invitation().await.unwrap().unwrap();
    assert_eq!(
        answer(&visitor.invitation(old.expose_secret()).await),
        "not found"
    );
    let secret = link.expose_secret();
    assert_eq!(
        visitor.invitation(secret).await.unwrap().role,
        AccountRole::Admin
    );

    let check = async |name: &str, password: &str, expect: &str| {
        let given = password.into();
        let done = visitor.accept_invitation(secret, name, &given).await;
        assert_eq!(answer(&done), expect, "{name} {password}");
    };
    // An invalid name or password does not use up the link.
    check("a", PASSWORD, "invalid").await;
    check("operator", PASSWORD, "invalid").await;
    check("ada", "short", "invalid").await;
    check("Ada.Lovelace", "ada.lovelace", "invalid").await;
    check("Ada.Lovelace", PASSWORD, "done").await;
    check("eve", PASSWORD, "not found").await;
    assert!(operator.first_invitation().await.unwrap().is_none());

    let gone = visitor.invitation(secret).await.unwrap_err();
    assert!(!format!("{gone} {gone:?}").contains(secret));
    let who = visitor
        .sign_in(" ADA.lovelace ", &PASSWORD.into())
        .await
        .unwrap();
    assert_eq!((&*who.name, who.role), ("ada.lovelace", AccountRole::Admin));
    assert_eq!(operator.identity(&who.account_id).await.unwrap(), Some(who));
    let lines = audit_lines(&operator, "ada.lovelace").await;
    assert!(lines[0].starts_with("ada.lovelace: account.make as admin by the invitation "));
    assert_eq!(lines[1..], ["ada.lovelace: account.sign_in "]);
}

#[tokio::test]
async fn guesses_disclose_nothing() {
    let data = tempfile::tempdir().unwrap();
    let operator = operator(data.path()).await;
    account(&operator, "ada", AccountRole::Reader).await;
    let visitor = operator.acting_for(Actor::Visitor);
    let refused = async |name: &str, password: &str| {
        let refused = visitor.sign_in(name, &password.into()).await.unwrap_err();
        (answer::<()>(&Err(refused)), name.to_owned())
    };
    let words = async |name: &str| {
        let refused = visitor.sign_in(name, &"hunter2".into()).await;
        refused.unwrap_err().to_string()
    };
    // The same text, and locked after as many.
    for _ in 0..5 {
        assert_eq!(words("ada").await, words("hunter2-as-name").await);
    }
    for name in ["ada", "hunter2-as-name"] {
        // A locked name is refused even with the right password.
        assert_eq!(refused(name, PASSWORD).await.0, "too many", "{name}");
    }
    assert_eq!(refused("no name at all", PASSWORD).await.0, "sign in");

    let lines = audit_lines(&operator, "ada").await;
    assert_eq!(lines[1], "visitor: account.sign_in_failed wrong password");
    assert_eq!(
        lines[5..],
        ["visitor: account.sign_in_failed wrong password; locked for 60 s"]
    );
    // A typed name may be a password.
    let all = operator.audit(&PageRequest::default(), None).await.unwrap();
    assert!(!format!("{all:?}").contains("hunter2"), "{all:?}");

    operator
        .reset_password("ADA", &"a new long one".into())
        .await
        .unwrap();
    assert_eq!(refused("ada", PASSWORD).await.0, "sign in");
    visitor
        .sign_in("ada", &"a new long one".into())
        .await
        .unwrap();
}

#[tokio::test]
async fn sessions_end_with_the_password() {
    let data = tempfile::tempdir().unwrap();
    let operator = operator(data.path()).await;
    let ada = account(&operator, "ada", AccountRole::Reader).await;
    let session = SessionData {
        account_id: Some(identity(&ada).account_id.clone()),
        data: "{}".into(),
        expires_at: swe_ci_base::clock::now_ms() + 60_000,
    };
    assert!(operator.new_session("id", &session).await.unwrap());
    assert!(!operator.new_session("id", &session).await.unwrap());
    assert_eq!(operator.session("id").await.unwrap(), Some(session.clone()));
    // The database holds only the digest of the id.
    assert!(operator.store.session("id").await.unwrap().is_none());

    let change = async |old: &str, new: &str| ada.change_password(&old.into(), &new.into()).await;
    assert_eq!(
        answer(&change("wrong password", "another long one").await),
        "invalid"
    );
    assert_eq!(answer(&change(PASSWORD, "short").await), "invalid");
    assert!(operator.session("id").await.unwrap().is_some());
    change(PASSWORD, "another long one").await.unwrap();
    assert!(operator.session("id").await.unwrap().is_none());
    operator.keep_session("id", &session).await.unwrap();
    assert!(operator.session("id").await.unwrap().is_none());
    let visitor = operator.acting_for(Actor::Visitor);
    assert!(visitor.sign_in("ada", &PASSWORD.into()).await.is_err());
    visitor
        .sign_in("ada", &"another long one".into())
        .await
        .unwrap();
}

#[tokio::test]
async fn a_disabled_account_is_out_at_once() {
    let data = tempfile::tempdir().unwrap();
    let operator = operator(data.path()).await;
    let root = account(&operator, "root", AccountRole::Admin).await;
    let ada = account(&operator, "ada", AccountRole::Submitter).await;
    let (_, token) = ada.make_token("ci", AccountRole::Reader, 1).await.unwrap();
    let visitor = operator.acting_for(Actor::Visitor);
    let alive = async || {
        (
            operator
                .identity(&identity(&ada).account_id)
                .await
                .unwrap()
                .is_some(),
            visitor.actor_of_token(token.expose_secret()).await.is_ok(),
            visitor.sign_in("ada", &PASSWORD.into()).await.is_ok(),
        )
    };
    assert_eq!(alive().await, (true, true, true));
    root.set_disabled("ada", true).await.unwrap();
    assert_eq!(alive().await, (false, false, false));
    // Only a caller who knows the password learns the reason.
    let why = async |password: &str| {
        let refused = visitor.sign_in("ada", &password.into()).await;
        refused.unwrap_err().to_string()
    };
    assert!(why(PASSWORD).await.contains("disabled"));
    assert!(!why("wrong password").await.contains("disabled"));
    root.set_disabled("ada", false).await.unwrap();
    assert_eq!(alive().await, (true, true, true));
    let own = root.set_disabled("root", true).await.unwrap_err();
    assert!(own.to_string().contains("last administrator"), "{own}");
}

#[tokio::test]
async fn tokens_of_the_api() {
    let data = tempfile::tempdir().unwrap();
    let operator = operator(data.path()).await;
    let ada = account(&operator, "ada", AccountRole::Submitter).await;
    let bob = account(&operator, "bob", AccountRole::Submitter).await;
    let (view, text) = ada
        .make_token(" ci ", AccountRole::Reader, 300)
        .await
        .unwrap();
    assert_eq!((&*view.name, view.scope), ("ci", TokenScope::Reader));
    assert!(text.expose_secret().starts_with("sweci_"));
    assert!(!format!("{view:?} {text:?}").contains(text.expose_secret()));

    let visitor = operator.acting_for(Actor::Visitor);
    let actor = visitor.actor_of_token(text.expose_secret()).await.unwrap();
    let expected = Identity {
        role: AccountRole::Reader,
        until: Some(view.expires_at.clone()),
        reads_metrics: false,
        ..identity(&ada).clone()
    };
    assert_eq!(actor, Actor::Account(expected));
    assert!(ada.tokens().await.unwrap()[0].used_at.is_some());
    // A token cannot create one with more rights.
    let program = operator.acting_for(actor);
    let more = program.make_token("more", AccountRole::Submitter, 1).await;
    assert_eq!(answer(&more), "may not");
    // Nor one that is valid for longer.
    let longer = program.make_token("longer", AccountRole::Reader, 365).await;
    assert_eq!(answer(&longer), "may not");
    let shorter = program
        .make_token("shorter", AccountRole::Reader, 299)
        .await;
    assert_eq!(answer(&shorter), "done");
    for (name, days) in [("", 1), ("a\nb", 1), ("ok", 0), ("ok", 366)] {
        let made = ada.make_token(name, AccountRole::Reader, days).await;
        assert_eq!(answer(&made), "invalid", "{name:?} {days}");
    }
    for text in ["", "sweci_", "sweci_x", &text.expose_secret()[6..]] {
        assert_eq!(answer(&visitor.actor_of_token(text).await), "sign in");
    }
    assert_eq!(answer(&bob.revoke_token(&view.token_id).await), "not found");
    ada.revoke_token(&view.token_id).await.unwrap();
    let revoked = visitor.actor_of_token(text.expose_secret()).await;
    assert_eq!(answer(&revoked), "sign in");
}

fn elsewhere(subject: &str) -> ProvenIdentity {
    ProvenIdentity {
        provider: "corp".into(),
        subject: subject.into(),
        shown_as: "octocat".into(),
    }
}

#[tokio::test]
async fn identities_from_elsewhere_are_admitted_or_refused() {
    let data = tempfile::tempdir().unwrap();
    let operator = operator(data.path()).await;
    let visitor = operator.acting_for(Actor::Visitor);
    let enter = async |subject: &str, admission: Admission| {
        let who = elsewhere(subject);
        visitor.sign_in_as(&who, "Octo Cat", &admission).await
    };
    assert_eq!(answer(&enter("1", Admission::Linked).await), "may not");
    let made = enter("1", Admission::Anyone(AccountRole::Reader)).await;
    let made = made.unwrap();
    assert_eq!(
        (made.name.as_str(), made.role),
        ("octo-cat", AccountRole::Reader)
    );
    // From now on it is linked, whatever the admission.
    assert_eq!(enter("1", Admission::Linked).await.unwrap(), made);

    let (_, secret) = operator.invite(AccountRole::Admin, "").await.unwrap();
    let followed = visitor.follow_invitation(secret.expose_secret()).await;
    let followed = followed.unwrap();
    let json = serde_json::to_string(&followed).unwrap();
    assert!(!json.contains(secret.expose_secret()), "{json}");
    let invited = enter("2", Admission::Invited(followed.clone())).await;
    assert_eq!(invited.unwrap().name, "octo-cat-2");
    let again = enter("3", Admission::Invited(followed)).await;
    assert_eq!(answer(&again), "not found");
    let nowhere = visitor.follow_invitation("nothing").await;
    assert_eq!(answer(&nowhere), "not found");

    operator.set_disabled("octo-cat", true).await.unwrap();
    assert_eq!(answer(&enter("1", Admission::Linked).await), "sign in");
    assert_eq!(
        audit_lines(&operator, "octo-cat").await,
        [
            "octo-cat: account.make as reader by corp: octocat",
            "octo-cat: account.sign_in corp: octocat",
            "operator: account.disable ",
            "visitor: account.sign_in_failed corp: the account is disabled",
        ]
    );
    assert_eq!(
        audit_lines(&operator, "").await,
        ["visitor: account.sign_in_failed corp: no account is linked to `octocat`"]
    );
}

#[tokio::test]
async fn an_account_without_a_password_has_none_to_guess() {
    let data = tempfile::tempdir().unwrap();
    let operator = operator(data.path()).await;
    let visitor = operator.acting_for(Actor::Visitor);
    let anyone = Admission::Anyone(AccountRole::Reader);
    let who = visitor.sign_in_as(&elsewhere("1"), "ada", &anyone).await;
    let ada = operator.acting_for(Actor::Account(who.unwrap()));
    let offered = ["corp".to_owned()];
    for guess in ["", PASSWORD] {
        let tried = visitor.sign_in("ada", &guess.into()).await;
        assert_eq!(answer(&tried), "sign in", "{guess:?}");
    }
    let changed = ada.change_password(&"".into(), &PASSWORD.into()).await;
    assert_eq!(answer(&changed), "invalid");
    let unlinked = ada.unlink_identity("corp", "1", &offered).await;
    assert!(matches!(unlinked, Err(Error::Conflict(_))), "{unlinked:?}");

    assert_eq!(
        answer(&ada.set_first_password(&"short".into()).await),
        "invalid"
    );
    ada.set_first_password(&PASSWORD.into()).await.unwrap();
    let again = ada.set_first_password(&"another long one".into()).await;
    assert!(matches!(again, Err(Error::Conflict(_))), "{again:?}");
    visitor.sign_in("ada", &PASSWORD.into()).await.unwrap();
    ada.unlink_identity("corp", "1", &offered).await.unwrap();
    assert!(ada.ways_in().await.unwrap().identities.is_empty());
    // The command line has no identity elsewhere.
    assert_eq!(answer(&operator.ways_in().await), "may not");
    assert_eq!(answer(&visitor.ways_in().await), "sign in");
}
