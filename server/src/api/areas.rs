//! The operations of the API by area, for its page.

use std::sync::{Arc, OnceLock};

use swe_ci_app::{ApiArea, ApiOperation, ApiParameter};
use utoipa::openapi::path::{Operation, Parameter};
use utoipa::openapi::{RefOr, Required};

use super::document;

/// In the order of the description.
pub(crate) fn areas() -> Arc<[ApiArea]> {
    static AREAS: OnceLock<Arc<[ApiArea]>> = OnceLock::new();
    AREAS.get_or_init(|| collected().into()).clone()
}

fn collected() -> Vec<ApiArea> {
    let (_, document) = document();
    let tags = document.tags.unwrap_or_default().into_iter();
    let mut areas: Vec<ApiArea> = tags
        .map(|tag| ApiArea {
            name: tag.name,
            about: tag.description.unwrap_or_default(),
            operations: Vec::new(),
        })
        .collect();
    for (path, item) in document.paths.paths {
        let methods = [
            ("GET", item.get),
            ("POST", item.post),
            ("PUT", item.put),
            ("PATCH", item.patch),
            ("DELETE", item.delete),
        ];
        for (method, operation) in methods {
            let Some(operation) = operation else { continue };
            let tag = operation.tags.as_ref().and_then(|tags| tags.first());
            if let Some(area) = areas.iter_mut().find(|area| Some(&area.name) == tag) {
                area.operations.push(described(method, &path, operation));
            }
        }
    }
    areas
}

fn described(method: &'static str, path: &str, operation: Operation) -> ApiOperation {
    let parameters = operation.parameters.unwrap_or_default().into_iter();
    let named = parameters.filter_map(|parameter| match parameter {
        RefOr::T(parameter) => Some(named(parameter)),
        RefOr::Ref(_) => None,
    });
    let about = [operation.summary, operation.description];
    let about: Vec<String> = about.into_iter().flatten().collect();
    // Visitors may ask where no security is among the ways.
    let needed = operation.security.unwrap_or_default();
    ApiOperation {
        method,
        path: path.to_owned(),
        about: about.join(" "),
        parameters: named.collect(),
        has_body: operation.request_body.is_some(),
        needs_token: needed.len() == 1,
    }
}

fn named(parameter: Parameter) -> ApiParameter {
    ApiParameter {
        name: parameter.name,
        about: parameter.description.unwrap_or_default(),
        is_required: matches!(parameter.required, Required::True),
    }
}
