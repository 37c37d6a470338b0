//! Fields of forms, with labels, hints and validation errors.

use leptos::prelude::*;

/// A text input with its label above and its validation error below.
#[component]
pub fn Field(
    /// Its name in the form and its id on the page.
    name: &'static str,
    #[prop(into)] label: String,
    /// As in `<input type>`.
    #[prop(default = "text")]
    kind: &'static str,
    /// As in `<input autocomplete>`.
    #[prop(default = "off")]
    autocomplete: &'static str,
    /// The initial value; never given for passwords.
    #[prop(optional_no_strip, into)]
    value: Option<String>,
    /// A hint, in a sentence.
    #[prop(optional, into)]
    hint: Option<String>,
    /// The validation error; the page then focuses this field.
    #[prop(optional_no_strip, into)]
    problem: Option<String>,
    #[prop(optional)] required: bool,
) -> impl IntoView {
    let id = format!("field-{name}");
    let described = Described::new(&id, hint, problem);
    let wrong = described.is_wrong();
    view! {
        <div class="form-row">
            <label for=id.clone()>{label}</label>
            <input
                id=id
                name=name
                type=kind
                value=value
                autocomplete=autocomplete
                autocapitalize="none"
                spellcheck="false"
                required=required
                autofocus=wrong
                aria-invalid=wrong.then_some("true")
                aria-describedby=described.ids()
            />
            {described.texts()}
        </div>
    }
}

/// A menu in a form.
#[component]
pub fn Select(
    /// Its name in the form and its id on the page.
    name: &'static str,
    #[prop(into)] label: String,
    /// Value, label, and whether it is selected.
    options: Vec<(&'static str, &'static str, bool)>,
    #[prop(optional, into)] hint: Option<String>,
    #[prop(optional_no_strip, into)] problem: Option<String>,
) -> impl IntoView {
    let id = format!("field-{name}");
    let described = Described::new(&id, hint, problem);
    let wrong = described.is_wrong();
    let options = options.into_iter().map(|(value, words, chosen)| {
        view! { <option value=value selected=chosen>{words}</option> }
    });
    view! {
        <div class="form-row">
            <label for=id.clone()>{label}</label>
            <select
                id=id
                name=name
                autofocus=wrong
                aria-invalid=wrong.then_some("true")
                aria-describedby=described.ids()
            >
                {options.collect_view()}
            </select>
            {described.texts()}
        </div>
    }
}

/// The texts below a field.
struct Described {
    id: String,
    hint: Option<String>,
    problem: Option<String>,
}

impl Described {
    fn new(id: &str, hint: Option<String>, problem: Option<String>) -> Self {
        Self {
            id: id.to_owned(),
            hint,
            problem,
        }
    }

    fn is_wrong(&self) -> bool {
        self.problem.is_some()
    }

    /// The texts that a screen reader reads with the field.
    fn ids(&self) -> Option<String> {
        let problem = self.problem.iter().map(|_| format!("{}-problem", self.id));
        let hint = self.hint.iter().map(|_| format!("{}-hint", self.id));
        let ids: Vec<String> = problem.chain(hint).collect();
        (!ids.is_empty()).then(|| ids.join(" "))
    }

    fn texts(self) -> impl IntoView {
        let Self { id, hint, problem } = self;
        let (problem_id, hint_id) = (format!("{id}-problem"), format!("{id}-hint"));
        view! {
            {problem.map(|problem| view! { <p class="form-problem" id=problem_id>{problem}</p> })}
            {hint.map(|hint| view! { <p class="quiet" id=hint_id>{hint}</p> })}
        }
    }
}
