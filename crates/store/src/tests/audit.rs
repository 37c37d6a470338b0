//! The audit log holds every action that happened, and no other.

use swe_ci_views::account::{AccountRole, Visibility};

use super::accounts::{BY, account, audit_line, audited};
use super::*;

#[tokio::test]
async fn who_did_what_newest_first() {
    on_both(async |store| {
        let ada = account(&store, "ada", AccountRole::Submitter).await;
        let by = Actor::Account(ada);
        store
            .note_refusal("", "unknown name", &Actor::Visitor)
            .await
            .unwrap();
        let id = run(&store, &[("a", 1.0)]).await;
        let before = store.changes().await.unwrap();
        store.withdraw(&id, "a mistake", &by).await.unwrap();
        store.withdraw(&id, "another", &by).await.unwrap();
        let withdrawn = store.run(&id).await.unwrap().withdrawn;
        assert_eq!(withdrawn.as_deref(), Some("a mistake"));
        store.publish(&id, BY).await.unwrap();
        store.publish(&id, BY).await.unwrap();
        assert_eq!(store.changes().await.unwrap(), before + 2);
        assert_eq!(store.run(&id).await.unwrap().withdrawn, None);
        let standing = store.standing(&id).await.unwrap();
        assert_eq!(standing.visibility, Visibility::Public);
        let model = RunConfig::human("s").model;
        assert_eq!(
            audited(&store, &id).await,
            [
                audit_line("operator", "run.submit", &format!("public: {model}")),
                audit_line("ada", "run.withdraw", "a mistake"),
                audit_line("operator", "run.publish", ""),
            ]
        );

        let all = store.audit(None, "", 100).await.unwrap();
        let actions: Vec<&str> = all.iter().map(|e| &*e.action).collect();
        assert_eq!(
            actions,
            [
                "run.publish",
                "run.withdraw",
                "run.submit",
                "account.sign_in_failed",
                "account.make",
                "invitation.make"
            ]
        );
        let page = store.audit(None, &all[1].entry_id, 2).await.unwrap();
        assert_eq!(page, all[2..4]);
    })
    .await;
}

#[tokio::test]
async fn a_failed_action_is_not_logged() {
    on_both(async |store| {
        let done = store.remove_price("m", "2026-01-01", BY).await;
        assert!(done.is_err());
        assert!(
            store
                .remove_key(&swe_ci_core::permissions::Keyring::Operator, "k", BY)
                .await
                .is_err()
        );
        assert!(store.set_role("eve", AccountRole::Admin, BY).await.is_err());
        assert!(store.cancel_run("none", BY).await.is_err());
        assert!(store.remove_token("none", None, BY).await.is_err());
        assert!(store.audit(None, "", 1).await.unwrap().is_empty());
    })
    .await;
}
