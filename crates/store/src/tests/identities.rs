//! Sign-in with identities of other sites.

use swe_ci_base::clock::now_ms;
use swe_ci_views::account::{AccountRole, Identity};

use super::accounts::{BY, HOUR, account, audit_line, audited, invite};
use super::*;
use crate::{Attempt, Entry, NewAccount, ProvenIdentity};

fn proven(provider: &str, subject: &str) -> ProvenIdentity {
    ProvenIdentity {
        provider: provider.into(),
        subject: subject.into(),
        shown_as: format!("{subject}@{provider}"),
    }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Creates an account without a password.
async fn uninvited_account(
    store: &Store,
    name: &str,
    who: &ProvenIdentity,
) -> Result<Identity, Error> {
    let new = NewAccount {
        names: &names(&[name, &format!("{name}-2")]),
        password: "",
        identity: Some(who),
    };
    let role = AccountRole::Reader;
    store.insert_account(&new, role, "corp").await
}

fn assert_conflict<T: std::fmt::Debug>(done: Result<T, Error>, expect: &str) {
    match done {
        Err(Error::Conflict(text)) => assert!(text.contains(expect), "{text}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_linked_identity_signs_in() {
    on_both(async |store| {
        let ada = account(&store, "ada", AccountRole::Submitter).await;
        let by = Actor::Account(ada.clone());
        let who = proven("corp", "42");
        assert_eq!(store.enter(&who).await.unwrap(), Entry::Unknown);
        for _ in 0..2 {
            store.link(&ada.account_id, &who, 20, &by).await.unwrap();
        }
        let renamed = ProvenIdentity {
            shown_as: "lovelace".into(),
            ..who.clone()
        };
        assert_eq!(store.enter(&renamed).await.unwrap(), Entry::In(ada.clone()));
        let ways = store.ways_in(&ada.account_id).await.unwrap();
        let [linked] = &ways.identities[..] else {
            panic!("{ways:?}")
        };
        assert!(ways.has_password && linked.last_used.is_some());
        assert_eq!(linked.shown_as, "lovelace");
        // The same subject at another provider is another person.
        let other = proven("club", "42");
        assert_eq!(store.enter(&other).await.unwrap(), Entry::Unknown);

        account(&store, "root", AccountRole::Admin).await;
        store.set_disabled("ada", true, BY).await.unwrap();
        assert_eq!(
            store.enter(&who).await.unwrap(),
            Entry::Disabled("ada".into())
        );
        assert_eq!(
            audited(&store, "ada").await[1..],
            [
                audit_line("ada", "account.link_identity", "corp: 42@corp"),
                audit_line("ada", "account.sign_in", "corp: lovelace"),
                audit_line("operator", "account.disable", ""),
            ]
        );
    })
    .await;
}

#[tokio::test]
async fn an_identity_is_linked_to_one_account() {
    on_both(async |store| {
        let ada = account(&store, "ada", AccountRole::Reader).await;
        let bob = account(&store, "bob", AccountRole::Reader).await;
        let who = proven("corp", "42");
        store.link(&ada.account_id, &who, 20, BY).await.unwrap();
        let again = store.link(&bob.account_id, &who, 20, BY).await;
        assert_conflict(again, "another account");
        assert_conflict(
            uninvited_account(&store, "eve", &who).await,
            "another account",
        );
        assert_eq!(store.accounts().await.unwrap().len(), 2);
        let second = proven("corp", "43");
        let third = proven("corp", "44");
        store.link(&ada.account_id, &second, 2, BY).await.unwrap();
        let many = store.link(&ada.account_id, &third, 2, BY).await;
        assert_conflict(many, "2 ways in already");
    })
    .await;
}

#[tokio::test]
async fn an_identity_accepts_an_invitation() {
    on_both(async |store| {
        account(&store, "ada", AccountRole::Reader).await;
        invite(&store, "link", AccountRole::Submitter, now_ms() + HOUR).await;
        let who = proven("corp", "42");
        let new = NewAccount {
            names: &names(&["ada", "ada-2"]),
            password: "",
            identity: Some(&who),
        };
        let made = store.accept_invitation("link", &new).await.unwrap();
        let made = made.unwrap();
        assert_eq!(
            (made.name.as_str(), made.role),
            ("ada-2", AccountRole::Submitter)
        );
        assert_eq!(store.enter(&who).await.unwrap(), Entry::In(made));
        let again = store.accept_invitation("link", &new).await.unwrap();
        assert!(again.is_none());

        // An identity with an account cannot accept an invitation for another.
        invite(&store, "other", AccountRole::Admin, now_ms() + HOUR).await;
        let free = names(&["ada-3"]);
        let new = NewAccount {
            names: &free,
            ..new
        };
        let refused = store.accept_invitation("other", &new).await;
        assert_conflict(refused, "another account");
        assert!(store.invitation("other").await.unwrap().is_some());
    })
    .await;
}

#[tokio::test]
async fn the_last_sign_in_method_stays() {
    on_both(async |store| {
        let (corp, club) = (proven("corp", "42"), proven("club", "7"));
        let ada = uninvited_account(&store, "ada", &corp).await.unwrap();
        let id = &ada.account_id;
        let both = names(&["corp", "club"]);
        let unlink = async |who: &ProvenIdentity, offered: &[String]| {
            let (provider, subject) = (&who.provider, &who.subject);
            store.unlink(id, provider, subject, offered, BY).await
        };
        assert_conflict(unlink(&corp, &both).await, "last way");
        store.link(id, &club, 20, BY).await.unwrap();
        // An identity of a provider that is no longer offered is no sign-in
        // method.
        assert_conflict(unlink(&corp, &names(&["corp"])).await, "last way");
        unlink(&corp, &both).await.unwrap();
        assert_eq!(store.enter(&corp).await.unwrap(), Entry::Unknown);
        let again = unlink(&corp, &both).await;
        assert!(matches!(again, Err(Error::NotFound { .. })));
        assert_conflict(unlink(&club, &both).await, "last way");

        store.set_first_password(id, "a hash", BY).await.unwrap();
        let again = store.set_first_password(id, "another", BY).await;
        assert_conflict(again, "has a password");
        unlink(&club, &both).await.unwrap();
        let ways = store.ways_in(id).await.unwrap();
        assert!(ways.has_password && ways.identities.is_empty());
        assert!(matches!(
            store.attempt("ada").await.unwrap(),
            Attempt::Open(credentials) if credentials.password == "a hash"
        ));
        // Nobody can unlink another account's identity.
        let bob = account(&store, "bob", AccountRole::Reader).await;
        store.link(id, &corp, 20, BY).await.unwrap();
        let other = store.unlink(&bob.account_id, "corp", "42", &both, BY).await;
        assert!(matches!(other, Err(Error::NotFound { .. })));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_parallel_unlinks_leave_one_identity() {
    on_both(async |store| {
        let all = names(&["corp"]);
        for round in 0..8 {
            let ways = [1, 2].map(|n| proven("corp", &format!("{round}-{n}")));
            let name = format!("ada-of-{round}");
            let ada = uninvited_account(&store, &name, &ways[0]).await.unwrap();
            store.link(&ada.account_id, &ways[1], 20, BY).await.unwrap();
            let both = ways.map(|way| {
                let (store, all, id) = (store.clone(), all.clone(), ada.account_id.clone());
                tokio::spawn(async move {
                    store
                        .unlink(&id, &way.provider, &way.subject, &all, BY)
                        .await
                })
            });
            for one in both {
                let _ = one.await.unwrap();
            }
            let remaining = store.ways_in(&ada.account_id).await.unwrap();
            assert_eq!(remaining.identities.len(), 1, "round {round}");
        }
    })
    .await;
}
