//! What a container is and what it cannot do, on whichever engine `SWE_CI_ENGINE` names:
//! `scripts/test-engines.sh` runs these tests on each.

mod closed;
mod files;
mod limits;
mod trial;
