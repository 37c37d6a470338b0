//! Submitting results, downloading data, and the licence.

use leptos::prelude::*;

const RUN: &str = "\
# my-model.toml
model = \"my-model\"
kind = \"measured\"
split = \"demo\"
harness = { name = \"builtin\" }
endpoint = { url = \"https://api.example.org/v1\", model = \"my-model-1\", key = \"my-key\" }
budget = { usd = 25.0 }";

const IMPORT: &str = "swe-ci import-results --from reference FOLDER --metadata CSV --model NAME";

pub(super) fn submitting() -> AnyView {
    view! {
        <p>"Operators of this site queue runs on the machine that executes them. A file names the model, the split, the harness, the model's endpoint and the budget:"</p>
        <pre class="command" tabindex="0"><code>{RUN}</code></pre>
        <pre class="command" tabindex="0"><code>"swe-ci run submit my-model.toml"</code></pre>
        <p>
            "The command prints the run's id. "<a href="/runs">"Runs"</a>" lists it at once, and its page shows every step. "
            <code>"swe-ci run submit --help"</code>" lists everything a file may contain, "
            <code>"swe-ci run submit --human --split demo"</code>" queues the human baseline."
        </p>
        <p>"Experiments run elsewhere can be imported from their files, which are validated as a whole before anything is written:"</p>
        <pre class="command" tabindex="0"><code>{IMPORT}</code></pre>
        <p>
            <code>"swe-ci score"</code>" evaluates such files and writes nothing. It needs neither a server nor a database. The "
            <a href="/api/v1/openapi.json" rel="external">"API"</a>" only reads."
        </p>
    }
    .into_any()
}

pub(super) fn data() -> AnyView {
    view! {
        <p>"Programs can read everything the pages show. Every number is in the API, and every table is a file:"</p>
        <ul>
            <li><a href="/api/v1/leaderboard.csv" rel="external" download="">"The leaderboard as CSV"</a>" or "<a href="/api/v1/leaderboard" rel="external">"JSON"</a>", of the first split. The links beside the table give exactly the rows it shows."</li>
            <li><a href="/figures">"Each figure"</a>" as a picture, as data, and for embedding in another page."</li>
            <li><a href="/api/v1/runs" rel="external">"Runs"</a>", "<a href="/api/v1/tasks" rel="external">"tasks"</a>" and "<a href="/api/v1/splits" rel="external">"splits"</a>" as JSON, with every iteration below."</li>
            <li><a href="/api/v1/published" rel="external">"The published figures"</a>", with their source."</li>
            <li><a href="/api/v1/openapi.json" rel="external">"The description of the API"</a>" (OpenAPI)."</li>
        </ul>
        <p>
            "New results appear in a "<a href="/feed.xml" rel="external" type="application/atom+xml">"feed"</a>" (Atom): the latest fifty finished or imported runs, each with its score. "
            "“Cite this view” below the leaderboard gives the address, the date and the basis of the ranking, as text and as BibTeX."
        </p>
    }
    .into_any()
}

pub(super) fn licence() -> AnyView {
    view! {
        <p>"swe-ci is free software under the MIT licence or the Apache licence 2.0, whichever you choose. The code in the tasks belongs to its projects and stays under their licences. Rows tagged “imported” and published figures are the work of the people they name."</p>
    }
    .into_any()
}
