//! A profile of system calls, in the format of Docker's, as programs that bubblewrap
//! hands to the kernel.

use std::sync::{Mutex, PoisonError};

use anyhow::Context;
use seccompiler::{TargetArch, compile_from_json};
use serde_json::{Value, json};

/// What the kernel answers to a call that is not allowed: `EPERM`.
const REFUSED: u32 = 1;

type Programs = [Vec<u8>; 2];

/// The programs of the latest profile: every container has the same.
static LATEST: Mutex<Option<(String, Programs)>> = Mutex::new(None);

/// As [`compile`], once for the same profile.
pub fn programs(profile: &str) -> anyhow::Result<Programs> {
    let mut latest = LATEST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((of, programs)) = &*latest
        && of == profile
    {
        return Ok(programs.clone());
    }
    let programs = compile(profile)?;
    *latest = Some((profile.to_owned(), programs.clone()));
    Ok(programs)
}

/// The programs of a profile: the first allows calls, the second refuses some
/// of them with errors of their own. The kernel asks both, and a refusal wins.
fn compile(profile: &str) -> anyhow::Result<Programs> {
    let profile: Value = serde_json::from_str(profile).context("the seccomp profile is no JSON")?;
    let rules = profile["syscalls"].as_array().context("it has no calls")?;
    let (mut allowed, mut refused, mut errno) = (Vec::new(), Vec::new(), REFUSED);
    for rule in rules {
        let names = rule["names"].as_array().into_iter().flatten();
        for name in names.filter(|name| is_known(name)) {
            let args = conditions(rule)?;
            if rule["action"] == "SCMP_ACT_ERRNO" {
                errno = u32::try_from(rule["errnoRet"].as_u64().unwrap_or(REFUSED.into()))?;
                refused.push(json!({ "syscall": name }));
                allowed.push(json!({ "syscall": name }));
            } else if args.is_empty() {
                allowed.push(json!({ "syscall": name }));
            } else {
                allowed.push(json!({ "syscall": name, "args": args }));
            }
        }
    }
    let (allow, refuse) = (json!("allow"), |errno: u32| json!({ "errno": errno }));
    Ok([
        compiled(&refuse(REFUSED), &allow, &allowed)?,
        compiled(&allow, &refuse(errno), &refused)?,
    ])
}

fn conditions(rule: &Value) -> anyhow::Result<Vec<Value>> {
    let args = rule["args"].as_array().into_iter().flatten();
    let condition = |arg: &Value| {
        let (op, value) = match arg["op"].as_str() {
            Some("SCMP_CMP_EQ") => (json!("eq"), &arg["value"]),
            Some("SCMP_CMP_MASKED_EQ") => (json!({ "masked_eq": arg["value"] }), &arg["valueTwo"]),
            other => anyhow::bail!("the seccomp profile compares by {other:?}"),
        };
        Ok(json!({ "index": arg["index"], "type": "qword", "op": op, "val": value }))
    };
    args.map(condition).collect()
}

/// Whether this processor has the call: profiles name those of all.
fn is_known(name: &Value) -> bool {
    let rule = json!({ "syscall": name });
    compiled(&json!("allow"), &json!({ "errno": REFUSED }), &[rule]).is_ok()
}

fn compiled(otherwise: &Value, action: &Value, rules: &[Value]) -> anyhow::Result<Vec<u8>> {
    let filter = json!({ "all": {
        "mismatch_action": otherwise, "match_action": action, "filter": rules,
    } });
    let arch: TargetArch = std::env::consts::ARCH.try_into()?;
    let mut programs = compile_from_json(filter.to_string().as_bytes(), arch)?;
    let program = programs.remove("all").unwrap_or_default();
    let bytes = program.iter().flat_map(|step| {
        let [a, b] = step.code.to_ne_bytes();
        let [c, d, e, f] = step.k.to_ne_bytes();
        [a, b, step.jt, step.jf, c, d, e, f]
    });
    Ok(bytes.collect())
}
