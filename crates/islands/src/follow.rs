//! Follows what happens while somebody looks.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use leptos::html;
use leptos::prelude::*;
use serde::Deserialize;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Event, EventSource, MessageEvent};

use crate::morph::FocusedField;
use crate::{fetch, morph};

/// How many lines of output are kept, and how many are shown first.
const KEPT: usize = 200;
const FIRST: usize = 8;

/// Log lines within this time are shown together.
const TOGETHER: Duration = Duration::from_millis(120);

/// The page is rendered again at most this often.
const PAUSE: Duration = Duration::from_secs(1);

/// The state of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    /// Not started.
    Off,
    Live,
    Lost,
}

/// The part of a `RunEvent` that an island needs:
/// the page has the rest.
#[derive(Debug, Deserialize)]
struct Happened {
    event: String,
    #[serde(default)]
    evolution_id: String,
    #[serde(default)]
    role: String,
    #[serde(default)]
    line: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    number: u64,
    task: String,
    role: String,
    text: String,
}

/// The last lines of output.
#[derive(Debug, Clone, Default)]
struct Tail {
    lines: VecDeque<Line>,
    /// Counts all lines, to give each a number of its own.
    seen: u64,
}

impl Tail {
    fn push(&mut self, task: String, role: String, text: String) {
        if self.lines.len() == KEPT {
            self.lines.pop_front();
        }
        self.seen += 1;
        self.lines.push_back(Line {
            number: self.seen,
            task,
            role,
            text,
        });
    }

    fn last(&self, count: usize) -> Vec<Line> {
        let skipped = self.lines.len().saturating_sub(count);
        self.lines.iter().skip(skipped).cloned().collect()
    }
}

/// Follows a run that goes on: the last lines of output, and the page itself,
/// which the server renders anew when something has happened.
#[island]
pub fn FollowRun(
    run_id: String,
    /// The id of each evolution, and its task.
    tasks: Vec<(String, String)>,
) -> impl IntoView {
    let (link, tail, all) = (
        RwSignal::new(Link::Off),
        RwSignal::new(Tail::default()),
        RwSignal::new(false),
    );
    let place = NodeRef::<html::Section>::new();
    let tasks = StoredValue::new(tasks.into_iter().collect());
    Effect::new(move |connection: Option<Option<Connection>>| {
        connection
            .flatten()
            .or_else(|| Connection::open(&run_id, Follower::new(link, tail, place, tasks)))
    });
    let state = move || match link.get() {
        Link::Off => None,
        Link::Live => Some(view! { <span class="tag" data-tone="live">"live"</span> }),
        Link::Lost => Some(view! { <span class="tag" data-tone="warn">"reconnecting…"</span> }),
    };
    let lines = move || tail.with(|tail| tail.last(if all.get() { KEPT } else { FIRST }));
    let none = Memo::new(move |_| tail.with(|tail| tail.lines.is_empty()));
    let more = move || {
        let text = if all.get() {
            "Last 8 lines"
        } else {
            "Last 200 lines"
        };
        view! { <button type="button" class="link-button" on:click=move |_| all.update(|all| *all = !*all)>{text}</button> }
    };
    view! {
        <section class="log needs-js" aria-labelledby="log-title" node_ref=place>
            <h2 id="log-title">"Output "<span role="status">{state}</span></h2>
            <p class="quiet" hidden=move || !none.get()>"The last lines of its steps will appear here."</p>
            // Focusable, so that a keyboard can scroll it.
            <div class="log-frame" tabindex="0" role="log" aria-labelledby="log-title" hidden=move || none.get()>
                <ol>
                    <For each=lines key=|line| line.number let(line)>
                        <li>
                            <span class="log-task">{line.task}</span>
                            <span class="log-role">{line.role}</span>
                            <span class="log-text">{line.text}</span>
                        </li>
                    </For>
                </ol>
            </div>
            <p hidden=move || none.get()>{more}</p>
        </section>
    }
}

/// Renders the page anew every few seconds, while this is in it.
#[island]
pub fn Poll(seconds: u32) -> impl IntoView {
    let place = NodeRef::<html::Span>::new();
    Effect::new(move || {
        let handle = set_interval_with_handle(
            move || {
                if place
                    .get_untracked()
                    .is_some_and(|place| place.is_connected())
                {
                    leptos::task::spawn_local(render_anew());
                }
            },
            Duration::from_secs(seconds.into()),
        );
        on_cleanup(move || {
            if let Ok(handle) = handle {
                handle.clear();
            }
        });
    });
    view! { <span node_ref=place hidden=true></span> }
}

async fn render_anew() {
    let Ok(href) = window().location().href() else {
        return;
    };
    // After a lost connection the next event asks again.
    if let Ok(answer) = fetch::get(&href).await
        && answer.is_of(&href)
    {
        morph::show(&answer.text, FocusedField::Stays);
    }
}

/// When the page is rendered anew: once at a time, and once more after whatever
/// happened meanwhile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Rendering {
    #[default]
    Idle,
    /// Going on, or in the pause after it.
    Busy,
    /// As above, and something has happened since it began.
    BusyAndStale,
}

impl Rendering {
    /// Something has happened; whether to begin now.
    fn ask(&mut self) -> bool {
        let begins = *self == Self::Idle;
        *self = if begins {
            Self::Busy
        } else {
            Self::BusyAndStale
        };
        begins
    }

    /// The pause is over; whether to begin again.
    fn end(&mut self) -> bool {
        let again = *self == Self::BusyAndStale;
        *self = if again { Self::Busy } else { Self::Idle };
        again
    }
}

#[derive(Clone, Copy)]
struct Follower {
    link: RwSignal<Link>,
    tail: RwSignal<Tail>,
    place: NodeRef<html::Section>,
    rendering: StoredValue<Rendering>,
    /// The task of each evolution, by its id.
    tasks: StoredValue<HashMap<String, String>>,
    /// Log lines waiting to be shown.
    lines: StoredValue<Vec<(String, String, String)>>,
}

impl Follower {
    fn new(
        link: RwSignal<Link>,
        tail: RwSignal<Tail>,
        place: NodeRef<html::Section>,
        tasks: StoredValue<HashMap<String, String>>,
    ) -> Self {
        Self {
            link,
            tail,
            place,
            rendering: StoredValue::new(Rendering::default()),
            tasks,
            lines: StoredValue::new(Vec::new()),
        }
    }

    /// Whether the page still has the island: it goes when the run is over.
    fn is_needed(self) -> bool {
        self.place
            .get_untracked()
            .is_some_and(|place| place.is_connected())
    }

    fn take(self, happened: Happened) {
        match happened.event.as_str() {
            "log" => self.log(happened),
            _ => self.render(),
        }
    }

    fn render(self) {
        if self.rendering.try_update_value(Rendering::ask) == Some(true) {
            self.render_now();
        }
    }

    fn render_now(self) {
        leptos::task::spawn_local(async move {
            render_anew().await;
            set_timeout(
                move || {
                    if self.rendering.try_update_value(Rendering::end) == Some(true) {
                        self.render_now();
                    }
                },
                PAUSE,
            );
        });
    }

    fn log(self, happened: Happened) {
        let task = self
            .tasks
            .with_value(|tasks| tasks.get(&happened.evolution_id).cloned());
        let first = self.lines.try_update_value(|lines| {
            lines.push((task.unwrap_or_default(), happened.role, happened.line));
            lines.len() == 1
        });
        if first == Some(true) {
            set_timeout(move || self.show_lines(), TOGETHER);
        }
    }

    fn show_lines(self) {
        let Some(lines) = self.lines.try_update_value(std::mem::take) else {
            return;
        };
        self.tail.try_update(|tail| {
            for (task, role, text) in lines {
                tail.push(task, role, text);
            }
        });
    }
}

/// An open event source; dropping it closes it. It reconnects by itself.
#[derive(Debug)]
struct Connection {
    source: EventSource,
    _on_message: Closure<dyn FnMut(MessageEvent)>,
    _on_open: Closure<dyn FnMut(Event)>,
    _on_error: Closure<dyn FnMut(Event)>,
}

impl Connection {
    fn open(run_id: &str, follower: Follower) -> Option<Self> {
        let source = EventSource::new(&format!("/api/v1/runs/{run_id}/events")).ok()?;
        let opened = source.clone();
        let on_message = Closure::new(move |message: MessageEvent| {
            if !follower.is_needed() {
                opened.close();
                return;
            }
            let text = message.data().as_string();
            // Unknown events of a newer server are skipped.
            if let Some(event) = text.and_then(|text| serde_json::from_slice(text.as_bytes()).ok())
            {
                follower.take(event);
            }
        });
        let on_open = Closure::new(move |_: Event| {
            follower.link.try_set(Link::Live);
            // The page contains what happened before, or during a lost connection.
            follower.render();
        });
        let on_error = Closure::new(move |_: Event| {
            follower.link.try_set(Link::Lost);
        });
        source.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        source.set_onopen(Some(on_open.as_ref().unchecked_ref()));
        source.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        Some(Self {
            source,
            _on_message: on_message,
            _on_open: on_open,
            _on_error: on_error,
        })
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.source.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::step::Role;
    use swe_ci_views::event::{RunEvent, What};

    #[test]
    fn the_last_lines_are_kept() {
        let mut tail = Tail::default();
        for i in 0..500 {
            tail.push("t".into(), "test".into(), i.to_string());
        }
        assert_eq!(tail.lines.len(), KEPT);
        let last = tail.last(FIRST);
        let texts: Vec<&str> = last.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(
            texts,
            ["492", "493", "494", "495", "496", "497", "498", "499"]
        );
        assert_eq!(last.last().map(|line| line.number), Some(500));
    }

    #[test]
    fn a_line_of_output_is_read() {
        let event = RunEvent {
            seq: 1,
            run_id: "r".into(),
            what: What::Log {
                evolution_id: "e".into(),
                role: Role::Test,
                line: "ok".into(),
            },
        };
        let text = serde_json::to_vec(&event).unwrap();
        let happened: Happened = serde_json::from_slice(&text).unwrap();
        assert_eq!(
            (
                &*happened.event,
                &*happened.evolution_id,
                &*happened.role,
                &*happened.line
            ),
            ("log", "e", "test", "ok")
        );
    }

    #[test]
    fn an_event_while_rendering_asks_for_another() {
        let mut rendering = Rendering::default();
        assert!(rendering.ask());
        assert!(!rendering.end());
        assert!(rendering.ask());
        assert!(!rendering.ask(), "one at a time");
        assert!(!rendering.ask());
        assert!(rendering.end());
        assert!(!rendering.end());
        assert!(rendering.ask());
    }
}
