//! Accounts and invitations.

use swe_ci_base::clock::now_ms;
use swe_ci_views::account::{AccountRole, Identity};

use super::*;
use crate::{Attempt, NewAccount, NewInvitation};

pub(super) const BY: &Actor = &Actor::Operator;
pub(super) const HOUR: i64 = 3_600_000;

pub(super) async fn invite(
    store: &Store,
    digest: &str,
    role: AccountRole,
    expires_at: i64,
) -> String {
    let new = NewInvitation {
        digest: digest.into(),
        role,
        note: "for a friend".into(),
        expires_at,
    };
    let made = store.insert_invitation(&new, BY).await.unwrap();
    made.invitation_id
}

pub(super) async fn accept(
    store: &Store,
    digest: &str,
    name: &str,
) -> Result<Option<Identity>, Error> {
    let new = NewAccount {
        names: &[name.to_owned()],
        password: "a hash",
        identity: None,
    };
    store.accept_invitation(digest, &new).await
}

/// Creates an account through its own invitation.
pub(super) async fn account(store: &Store, name: &str, role: AccountRole) -> Identity {
    invite(store, name, role, now_ms() + HOUR).await;
    accept(store, name, name).await.unwrap().unwrap()
}

/// The audit log entries of a subject, oldest first: actor, action, detail.
pub(super) async fn audited(store: &Store, subject: &str) -> Vec<(String, String, String)> {
    let entries = store.audit(Some(subject), "", 100).await.unwrap();
    let entries = entries.into_iter().rev();
    entries.map(|e| (e.actor, e.action, e.detail)).collect()
}

pub(super) fn audit_line(actor: &str, action: &str, detail: &str) -> (String, String, String) {
    (actor.into(), action.into(), detail.into())
}

pub(super) async fn sql(store: &Store, text: &'static str) {
    sqlx::query(text).execute(&store.pool).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invitation_followed_twice_makes_one_account() {
    on_both(async |store| {
        invite(&store, "link", AccountRole::Submitter, now_ms() + HOUR).await;
        let both = ["ada", "bob", "cyd", "dot"].map(|name| {
            let store = store.clone();
            tokio::spawn(async move { accept(&store, "link", name).await.unwrap() })
        });
        let mut made = Vec::new();
        for one in both {
            made.extend(one.await.unwrap());
        }
        let [who] = &made[..] else { panic!("{made:?}") };
        assert_eq!(who.role, AccountRole::Submitter);
        assert_eq!(store.accounts().await.unwrap().len(), 1);
        assert!(store.invitation("link").await.unwrap().is_none());
        assert!(store.invitations().await.unwrap().is_empty());
    })
    .await;
}

#[tokio::test]
async fn a_taken_name_does_not_use_up_the_invitation() {
    on_both(async |store| {
        account(&store, "ada", AccountRole::Reader).await;
        let id = invite(&store, "link", AccountRole::Admin, now_ms() + HOUR).await;
        let refused = accept(&store, "link", "ada").await.unwrap_err();
        assert!(matches!(&refused, Error::Conflict(text) if text.contains("`ada` is taken")));
        let open = store.invitation("link").await.unwrap().unwrap();
        assert_eq!(
            (open.invitation_id, open.role),
            (id.clone(), AccountRole::Admin)
        );
        store.withdraw_invitation(&id, BY).await.unwrap();
        assert!(accept(&store, "link", "bob").await.unwrap().is_none());
        let again = store.withdraw_invitation(&id, BY).await;
        assert!(matches!(again, Err(Error::NotFound { .. })));
        assert_eq!(
            audited(&store, &id).await,
            [
                audit_line("operator", "invitation.make", "as admin: for a friend"),
                audit_line("operator", "invitation.withdraw", ""),
            ]
        );
    })
    .await;
}

#[tokio::test]
async fn the_first_link_works_only_without_accounts() {
    on_both(async |store| {
        let first = |digest: &str| NewInvitation {
            digest: digest.into(),
            role: AccountRole::Admin,
            note: String::new(),
            expires_at: now_ms() + HOUR,
        };
        assert!(store.put_first_invitation(&first("one")).await.unwrap());
        assert!(store.put_first_invitation(&first("two")).await.unwrap());
        assert!(store.invitation("one").await.unwrap().is_none());
        assert!(store.invitation("two").await.unwrap().is_some());
        account(&store, "ada", AccountRole::Reader).await;
        assert!(store.invitation("two").await.unwrap().is_none());
        assert!(store.invitations().await.unwrap().is_empty());
        assert!(accept(&store, "two", "eve").await.unwrap().is_none());
        assert!(!store.put_first_invitation(&first("three")).await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn five_wrong_passwords_lock() {
    on_both(async |store| {
        let who = account(&store, "ada", AccountRole::Reader).await;
        let attempt = async || match store.attempt("ada").await.unwrap() {
            Attempt::Open(credentials) => Ok(credentials),
            Attempt::Locked { until } => Err(until - now_ms()),
            Attempt::Unknown => panic!("there is such an account"),
        };
        let about = |actual: i64, expect: i64| (expect - 5_000..=expect).contains(&actual);
        for _ in 0..4 {
            assert_eq!(attempt().await.unwrap().locks_for, 0);
        }
        assert_eq!(attempt().await.unwrap().locks_for, 60);
        let remaining = attempt().await.unwrap_err();
        assert!(about(remaining, 60_000), "{remaining}");

        // A minute later, the next wrong one doubles the lock.
        sql(&store, "UPDATE accounts SET locked_until = 0").await;
        let credentials = attempt().await.unwrap();
        assert_eq!((credentials.locks_for, &credentials.identity), (120, &who));
        let remaining = attempt().await.unwrap_err();
        assert!(about(remaining, 120_000), "{remaining}");

        // The right one resets the count.
        assert!(store.let_in(&credentials).await.unwrap());
        assert_eq!(attempt().await.unwrap().locks_for, 0);
        let signed_in = store.accounts().await.unwrap()[0].signed_in_at.clone();
        assert!(signed_in.is_some());
        assert!(matches!(
            store.attempt("eve").await.unwrap(),
            Attempt::Unknown
        ));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_parallel_guesses_five_are_checked() {
    on_both(async |store| {
        account(&store, "ada", AccountRole::Reader).await;
        let guesses = (0..20).map(|_| {
            let store = store.clone();
            tokio::spawn(async move { store.attempt("ada").await.unwrap() })
        });
        let mut open = 0;
        for guess in guesses.collect::<Vec<_>>() {
            open += i32::from(matches!(guess.await.unwrap(), Attempt::Open(_)));
        }
        assert_eq!(open, 5);
    })
    .await;
}

#[tokio::test]
async fn an_old_password_does_not_sign_in() {
    on_both(async |store| {
        account(&store, "ada", AccountRole::Reader).await;
        let credentials = async || match store.attempt("ada").await.unwrap() {
            Attempt::Open(credentials) => credentials,
            other => panic!("{other:?}"),
        };
        let old = credentials().await;
        let action = "account.reset_password";
        store.set_password("ada", "new", action, BY).await.unwrap();
        assert!(!store.let_in(&old).await.unwrap());
        let new = credentials().await;
        assert_eq!(new.password, "new");
        assert!(!format!("{new:?}").contains("new"));
        account(&store, "root", AccountRole::Admin).await;
        store.set_disabled("ada", true, BY).await.unwrap();
        assert!(!store.let_in(&new).await.unwrap());
        assert!(credentials().await.disabled);
        let nobody = store.set_password("eve", "new", action, BY).await;
        assert!(matches!(nobody, Err(Error::NotFound { .. })));
    })
    .await;
}

#[tokio::test]
async fn the_last_administrator_stays() {
    on_both(async |store| {
        let only = |done: Result<(), Error>| match done {
            Err(Error::Conflict(text)) => assert!(text.contains("last administrator"), "{text}"),
            other => panic!("{other:?}"),
        };
        account(&store, "ada", AccountRole::Admin).await;
        account(&store, "bob", AccountRole::Reader).await;
        only(store.set_role("ada", AccountRole::Submitter, BY).await);
        only(store.set_disabled("ada", true, BY).await);
        store.set_role("ada", AccountRole::Admin, BY).await.unwrap();
        store.set_role("bob", AccountRole::Admin, BY).await.unwrap();
        store.set_disabled("bob", true, BY).await.unwrap();
        // A disabled administrator does not count.
        only(store.set_role("ada", AccountRole::Reader, BY).await);
        store.set_disabled("bob", true, BY).await.unwrap();
        store
            .set_role("bob", AccountRole::Reader, BY)
            .await
            .unwrap();
        store.set_disabled("bob", false, BY).await.unwrap();
        let roles = store.accounts().await.unwrap();
        let roles: Vec<_> = roles
            .iter()
            .map(|a| (&*a.name, a.role, a.disabled))
            .collect();
        assert_eq!(
            roles,
            [
                ("ada", AccountRole::Admin, false),
                ("bob", AccountRole::Reader, false)
            ]
        );
        // A call that changes nothing is not logged.
        assert_eq!(
            audited(&store, "bob").await[1..],
            [
                audit_line("operator", "account.set_role", "from reader to admin"),
                audit_line("operator", "account.disable", ""),
                audit_line("operator", "account.set_role", "from admin to reader"),
                audit_line("operator", "account.enable", ""),
            ]
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_administrators_cannot_dismiss_each_other() {
    on_both(async |store| {
        for name in ["ada", "bob"] {
            account(&store, name, AccountRole::Admin).await;
        }
        for round in 0..8 {
            let both = ["ada", "bob"].map(|name| {
                let store = store.clone();
                tokio::spawn(async move { store.set_role(name, AccountRole::Reader, BY).await })
            });
            for one in both {
                let _ = one.await.unwrap();
            }
            let accounts = store.accounts().await.unwrap();
            let admins = accounts.iter().filter(|a| a.role == AccountRole::Admin);
            assert_eq!(admins.count(), 1, "round {round}");
            sql(&store, "UPDATE accounts SET role = 'admin'").await;
        }
    })
    .await;
}
