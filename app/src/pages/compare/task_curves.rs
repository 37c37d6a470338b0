use leptos::prelude::*;
use swe_ci_plots::{Size, Theme, courses};
use swe_ci_views::leaderboard::{Course, Loss, TaskCourses};

use super::names::{Letter, Name};
use crate::components::CollectAny;
use crate::components::Picture;
use crate::format;
use crate::pages::routes::{COURSE, evolution_href, task_href};

/// The evolutions of one task in all runs, overlaid.
#[component]
pub(super) fn CourseOfTask(task: TaskCourses, names: Vec<Name>) -> impl IntoView {
    let labels: Vec<String> = names.iter().map(Name::labelled).collect();
    let looks: Vec<usize> = names.iter().map(|name| name.look).collect();
    let drawn = |size| courses(&task, &labels, &looks, size, Theme::Page);
    let (wide, narrow) = (drawn(Size::WIDE), drawn(Size::NARROW));
    let id = task.task_id.to_string();
    let items = names.iter().zip(&task.runs).map(|(name, samples)| {
        let href = evolution_href(&name.run_id, &id, 1);
        let sentences = samples.iter().map(|c| view! { <span>{in_words(c)}</span> });
        view! {
            <li>
                <Letter letter=name.letter series=name.series/>
                <span class="course-run">
                    <a href=href>{name.model.clone()}</a>
                    {sentences.collect_any()}
                </span>
            </li>
        }
    });
    let items = items.collect_any();
    view! {
        <figure class="figure figure-beside" id=COURSE>
            <figcaption>
                <h2>"Tests passing on " <a href=task_href(&id)>{id.clone()}</a></h2>
                <p>
                    {task.repo}
                    ": tests that pass after each iteration. The dashed line is the goal, red hollow marks are regressions, crosses code that no longer runs; where an evolution was over, a thin line holds its last value."
                </p>
                <ul class="course-runs">{items}</ul>
            </figcaption>
            <div class="only-wide"><Picture figure=wide/></div>
            <div class="only-narrow"><Picture figure=narrow/></div>
        </figure>
    }
}

/// "120 → 160 of 180 in 12 iterations, lost tests at 3 and 7, collapsed at 5".
fn in_words(course: &Course) -> String {
    let last = course.passes.last().copied().unwrap_or(course.base);
    let at = |loss: Loss| {
        let numbers = course.regressions.iter().copied();
        let numbers: Vec<u32> = numbers
            .filter(|n| course.loss_at(*n) == Some(loss))
            .collect();
        list(&numbers)
    };
    let regressed = at(Loss::Regression).map(|at| format!("lost tests at {at}"));
    let collapsed = at(Loss::Collapse).map(|at| format!("collapsed at {at}"));
    let losses: Vec<String> = regressed.into_iter().chain(collapsed).collect();
    let broke = match losses.is_empty() {
        true => "lost no tests".to_owned(),
        false => losses.join(", "),
    };
    let Course { base, target, .. } = course;
    let turns = format::count(course.passes.len(), "iteration");
    format!("{base} → {last} of {target} in {turns}, {broke}")
}

/// "3", "3 and 7", "3, 5 and 7".
fn list(numbers: &[u32]) -> Option<String> {
    let texts: Vec<String> = numbers.iter().map(u32::to_string).collect();
    let (last, others) = texts.split_last()?;
    Some(match others {
        [] => last.clone(),
        others => format!("{} and {last}", others.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_course_in_words() {
        let check = |passes: &[u32], regressions: &[u32], expect: &str| {
            let course = Course {
                base: 10,
                target: 20,
                passes: passes.to_vec(),
                regressions: regressions.to_vec(),
            };
            assert_eq!(in_words(&course), expect);
        };
        check(&[20], &[], "10 → 20 of 20 in 1 iteration, lost no tests");
        check(
            &[9, 12, 8, 7],
            &[1, 3, 4],
            "10 → 7 of 20 in 4 iterations, lost tests at 1, 3 and 4",
        );
        check(&[], &[], "10 → 10 of 20 in 0 iterations, lost no tests");
        check(
            &[9, 0, 8],
            &[1, 2],
            "10 → 8 of 20 in 3 iterations, lost tests at 1, collapsed at 2",
        );
    }
}
