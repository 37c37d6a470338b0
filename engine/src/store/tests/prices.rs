//! The price table: the latest line that is not in the future holds.

use swe_ci_core::agent::PriceLine;
use swe_ci_core::usage::Prices;

use super::*;

fn line(model: &str, from: &str, input: f64, cached: Option<f64>) -> PriceLine {
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
async fn prices_hold_from_a_day_on() {
    on_both(async |store| {
        let lines = [
            line("m", "2026-06-01", 3.0, Some(0.3)),
            line("m", "2026-01-01", 4.0, None),
            line("n", "2026-03-01", 0.1, Some(0.0)),
        ];
        for written in [
            &lines[1],
            &line("m", "2026-06-01", 9.0, None),
            &lines[2],
            &lines[0],
        ] {
            store.put_price(written, &Actor::Operator).await.unwrap();
        }
        assert_eq!(store.prices().await.unwrap(), lines);

        let check = async |model: &str, day: &str, expect: Option<&PriceLine>| {
            let found = store.price_on(model, day).await.unwrap();
            assert_eq!(found, expect.map(|line| line.prices), "{model} {day}");
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
        let gone = store
            .remove_price("m", "2026-06-01", &Actor::Operator)
            .await
            .unwrap_err();
        assert_eq!(gone.to_string(), "there is no price `m from 2026-06-01`");
    })
    .await;
}
