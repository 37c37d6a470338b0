//! What one can take away and bring along.

use leptos::prelude::*;

use super::{DATA, LICENCE, SUBMITTING, Section};

const RUN: &str = "\
# my-model.toml
model = \"my-model\"
kind = \"measured\"
split = \"demo\"
harness = { name = \"builtin\" }
endpoint = { url = \"https://api.example.org/v1\", model = \"my-model-1\", key = \"my-key\" }
budget = { usd = 25.0 }";

const IMPORT: &str = "swe-ci import-results --from reference FOLDER --metadata CSV --model NAME";

#[component]
pub(super) fn Submitting() -> impl IntoView {
    view! {
        <Section place=SUBMITTING>
            <p>"Runs are queued on the machine that works on them, by whoever runs this site. A file says which model, on which split, by which harness, where the model answers and what it may cost:"</p>
            <pre class="command" tabindex="0"><code>{RUN}</code></pre>
            <pre class="command"><code>"swe-ci run submit my-model.toml"</code></pre>
            <p>
                "The command prints the run's id. "<a href="/runs">"Runs"</a>" shows it at once, and its page every step of it. "
                <code>"swe-ci run submit --help"</code>" names everything a file may say, "
                <code>"swe-ci run submit --human --split demo"</code>" queues the human baseline."
            </p>
            <p>"Experiments that were run elsewhere are imported from their files, which are checked as a whole before anything is written:"</p>
            <pre class="command" tabindex="0"><code>{IMPORT}</code></pre>
            <p>
                <code>"swe-ci score"</code>" says what such files come to and writes nothing. It needs neither a server nor a database. The "
                <a href="/api/v1/openapi.json" rel="external">"API"</a>" only reads."
            </p>
        </Section>
    }
}

#[component]
pub(super) fn Data() -> impl IntoView {
    view! {
        <Section place=DATA>
            <p>"What a page shows, a program can read. Every number is in the API, and what is a table is a file:"</p>
            <ul>
                <li><a href="/api/v1/leaderboard.csv" rel="external" download="">"The leaderboard as CSV"</a>" or "<a href="/api/v1/leaderboard" rel="external">"JSON"</a>", of the first split. The links beside the table give exactly the rows it shows."</li>
                <li><a href="/figures">"Each figure"</a>" as a picture, as its numbers, and to put into another page."</li>
                <li><a href="/api/v1/runs" rel="external">"Runs"</a>", "<a href="/api/v1/tasks" rel="external">"tasks"</a>" and "<a href="/api/v1/splits" rel="external">"splits"</a>" as JSON, with every iteration below."</li>
                <li><a href="/api/v1/published" rel="external">"Figures as they were published"</a>", with their source."</li>
                <li><a href="/api/v1/openapi.json" rel="external">"The description of the API"</a>" (OpenAPI)."</li>
            </ul>
            <p>
                "New results come by "<a href="/feed.xml" rel="external" type="application/atom+xml">"feed"</a>" (Atom): the last fifty runs that were finished or imported, each with its score. "
                "“Cite this view” below the leaderboard gives the address, the date and what the ranking rests on, as text and as BibTeX."
            </p>
        </Section>
    }
}

#[component]
pub(super) fn Licence() -> impl IntoView {
    view! {
        <Section place=LICENCE>
            <p>"swe-ci is free software under the MIT licence or the Apache licence 2.0, whichever you choose. The code in the tasks belongs to its projects and stays under their licences. Rows tagged “imported” and figures as published are the work of whom they name."</p>
        </Section>
    }
}
