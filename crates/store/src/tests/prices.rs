//! The price table: the latest line that is not in the future applies.

use swe_ci_core::agent::PriceLine;
use swe_ci_core::usage::Prices;

use super::*;

fn price(model: &str, from: &str, input: f64, cached: Option<f64>) -> PriceLine {
    PriceLine {
        model: model.into(),
        from: from.into(),
        prices: Prices {
            input,
            cached,
            output: 5.0 * input,
        },
    }
}

#[tokio::test]
async fn prices_apply_from_their_day() {
    on_both(async |store| {
        let lines = [
            price("m", "2026-06-01", 3.0, Some(0.3)),
            price("m", "2026-01-01", 4.0, None),
            price("n", "2026-03-01", 0.1, Some(0.0)),
        ];
        for written in [
            &lines[1],
            &price("m", "2026-06-01", 9.0, None),
            &lines[2],
            &lines[0],
        ] {
            store.put_price(written, &Actor::Operator).await.unwrap();
        }
        assert_eq!(store.prices().await.unwrap(), lines);

        let check = async |model: &str, day: &str, expect: Option<&PriceLine>| {
            let prices = store.price_on(model, day).await.unwrap();
            assert_eq!(prices, expect.map(|price| price.prices), "{model} {day}");
        };
        check("m", "2025-12-31", None).await;
        check("m", "2026-01-01", Some(&lines[1])).await;
        check("m", "2026-05-31", Some(&lines[1])).await;
        check("m", "2026-06-01", Some(&lines[0])).await;
        check("m", "2030-01-01", Some(&lines[0])).await;
        check("o", "2030-01-01", None).await;

        store
            .remove_price("m", "2026-06-01", &Actor::Operator)
            .await
            .unwrap();
        check("m", "2030-01-01", Some(&lines[1])).await;
        let missing = store
            .remove_price("m", "2026-06-01", &Actor::Operator)
            .await
            .unwrap_err();
        assert_eq!(missing.to_string(), "there is no price `m from 2026-06-01`");
    })
    .await;
}
