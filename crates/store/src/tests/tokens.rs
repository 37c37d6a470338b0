//! Sessions and tokens: their accounts, and how they end.

use swe_ci_base::clock::now_ms;
use swe_ci_views::account::{AccountRole, Identity, TokenScope};

use super::accounts::{BY, HOUR, accept, account, audit_line, audited, invite, sql};
use super::*;
use crate::{NewToken, SessionData};

#[tokio::test]
async fn sessions_end_with_their_account_and_password() {
    on_both(async |store| {
        let ada = account(&store, "ada", AccountRole::Reader).await;
        let bob = account(&store, "bob", AccountRole::Reader).await;
        let session = |who: &Identity, expires_at| SessionData {
            account_id: Some(who.account_id.clone()),
            data: "{\"secret\":1}".into(),
            expires_at,
        };
        let soon = now_ms() + HOUR;
        let begin = async |digest: &str, who: &Identity| {
            let new = session(who, soon);
            assert!(store.insert_session(digest, &new).await.unwrap());
        };
        begin("a", &ada).await;
        assert!(
            !store
                .insert_session("a", &session(&bob, soon))
                .await
                .unwrap()
        );
        let stored = store.session("a").await.unwrap().unwrap();
        assert_eq!(stored, session(&ada, soon));
        assert!(!format!("{stored:?}").contains("secret"));
        store
            .update_session("a", &session(&ada, soon + 1))
            .await
            .unwrap();
        assert_eq!(
            store.session("a").await.unwrap().unwrap().expires_at,
            soon + 1
        );

        begin("b", &bob).await;
        store
            .set_password("ada", "new", "account.reset_password", BY)
            .await
            .unwrap();
        assert!(store.session("a").await.unwrap().is_none());
        assert!(store.session("b").await.unwrap().is_some());
        // A request that was running does not recreate the session.
        store
            .update_session("a", &session(&ada, soon))
            .await
            .unwrap();
        assert!(store.session("a").await.unwrap().is_none());

        store.set_disabled("bob", true, BY).await.unwrap();
        assert!(store.session("b").await.unwrap().is_none());
        assert!(store.identity(&bob.account_id).await.unwrap().is_none());
        assert_eq!(
            store.identity(&ada.account_id).await.unwrap(),
            Some(ada.clone())
        );
        begin("c", &ada).await;
        store.end_session("c").await.unwrap();
        store.end_session("c").await.unwrap();
        assert!(store.session("c").await.unwrap().is_none());
    })
    .await;
}

#[tokio::test]
async fn expired_sessions_and_tokens_are_invalid_and_swept() {
    on_both(async |store| {
        let ada = account(&store, "ada", AccountRole::Reader).await;
        for (name, expires_at) in [("old", now_ms() - 1), ("new", now_ms() + HOUR)] {
            invite(&store, name, AccountRole::Reader, expires_at).await;
            let session = SessionData {
                account_id: Some(ada.account_id.clone()),
                data: String::new(),
                expires_at,
            };
            assert!(store.insert_session(name, &session).await.unwrap());
            let token = NewToken {
                account_id: &ada.account_id,
                digest: name,
                name,
                scope: TokenScope::Reader,
                expires_at,
            };
            store.insert_token(&token, BY).await.unwrap();
        }
        let good = async |digest: &str| {
            (
                store.invitation(digest).await.unwrap().is_some(),
                store.session(digest).await.unwrap().is_some(),
                store.bearer(digest).await.unwrap().is_some(),
            )
        };
        assert_eq!(good("old").await, (false, false, false));
        assert!(accept(&store, "old", "eve").await.unwrap().is_none());
        assert_eq!(store.tokens(&ada.account_id).await.unwrap().len(), 1);
        assert_eq!(store.sweep_accounts().await.unwrap(), 3);
        assert_eq!(store.sweep_accounts().await.unwrap(), 0);
        assert_eq!(good("new").await, (true, true, true));
    })
    .await;
}

#[tokio::test]
async fn a_token_has_the_lower_of_scope_and_role() {
    on_both(async |store| {
        use AccountRole::{Admin, Reader, Submitter};
        account(&store, "root", Admin).await;
        let ada = account(&store, "ada", Submitter).await;
        let make = async |digest: &str, scope: TokenScope| {
            let new = NewToken {
                account_id: &ada.account_id,
                digest,
                name: digest,
                scope,
                expires_at: now_ms() + HOUR,
            };
            store.insert_token(&new, BY).await.unwrap().token_id
        };
        let (reads, all) = (
            make("r", Reader.into()).await,
            make("a", Admin.into()).await,
        );
        let check = async |digest: &str, expect: Option<AccountRole>| {
            let bearer = store.bearer(digest).await.unwrap();
            assert_eq!(bearer.map(|who| who.role), expect, "{digest}");
        };
        check("r", Some(Reader)).await;
        check("a", Some(Submitter)).await;
        check("x", None).await;
        store.set_role("ada", Admin, BY).await.unwrap();
        check("r", Some(Reader)).await;
        check("a", Some(Admin)).await;
        store.set_disabled("ada", true, BY).await.unwrap();
        check("a", None).await;
        store.set_disabled("ada", false, BY).await.unwrap();

        // Use is recorded once a minute.
        let used = "UPDATE api_tokens SET used_at = created_at - 30000";
        let late = "UPDATE api_tokens SET used_at = created_at - 90000";
        for (before, expect) in [(used, false), (late, true)] {
            sql(&store, before).await;
            let used_at = async || {
                store.tokens(&ada.account_id).await.unwrap()[0]
                    .used_at
                    .clone()
            };
            let before_call = used_at().await;
            check("a", Some(Admin)).await;
            assert_eq!(used_at().await != before_call, expect, "{before}");
        }

        // One's own token, or anybody's.
        let not_found = |done| assert!(matches!(done, Err(Error::NotFound { .. })));
        not_found(store.remove_token(&reads, Some("somebody"), BY).await);
        store
            .remove_token(&reads, Some(&ada.account_id), BY)
            .await
            .unwrap();
        not_found(store.remove_token(&reads, None, BY).await);
        store.remove_token(&all, None, BY).await.unwrap();
        check("r", None).await;
        check("a", None).await;
        assert_eq!(
            audited(&store, &all).await,
            [
                audit_line("operator", "token.make", "a, as admin"),
                audit_line("operator", "token.revoke", "a"),
            ]
        );
    })
    .await;
}

#[tokio::test]
async fn a_token_reads_metrics_while_its_owner_is_an_administrator() {
    on_both(async |store| {
        use AccountRole::{Admin, Reader, Submitter};
        account(&store, "root", Admin).await;
        let ada = account(&store, "ada", Submitter).await;
        let new = NewToken {
            account_id: &ada.account_id,
            digest: "m",
            name: "scraper",
            scope: TokenScope::Metrics,
            expires_at: now_ms() + HOUR,
        };
        store.insert_token(&new, BY).await.unwrap();
        for (role, expect) in [(Submitter, false), (Admin, true), (Reader, false)] {
            store.set_role("ada", role, BY).await.unwrap();
            let who = store.bearer("m").await.unwrap().unwrap();
            assert_eq!((who.role, who.reads_metrics), (Reader, expect), "{role:?}");
        }
    })
    .await;
}
